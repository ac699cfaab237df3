import Database
import OpenIDConnect

struct AdministratorProviderLink: Sendable {
  let administrator: ID<Administrator>
  let issuer: String
  /// The administrator's ID at the issuer.
  let subject: String
  /// The groups at the last sign-in.
  let groups: ProviderGroups
}

extension AdministratorProviderLink {
  private static let columns: SQL = "administrator_id, issuer, subject, groups"

  private init(_ row: inout Row) throws {
    administrator = try row.next()
    (issuer, subject) = (try row.next(), try row.next())
    groups = ProviderGroups(try TextList.read(row.next()))
  }

  static func find(
    issuer: String, subject: String, _ connection: borrowing Connection
  ) throws -> AdministratorProviderLink? {
    try connection.first(
      """
      SELECT \(columns) FROM administrator_provider_link
      WHERE issuer = \(issuer) AND subject = \(subject)
      """
    ) { try AdministratorProviderLink(&$0) }
  }

  static func find(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> AdministratorProviderLink? {
    try connection.first(
      """
      SELECT \(columns) FROM administrator_provider_link WHERE administrator_id = \(id)
      """
    ) { try AdministratorProviderLink(&$0) }
  }

  static func all(_ connection: borrowing Connection) throws -> [AdministratorProviderLink] {
    try connection.all(
      """
      SELECT \(columns) FROM administrator_provider_link WHERE issuer > ''
      ORDER BY issuer, subject
      """
    ) { try AdministratorProviderLink(&$0) }
  }

  /// Links an administrator, or replaces the groups of their link.
  static func write(
    _ id: ID<Administrator>, issuer: String, subject: String, groups: ProviderGroups,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO administrator_provider_link (issuer, subject, administrator_id, groups)
      VALUES (\(issuer), \(subject), \(id), \(TextList.text(groups.names)))
      ON CONFLICT (issuer, subject) DO UPDATE SET groups = excluded.groups
      """)
  }

  static func delete(_ id: ID<Administrator>, _ connection: borrowing Connection) throws {
    try connection.run(
      "DELETE FROM administrator_provider_link WHERE administrator_id = \(id)")
  }
}
