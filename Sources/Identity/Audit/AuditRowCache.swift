import Database
import Synchronization

/// Rows of the audit log by their numbers: a row never changes, so what was read once stays true.
final class AuditRowCache: Sendable {
  /// How many rows are kept; when there are more, all are forgotten.
  ///
  /// A row has about a kilobyte.
  private static let limit = 4_000
  /// Longer parts of the log are files, and seldom read twice.
  private static let longestPart = 200
  private let rows = Mutex<[Int64: AuditRow]>([:])

  /// The rows with these numbers, in their order; each of them is there.
  func rows(_ ids: [Int64], _ connection: borrowing Connection) throws -> [AuditRow] {
    // A copy is a reference as long as nobody adds to it.
    let known = rows.withLock { $0 }
    var missing: [AuditRow] = []
    var found: [AuditRow] = []
    found.reserveCapacity(ids.count)
    for id in ids {
      if let row = known[id] {
        found.append(row)
        continue
      }
      let row = try connection.first(
        "SELECT \(Audit.columns) FROM audit WHERE audit_id = \(id)", Audit.row)
      guard let row else { throw Failure("an audit row is gone") }
      missing.append(row)
      found.append(row)
    }
    if !missing.isEmpty, ids.count <= Self.longestPart { keep(missing) }
    return found
  }

  private func keep(_ new: [AuditRow]) {
    rows.withLock { rows in
      if rows.count + new.count > Self.limit { rows = [:] }
      for row in new { rows[row.id] = row }
    }
  }
}
