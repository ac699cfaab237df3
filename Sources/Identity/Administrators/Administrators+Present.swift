import Database

extension Administrators {
  static func present(
    _ id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> Administrator? {
    let found = try connection.first(
      "SELECT email, display_name FROM administrator WHERE administrator_id = \(id.text)"
    ) { row in (email: try row.next() as String, name: try row.next() as String) }
    guard let found else { return nil }
    return Administrator(
      id: id, email: found.email, displayName: found.name,
      grants: try grants(id, at: now, connection).inOrder)
  }

  static func presentRecord(
    _ id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> AdministratorRecord? {
    do { return try record(id, at: now, connection) } catch ManagementError.notFound { return nil }
  }
}
