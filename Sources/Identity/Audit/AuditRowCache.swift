import Database
import Synchronization

/// A cache of audit rows by number, which only erasures change.
///
/// A count of erasures tells a read whether its snapshot is older or newer than the cached rows.
final class AuditRowCache: Sendable {
  private struct State {
    var rows: [Int64: AuditRow] = [:]
    /// The number of erasures that the rows include.
    var erasures: Int64 = 0
  }

  /// The maximum number of cached rows; the cache is cleared when it's exceeded.
  ///
  /// A row takes about a kilobyte.
  private static let limit = 4_000
  /// The maximum number of rows per read to cache; larger reads are downloads, which are rarely
  /// repeated.
  private static let longestPart = 200
  private static let erasures = InstanceValue("audit_erasures")
  private let state = Mutex(State())

  /// Reads the rows with these numbers, in order; all of them must exist.
  func rows(_ ids: [Int64], _ connection: borrowing Connection) throws -> [AuditRow] {
    let erasures = try Self.count(connection)
    // The copy shares storage until another thread adds to the cache.
    let known = state.withLock { state -> [Int64: AuditRow] in
      if state.erasures < erasures { state = State(erasures: erasures) }
      return state.erasures == erasures ? state.rows : [:]
    }
    var missing: [AuditRow] = []
    var found: [AuditRow] = []
    found.reserveCapacity(ids.count)
    for id in ids {
      if let row = known[id] {
        found.append(row)
        continue
      }
      guard let row = try Audit.find(id, connection) else { throw Failure("an audit row is gone") }
      missing.append(row)
      found.append(row)
    }
    if !missing.isEmpty, ids.count <= Self.longestPart { keep(missing, after: erasures) }
    return found
  }

  /// Has all servers on the database forget their rows once the transaction ends.
  static func noteErasure(_ connection: borrowing Connection) throws {
    try erasures.store(String(try count(connection) + 1), connection)
  }

  private static func count(_ connection: borrowing Connection) throws -> Int64 {
    try erasures.readNumber(connection) ?? 0
  }

  private func keep(_ new: [AuditRow], after erasures: Int64) {
    state.withLock { state in
      // Another read has seen an erasure that this one hasn't.
      guard state.erasures == erasures else { return }
      if state.rows.count + new.count > Self.limit { state.rows = [:] }
      for row in new { state.rows[row.id] = row }
    }
  }
}
