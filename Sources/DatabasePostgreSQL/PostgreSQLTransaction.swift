public import Database
import Dispatch

/// One transaction for many writes, which are stored together or not at all.
///
/// Its writes aren't repeated when they conflict with others.
public final class PostgreSQLTransaction: DatabaseWriter {
  private let slot: ConnectionPool.Slot

  init(_ slot: ConnectionPool.Slot) {
    self.slot = slot
  }

  /// Runs a write in the transaction.
  ///
  /// - Throws: What `body` throws; `DatabaseError`, after which all further writes fail.
  @discardableResult
  public nonisolated(nonsending) func write<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    try await run { session in
      let value = try body(Connection(session))
      if let failure = session.failure { throw failure.error }
      return value
    }
  }

  nonisolated(nonsending) func run<T: Sendable>(
    _ body: @escaping @Sendable (PostgreSQLSession) throws -> T
  ) async throws -> T {
    let session = slot.session
    return try await withCheckedThrowingContinuation { continuation in
      slot.queue.async { continuation.resume(with: Result { try body(session) }) }
    }
  }
}

extension PostgreSQLDatabase {
  /// Runs many writes in one transaction, which occupies a connection until `body` returns.
  ///
  /// - Parameter body: Writes to the transaction any number of times.
  /// - Returns: The result of `body`.
  /// - Throws: What `body` throws, in which case nothing was stored; `DatabaseError`, with
  ///   `.outcomeUnknown` when the connection was lost during the commit.
  public nonisolated(nonsending) func transaction<T>(
    _ body: nonisolated(nonsending) (PostgreSQLTransaction) async throws -> T
  ) async throws -> T {
    let slot = try await writers.borrow()
    defer { writers.giveBack(slot) }
    let transaction = PostgreSQLTransaction(slot)
    do {
      try await transaction.run { $0.begin(.write) }
      let value = try await body(transaction)
      try await transaction.run { session in
        do throws(PostgreSQLError) { try session.commit() } catch { throw error.error }
      }
      return value
    } catch {
      try? await transaction.run { session in
        session.end()
        session.settle()
      }
      throw error
    }
  }
}
