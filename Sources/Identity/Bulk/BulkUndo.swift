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

  let administrator: ID<Administrator>
  public let administratorName: String
  let address: String
  let requestID: String
  let reason: SupportReason?
  let note: String
  let ticket: String
  let proof: String
  public let startedAt: Instant
  public let isRunning: Bool

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
    try counts(of: [job.id], in: job.poolKey, connection)[job.id] ?? Counts()
  }

  /// Counts the lines of jobs of a pool by what their undos did; a job without such lines is missing.
  static func counts(
    of jobs: [Int64], in pool: Int64, _ connection: borrowing Connection
  ) throws -> [Int64: Counts] {
    let rows = try connection.all(
      """
      SELECT job_id, result, count(*) FROM bulk_item \(index: "bulk_item_by_result")
      WHERE scope_key = \(pool) AND job_id IN (\(list: jobs))
        AND (result IN ('restored', 'restored-before', 'not-restored') OR \(isLeft))
      GROUP BY job_id, result
      """
    ) { row in
      (
        job: try row.next() as Int64, result: try row.next() as BulkResult,
        count: try row.next() as Int
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
    _ job: Int64, of pool: Int64, _ connection: borrowing Connection
  ) throws -> BulkUndo? { try all(of: [job], in: pool, connection)[job] }

  static func all(
    of jobs: [Int64], in pool: Int64, _ connection: borrowing Connection
  ) throws -> [Int64: BulkUndo] {
    let undos = try connection.all(
      """
      SELECT administrator_id, administrator_name, address, request_id, reason, note, ticket, proof,
        started_at, ended_at IS NULL, job_id
      FROM bulk_undo WHERE scope_key = \(pool) AND job_id IN (\(list: jobs))
      """
    ) { row in
      let undo = BulkUndo(
        administrator: try row.next(), administratorName: try row.next(),
        address: try row.next(), requestID: try row.next(), reason: try row.next(),
        note: try row.next(), ticket: try row.next(), proof: try row.next(),
        startedAt: try row.next(), isRunning: try row.next())
      return (try row.next() as Int64, undo)
    }
    return Dictionary(uniqueKeysWithValues: undos)
  }
}
