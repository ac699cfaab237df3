extension PostgreSQLSession {
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

  enum State {
    case idle
    /// In a transaction that the server doesn't know of yet: it begins along with its first
    /// statement.
    case announced(Kind)
    case begun(Kind)
  }
}
