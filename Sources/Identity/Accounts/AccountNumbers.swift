import Database
import Synchronization

/// Numbers for new accounts, of which each server takes blocks.
///
/// The number of an account is its key without the pool's. If every creation took the next number of
/// its pool, those of several servers would wait for each other. A block is taken in a write of its
/// own, so a number that was taken once is never given to an account of another server; one that no
/// account gets is skipped. A database with one server has one write at a time, and takes the
/// numbers in it.
final class AccountNumbers: Sendable {
  /// The smallest number of numbers in a block.
  private static let block = 64

  private struct Pool {
    /// Numbers that were taken for this server, the next one last.
    var free: [Int64] = []
    var waiting: [CheckedContinuation<Int64?, Never>] = []
    var isFilling = false
  }

  private let database: any Database
  private let pools = Mutex<[Int64: Pool]>([:])

  init(_ database: any Database) { self.database = database }

  /// Takes a number for an account that a write may create.
  func reserve(in scope: Scope) async -> AccountNumber {
    guard database.dialect.sharesDatabase else { return .inWrite }
    let number: Int64? = await withCheckedContinuation { continuation in
      let (number, fills) = pools.withLock { pools -> (Int64?, Bool) in
        var pool = pools[scope.key] ?? Pool()
        defer { pools[scope.key] = pool }
        if let number = pool.free.popLast() { return (number, false) }
        pool.waiting.append(continuation)
        defer { pool.isFilling = true }
        return (nil, !pool.isFilling)
      }
      if let number { continuation.resume(returning: number) }
      if fills { Task { await fill(scope.key) } }
    }
    return number.map { AccountNumber($0, in: scope.key, of: self) } ?? .inWrite
  }

  /// Takes numbers for several accounts; nil to take them in the write that creates the accounts.
  func reserve(_ count: Int, in scope: Scope) async -> Range<Int64>? {
    guard database.dialect.sharesDatabase else { return nil }
    return try? await take(count, in: scope.key)
  }

  /// Takes a block for those who wait and some to come.
  ///
  /// If that fails, their writes try to take one themselves, and report why they can't.
  private func fill(_ scope: Int64) async {
    let count = pools.withLock { $0[scope]?.waiting.count ?? 0 }
    let taken = try? await take(max(count, Self.block), in: scope)
    var numbers = Array((taken ?? 0..<0).reversed())
    let waiting = pools.withLock { pools in
      var pool = pools[scope] ?? Pool()
      let waiting = pool.waiting.map { ($0, numbers.popLast()) }
      (pool.waiting, pool.isFilling) = ([], false)
      pool.free = numbers + pool.free
      pools[scope] = pool
      return waiting
    }
    for (continuation, number) in waiting { continuation.resume(returning: number) }
  }

  private func take(_ count: Int, in scope: Int64) async throws -> Range<Int64>? {
    try await database.write { try Self.take(count, in: scope, $0) }
  }

  /// Takes numbers of a pool in a transaction; nil if the pool is deleted.
  static func take(
    _ count: Int, in scope: Int64, _ connection: borrowing Connection
  ) throws -> Range<Int64>? {
    try connection.first(
      """
      UPDATE scope SET next_account = next_account + \(count)
      WHERE scope_key = \(scope) AND deleted_at IS NULL RETURNING next_account
      """
    ) { row in
      let end: Int64 = try row.value(0)
      return end - Int64(count)..<end
    }
  }

  /// Keeps a number that no write used for the next account.
  fileprivate func giveBack(_ number: Int64, of scope: Int64) {
    pools.withLock { $0[scope, default: Pool()].free.append(number) }
  }
}

/// A number for an account that a write may create.
///
/// A write can run more than once: all its runs use the same number.
package final class AccountNumber: Sendable {
  /// Takes the number in the write.
  package static let inWrite = AccountNumber()

  private let number: Int64?
  private let scope: Int64
  private let numbers: AccountNumbers?
  private let isUsed = Mutex(false)

  private init() { (number, scope, numbers) = (nil, 0, nil) }

  fileprivate init(_ number: Int64, in scope: Int64, of numbers: AccountNumbers) {
    (self.number, self.scope, self.numbers) = (number, scope, numbers)
  }

  deinit {
    // A write that failed may have been stored, so its number isn't used again.
    guard let number, !isUsed.withLock({ $0 }) else { return }
    numbers?.giveBack(number, of: scope)
  }

  /// Returns the number; nil if the pool is deleted.
  func use(in scope: Int64, _ connection: borrowing Connection) throws -> Int64? {
    guard let number else {
      return try AccountNumbers.take(1, in: scope, connection)?.lowerBound
    }
    isUsed.withLock { $0 = true }
    return try connection.first(
      "SELECT 1 FROM scope WHERE scope_key = \(scope) AND deleted_at IS NULL"
    ) { _ in number }
  }
}
