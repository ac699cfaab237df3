import Database
public import OpenIDConnect

/// Who an administrator is at a provider.
public struct AdministratorProviderLink: Sendable {
  /// The administrator.
  public let administrator: ID<Administrator>
  /// The issuer.
  public let issuer: String
  /// The administrator's ID at the issuer.
  public let subject: String
  /// The groups at the last sign-in.
  public let groups: ProviderGroups
  /// When the link was created.
  public let createdAt: Instant
  /// When the administrator last signed in with it; nil if they never did.
  public let lastSignInAt: Instant?
}

extension AdministratorProviderLink {
  private static let columns: SQL = """
    administrator_id, issuer, subject, groups, created_at, last_sign_in_at
    """

  private init(_ row: borrowing Row) throws {
    administrator = ID(try row.value(0))
    (issuer, subject) = (try row.value(1), try row.value(2))
    groups = ProviderGroups(try TextList.read(row.value(3)))
    createdAt = Instant(microseconds: try row.value(4))
    lastSignInAt = (try row.value(5) as Int64?).map(Instant.init(microseconds:))
  }

  /// Finds the link of a person at an issuer.
  static func find(
    issuer: String, subject: String, _ connection: borrowing Connection
  ) throws -> AdministratorProviderLink? {
    try connection.first(
      """
      SELECT \(columns) FROM administrator_provider_link
      WHERE issuer = \(issuer) AND subject = \(subject)
      """
    ) { try AdministratorProviderLink($0) }
  }

  /// Finds the link of an administrator.
  static func find(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> AdministratorProviderLink? {
    try connection.first(
      """
      SELECT \(columns) FROM administrator_provider_link WHERE administrator_id = \(id.text)
      """
    ) { try AdministratorProviderLink($0) }
  }

  /// Reads all links.
  static func all(_ connection: borrowing Connection) throws -> [AdministratorProviderLink] {
    try connection.all(
      """
      SELECT \(columns) FROM administrator_provider_link WHERE issuer > ''
      ORDER BY issuer, subject
      """
    ) { try AdministratorProviderLink($0) }
  }

  /// Links an administrator, in place of their previous link.
  static func write(
    _ id: ID<Administrator>, issuer: String, subject: String, groups: ProviderGroups,
    at now: Instant, isSignIn: Bool, _ connection: borrowing Connection
  ) throws {
    try delete(id, connection)
    try connection.run(
      """
      INSERT INTO administrator_provider_link (issuer, subject, administrator_id, groups,
        created_at, last_sign_in_at)
      VALUES (\(issuer), \(subject), \(id.text), \(TextList.text(groups.names)),
        \(now.microseconds), \(isSignIn ? now.microseconds : nil))
      """)
  }

  /// Records a sign-in and the groups.
  func recordSignIn(
    _ groups: ProviderGroups, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE administrator_provider_link
      SET groups = \(TextList.text(groups.names)), last_sign_in_at = \(now.microseconds)
      WHERE issuer = \(issuer) AND subject = \(subject)
      """)
  }

  static func delete(_ id: ID<Administrator>, _ connection: borrowing Connection) throws {
    try connection.run(
      "DELETE FROM administrator_provider_link WHERE administrator_id = \(id.text)")
  }
}
