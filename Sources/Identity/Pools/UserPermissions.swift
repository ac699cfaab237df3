import Database

/// The actions that the users of a pool can take themselves (User actions).
public struct UserPermissions: Equatable, Sendable {
  public var signUp: Bool
  public var deletion: Bool

  public init(signUp: Bool = true, deletion: Bool = true) {
    self.signUp = signUp
    self.deletion = deletion
  }

  static let columns: SQL = "s.sign_up_off = 0, s.deletion_off = 0"

  init(_ row: inout Row) throws {
    self.init(signUp: try row.next(), deletion: try row.next())
  }

  static func find(_ pool: Int64, _ connection: borrowing Connection) throws -> UserPermissions {
    try connection.first(
      "SELECT \(columns) FROM scope s WHERE s.scope_key = \(pool)"
    ) { try UserPermissions(&$0) } ?? UserPermissions(signUp: false, deletion: false)
  }

  /// Returns whether a code to sign in is refused, because no account has the address and users
  /// can't create one.
  static func refusesCode(
    for owner: Account?, in pool: Pool, _ connection: borrowing Connection
  ) throws -> Bool {
    guard owner == nil else { return false }
    return try !find(pool.key, connection).signUp
  }
}
