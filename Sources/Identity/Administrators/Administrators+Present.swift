import Database

extension Administrators {
  /// Reads an administrator with their current grants; nil if they no longer exist.
  static func present(
    _ id: ID<Administrator>, at now: Instant, _ connection: borrowing Connection
  ) throws -> Administrator? {
    do {
      return try record(id, at: now, connection).administrator
    } catch ManagementError.notFound {
      return nil
    }
  }
}
