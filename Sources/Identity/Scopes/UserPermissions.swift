import Database

/// What the users of a pool may do without an administrator.
public struct UserPermissions: Equatable, Sendable {
  /// Whether they make accounts themselves.
  public var signUp: Bool
  /// Whether they delete their own accounts.
  public var deletion: Bool

  /// Makes permissions; both when nothing is said.
  public init(signUp: Bool = true, deletion: Bool = true) {
    self.signUp = signUp
    self.deletion = deletion
  }

  static let columns: SQL = "s.sign_up_off = 0, s.deletion_off = 0"
  static let columnCount = 2

  init(_ row: borrowing Row, from column: Int) throws {
    self.init(signUp: try row.value(column), deletion: try row.value(column + 1))
  }

  /// The permissions in a pool.
  static func find(_ scope: Int64, _ connection: borrowing Connection) throws -> UserPermissions {
    try connection.first(
      "SELECT \(columns) FROM scope s WHERE s.scope_key = \(scope)"
    ) { try UserPermissions($0, from: 0) } ?? UserPermissions(signUp: false, deletion: false)
  }
}
