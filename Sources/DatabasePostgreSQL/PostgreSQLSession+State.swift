extension PostgreSQLSession {
  /// The two kinds of transactions.
  enum Kind: Sendable {
    case read
    case write

    /// The name of the prepared statement that begins it.
    var begin: String {
      switch self {
      case .read: "begin_read"
      case .write: "begin_write"
      }
    }
  }

  /// How far a transaction is.
  enum State {
    /// Outside of a transaction.
    case idle
    /// In a transaction that the server doesn't know of yet: it begins along with its first
    /// statement.
    case announced(Kind)
    /// In a transaction.
    case begun(Kind)
  }
}
