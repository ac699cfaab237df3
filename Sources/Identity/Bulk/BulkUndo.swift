import Database

public struct BulkUndo: Sendable {
  public enum State: Sendable {
    case running
    /// It ended before all users were processed, or some couldn't be restored.
    case partial
    case done
  }

  public struct Counts: Sendable, Equatable {
    public var restored = 0
    /// The number of users whose factors had been restored on their page before.
    public var restoredBefore = 0
    public var notRestored = 0
    public var left = 0

    public var processed: Int { restored + restoredBefore + notRestored }
    public var users: Int { processed + left }
    var isComplete: Bool { left == 0 && notRestored == 0 }
  }

  public let administratorName: String
  public let startedAt: Instant
  public let isRunning: Bool
  let administrator: ID<Administrator>
  let address: String
  let requestID: String
  let reason: SupportReason?
  let note: String
  let ticket: String
  let proof: String

  var author: Author {
    Author(
      actor: .administrator(administrator, name: administratorName), address: address,
      requestID: requestID)
  }

  func state(after undone: Counts) -> State {
    isRunning ? .running : undone.isComplete ? .done : .partial
  }

  static let isLeft: SQL = "result = 'removed' AND removal_id IS NOT NULL AND uid IS NOT NULL"

  static func counts(
    of job: BulkJob, _ connection: borrowing Connection
  ) throws -> Counts {
    try counts(of: [job.id], in: job.scopeKey, connection)[job.id] ?? Counts()
  }

  /// Counts the lines of jobs of a pool by what their undos did; a job without such lines is missing.
  static func counts(
    of jobs: [Int64], in scope: Int64, _ connection: borrowing Connection
  ) throws -> [Int64: Counts] {
    let rows = try connection.all(
      """
      SELECT job_id, result, count(*) FROM bulk_item \(index: "bulk_item_by_result")
      WHERE scope_key = \(scope) AND job_id IN (\(list: jobs))
        AND (result IN ('restored', 'restored-before', 'not-restored') OR \(isLeft))
      GROUP BY job_id, result
      """
    ) { row in
      (
        job: try row.value(0) as Int64, result: BulkResult(rawValue: try row.value(1)),
        count: try row.value(2) as Int
      )
    }
    return rows.reduce(into: [:]) { counts, row in
      switch row.result {
      case .restored: counts[row.job, default: Counts()].restored = row.count
      case .restoredBefore: counts[row.job, default: Counts()].restoredBefore = row.count
      case .notRestored: counts[row.job, default: Counts()].notRestored = row.count
      default: counts[row.job, default: Counts()].left = row.count
      }
    }
  }

  static func find(
    _ job: Int64, of scope: Int64, _ connection: borrowing Connection
  ) throws -> BulkUndo? { try all(of: [job], in: scope, connection)[job] }

  static func all(
    of jobs: [Int64], in scope: Int64, _ connection: borrowing Connection
  ) throws -> [Int64: BulkUndo] {
    let undos = try connection.all(
      """
      SELECT administrator_id, administrator_name, address, request_id, reason, note, ticket, proof,
        started_at, ended_at IS NULL, job_id
      FROM bulk_undo WHERE scope_key = \(scope) AND job_id IN (\(list: jobs))
      """
    ) { row in
      let undo = BulkUndo(
        administratorName: try row.value(1), startedAt: Instant(microseconds: try row.value(8)),
        isRunning: try row.value(9), administrator: ID(try row.value(0)),
        address: try row.value(2), requestID: try row.value(3),
        reason: (try row.value(4) as String?).flatMap(SupportReason.init(rawValue:)),
        note: try row.value(5), ticket: try row.value(6), proof: try row.value(7))
      return (try row.value(10) as Int64, undo)
    }
    return Dictionary(uniqueKeysWithValues: undos)
  }
}
