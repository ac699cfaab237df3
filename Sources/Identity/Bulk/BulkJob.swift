public import Database

/// A bulk removal: a removal of the second factors of many users at once.
public struct BulkJob: Sendable {
  public enum State: String, Sendable, SQLConvertible {
    /// The list was previewed; nothing is decided.
    case draft
    /// Waiting for a second administrator's approval.
    case waiting
    case running
    /// Every line has a result.
    case done
    case stopped
  }

  public let id: Int64
  public let state: State
  /// The administrator who submitted the list and starts the removal.
  public let requester: ID<Administrator>
  public let requesterName: String
  /// The time the list was submitted.
  public let createdAt: Instant
  /// The time the first user was processed.
  public let startedAt: Instant?
  public let endedAt: Instant?
  /// The number of lines that name a user.
  public let lines: Int
  /// The number of users to act on.
  public let users: Int
  /// The number of factors of those users at the time of the preview.
  public let factors: Int
  public let usersDone: Int
  /// The number of users whose factors were removed.
  public let usersRemoved: Int
  public let factorsRemoved: Int
  public let sessionsEnded: Int
  /// The reason; nil for a draft.
  public let reason: SupportReason?
  public let note: String
  public let ticket: String
  /// The identity checks that the agent completed, one per line.
  public let proof: String
  public let approverName: String?
  public let ending: BulkEnding?
  let poolKey: Int64
  let address: String
  let requestID: String

  /// The number of users above which a removal that can't be undone must be confirmed by typing the
  /// number.
  public static let unconfirmed = 20

  public func asksForNumber(_ reason: SupportReason?, _ settings: SupportRules) -> Bool {
    users > Self.unconfirmed && (settings.undoHours == 0 || reason?.isHostile == true)
  }

  var author: Author {
    Author(
      actor: .administrator(requester, name: requesterName), address: address,
      requestID: requestID)
  }

  static let columns: SQL = """
    job_id, scope_key, state, administrator_id, administrator_name, address, request_id,
      created_at, started_at, ended_at, lines, users, users_done, users_removed,
      factors_removed, sessions_ended, reason, note, ticket, proof, approver_name, ending, factors
    """

  init(_ row: inout Row) throws {
    id = try row.next()
    poolKey = try row.next()
    state = try row.next()
    requester = try row.next()
    requesterName = try row.next()
    address = try row.next()
    requestID = try row.next()
    createdAt = try row.next()
    startedAt = try row.next()
    endedAt = try row.next()
    lines = try row.next()
    users = try row.next()
    usersDone = try row.next()
    usersRemoved = try row.next()
    factorsRemoved = try row.next()
    sessionsEnded = try row.next()
    reason = try row.next()
    note = try row.next() ?? ""
    ticket = try row.next() ?? ""
    proof = try row.next() ?? ""
    approverName = try row.next()
    ending = (try row.next() as String?).map { BulkEnding(stored: $0) }
    factors = try row.next()
  }

  static func find(
    _ id: Int64, in pool: Pool, _ connection: borrowing Connection
  ) throws -> BulkJob? {
    try connection.first(
      """
      SELECT \(columns) FROM bulk_job WHERE job_id = \(id) AND scope_key = \(pool.key)
      """
    ) { try BulkJob(&$0) }
  }

  static func stop(
    _ id: Int64, of pool: Int64, because ending: BulkEnding, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE bulk_item SET result = \(BulkResult.stopped)
      WHERE scope_key = \(pool) AND job_id = \(id) AND result IS NULL
      """)
    try connection.run(
      """
      UPDATE bulk_job SET state = 'stopped', ended_at = \(now), ending = \(ending.stored)
      WHERE scope_key = \(pool) AND job_id = \(id)
      """)
  }
}

public enum BulkResult: String, Sendable, CaseIterable, SQLConvertible {
  case removed
  /// The factors were removed, and restored by undoing the bulk removal.
  case restored
  /// The factors were removed, and restored on the user's page before the bulk removal was undone.
  case restoredBefore = "restored-before"
  /// The factors were removed, and undoing the bulk removal couldn't restore them.
  case notRestored = "not-restored"
  /// The user has no second factors.
  case none
  case notFound = "not-found"
  /// The user appears on an earlier line.
  case twice
  case protected
  /// The account has the agent's own email address.
  case own
  /// The user reported a change, so their factors can't be changed.
  case locked
  /// A factor was enrolled after the preview.
  case changed
  case stopped
  /// Failed; the server log has the cause.
  case failed
}

public struct BulkItem: Sendable {
  /// The line number, starting at 1.
  public let line: Int
  public let given: String
  public let account: ID<Account>?
  /// The number of the user's factors at the time of the preview.
  public let factors: Int
  /// The result; nil if the line hasn't been processed.
  public let result: BulkResult?
  public let removed: Int
  public let sessions: Int
  let seen: [String]

  static let columns: SQL = "line, given, uid, factors, result, removed, sessions"

  init(_ row: inout Row) throws {
    line = try row.next()
    given = try row.next()
    account = try row.next()
    seen = EnrollmentIDs.list(in: try row.next())
    factors = seen.count
    result = try row.next()
    removed = try row.next()
    sessions = try row.next()
  }
}

public enum BulkError: Error, Sendable {
  /// The bulk removal doesn't exist in the pool, or is another administrator's draft.
  case notFound
  case nothingToDo
  /// More users match than a search finds, or than ``BulkList/longest``.
  case tooLong
  case denied(ActionDenial)
}
