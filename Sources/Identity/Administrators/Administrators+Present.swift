import Database

extension Administrators {
  /// Reads an administrator with their current grants; nil if they no longer exist.
  static func present(
    _ id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> Administrator? {
    try presentRecord(id, at: now, connection)?.administrator
  }

  /// Reads an administrator with their account details; nil if they no longer exist.
  static func presentRecord(
    _ id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> AdministratorRecord? {
    do { return try record(id, at: now, connection) } catch ManagementError.notFound { return nil }
  }
}
