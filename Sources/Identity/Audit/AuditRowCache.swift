import Database
import Synchronization

/// A cache of audit rows by number; rows never change, so cached rows never go stale.
final class AuditRowCache: Sendable {
  /// The maximum number of cached rows; the cache is cleared when it's exceeded.
  ///
  /// A row takes about a kilobyte.
  private static let limit = 4_000
  /// The maximum number of rows per read to cache; larger reads are downloads, which are rarely
  /// repeated.
  private static let longestPart = 200
  private let rows = Mutex<[Int64: AuditRow]>([:])

  /// Reads the rows with these numbers, in order; all of them must exist.
  func rows(_ ids: [Int64], _ connection: borrowing Connection) throws -> [AuditRow] {
    // The copy shares storage until another thread adds to the cache.
    let known = rows.withLock { $0 }
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
    if !missing.isEmpty, ids.count <= Self.longestPart { keep(missing) }
    return found
  }

  /// Removes a row that has changed.
  func forget(_ id: Int64) { rows.withLock { _ = $0.removeValue(forKey: id) } }

  private func keep(_ new: [AuditRow]) {
    rows.withLock { rows in
      if rows.count + new.count > Self.limit { rows = [:] }
      for row in new { rows[row.id] = row }
    }
  }
}
