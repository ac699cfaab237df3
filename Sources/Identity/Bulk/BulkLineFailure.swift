import Database

/// A failure of one line of a bulk removal or its undo, which would happen again.
struct BulkLineFailure: Error {
  let poolKey: Int64
  let job: Int64
  let line: Int
  let cause: any Error

  /// - Throws: ``BulkLineFailure`` if it failed because of the line's data, otherwise the error.
  static func catching<T>(
    _ poolKey: Int64, _ job: Int64, _ line: Int, _ body: () throws -> T
  ) throws -> T {
    do { return try body() } catch {
      guard isOfOneUser(error) else { throw error }
      throw BulkLineFailure(poolKey: poolKey, job: job, line: line, cause: error)
    }
  }

  private static func isOfOneUser(_ error: any Error) -> Bool {
    guard let error = error as? DatabaseError else { return !(error is CancellationError) }
    return switch error.code {
    case .uniqueViolation, .foreignKey, .checkViolation, .notNullViolation, .unexpectedValue: true
    default: false
    }
  }
}
