import Database

struct SignInWays: Sendable {
  let passkeys: Int
  let hasPassword: Bool
  let isLinked: Bool

  static let columns: SQL = """
    (SELECT count(*) FROM passkey p WHERE p.administrator_id = administrator.administrator_id),
    password_hash <> '',
    EXISTS (SELECT 1 FROM administrator_provider_link l
      WHERE l.administrator_id = administrator.administrator_id
        AND l.issuer = (SELECT issuer FROM sign_in_provider WHERE provider_id = 1))
    """

  init(_ row: inout Row) throws {
    passkeys = try row.next()
    hasPassword = try row.next()
    isLinked = try row.next()
  }

  static func find(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> SignInWays? {
    try connection.first(
      "SELECT \(columns) FROM administrator WHERE administrator_id = \(id)"
    ) { try SignInWays(&$0) }
  }

  /// Whether there's one that doesn't need the provider.
  var hasOwn: Bool { hasPassword || passkeys > 0 }

  /// Returns whether one of them lets the administrator in, given the break-glass account, which is
  /// nil if password sign-in is on.
  func admit(_ id: ID<Administrator>, breakGlass: ID<Administrator>?) -> Bool {
    isLinked || hasOwn && PasswordSignIn.admits(id, breakGlass: breakGlass)
  }
}
