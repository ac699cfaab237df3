import Database

extension Administrators {
  /// An administrator with the grants of this moment; nil for one that is gone.
  static func present(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> Administrator? {
    do {
      return try record(id, connection).administrator
    } catch ManagementError.notFound {
      return nil
    }
  }
}
