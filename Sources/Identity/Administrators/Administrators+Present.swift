import Database

extension Administrators {
  static func present(
    _ id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> Administrator? {
    try presentRecord(id, at: now, connection)?.administrator
  }

  static func presentRecord(
    _ id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> AdministratorRecord? {
    do { return try record(id, at: now, connection) } catch ManagementError.notFound { return nil }
  }
}
