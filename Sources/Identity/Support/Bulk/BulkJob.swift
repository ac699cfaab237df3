public import Database

/// A support action on many users at once.
public struct BulkJob: Sendable {
  public enum Kind: String, Sendable, SQLConvertible {
    /// Removes the second factors of the users.
    case removal
    /// Sends the users enrollment links that are valid for days, and reminds them.
    case campaign
    /// Ends the sessions of the users.
    case sessions
    /// Disables the users, which also ends their sessions.
    case disabling

    /// The action that starts it.
    public var action: ConsoleAction {
      switch self {
      case .removal, .sessions, .disabling: .startBulkRemoval
      case .campaign: .startCampaign
      }
    }

    /// The same action on one user, whose permission it requires, and whose rules each user has.
    public var single: ConsoleAction {
      switch self {
      case .removal: .removeAllFactors
      case .campaign: .sendEnrollmentLink
      case .sessions: .endSessions
      case .disabling: .disableUser
      }
    }

    /// The action on one user that undoes it; nil if nothing does.
    public var undo: ConsoleAction? {
      switch self {
      case .removal: .restoreFactors
      case .disabling: .enableUser
      case .campaign, .sessions: nil
      }
    }

    public var permission: Permission { single.requirements.permission }

    /// What it is in the audit log.
    var object: AuditResource {
      switch self {
      case .removal: .bulkRemoval
      case .campaign: .bulkLinks
      case .sessions: .bulkSessions
      case .disabling: .bulkDisabling
      }
    }

    /// Its number in the audit entry of a user.
    var field: AuditFieldName {
      switch self {
      case .removal: .bulkRemoval
      case .campaign: .bulkLinks
      case .sessions, .disabling: .bulkAction
      }
    }
  }

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
  public let kind: Kind
  public let state: State
  /// The administrator who submitted the list and starts the action.
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
  /// The number of factors of those users at the time of the preview, or of sessions to end.
  public let factors: Int
  public let usersDone: Int
  /// The number of users on whom the action was performed.
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
  /// What a campaign sends; nil for its draft, and for another kind.
  public let terms: CampaignTerms?
  /// The time at which there's something to do for a campaign; nil if that's now.
  public let nextAt: Instant?
  let poolKey: Int64
  let address: String
  let requestID: String

  /// The number of users above which a removal that can't be undone must be confirmed by typing the
  /// number.
  public static let unconfirmed = 20

  public func asksForNumber(_ reason: SupportReason?, _ settings: SupportRules) -> Bool {
    kind == .removal && users > Self.unconfirmed
      && (settings.undoHours == 0 || reason?.isHostile == true)
  }

  var author: Author {
    Author(
      actor: .administrator(requester, name: requesterName), address: address,
      requestID: requestID)
  }

  static let columns: SQL = """
    job_id, scope_key, state, administrator_id, administrator_name, address, request_id,
      created_at, started_at, ended_at, lines, users, users_done, users_removed,
      factors_removed, sessions_ended, reason, note, ticket, proof, approver_name, ending, factors,
      kind, link_seconds, reminds, sentence, next_at
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
    kind = try row.next()
    let seconds: Int64? = try row.next()
    let (reminds, sentence) = (try row.next() as Bool, try row.next() as String?)
    terms = seconds.map {
      CampaignTerms(seconds: $0, reminds: reminds, sentence: sentence ?? "")
    }
    nextAt = try row.next()
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
  /// The factors were removed, the sessions ended, or the user was disabled.
  case removed
  /// That was undone with the whole action: the factors are restored, or the user is enabled.
  case restored
  /// It was undone on the user's page before the whole action was.
  case restoredBefore = "restored-before"
  /// It couldn't be undone with the whole action.
  case notRestored = "not-restored"
  /// The user has no second factors or sessions, or is disabled already.
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
  /// The user was sent an enrollment link.
  case sent
  /// The user's email address isn't verified, so that no enrollment link can be sent to it.
  case unverified
  /// The user has no email address.
  case noEmail = "no-email"
  /// The user or the pool is disabled.
  case disabled
  /// The user is exempt from MFA.
  case exempt
  /// The user has a second factor.
  case enrolled
  /// The user can't be sent an enrollment link for another reason.
  case notEligible = "not-eligible"
  /// The pool's users had been sent as many links as an hour allowed; stored by earlier versions.
  case overLimit = "over-limit"
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
  case nothingToDo
  /// More users match than a search finds, or than ``BulkList/longest``.
  case tooLong
}

/// A bulk removal with what's known about its undo.
public struct BulkProgress: Sendable {
  public let job: BulkJob
  public let undo: BulkUndo?
  /// The number of users whose removed factors are still kept, so that the removal can be undone.
  public let undoable: Int
  /// What the undo did so far; all 0 if nobody undid the removal.
  public let undone: BulkUndo.Counts
  /// Whether the undo requires a verified caller in this pool, so that it's for one user at a time.
  public let requiresCaller: Bool

  public var isRunning: Bool { job.state == .running || isBeingUndone }
  public var isBeingUndone: Bool { undo?.isRunning == true }
  public var undoState: BulkUndo.State? { undo.map { $0.state(after: undone) } }

  /// Whether the agent can undo the removal for all of its users at once.
  public var canUndo: Bool {
    undoable > 0 && !requiresCaller && !isBeingUndone
      && (job.state == .done || job.state == .stopped)
  }

  init(
    _ job: BulkJob, in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws {
    self.job = job
    // A removal undone or purged on a user's page, a new factor, and a deleted user end a hold early.
    let isLeft: SQL =
      job.kind == .disabling
      ? "a.disabled = 1 AND \(BulkRemovals.disabledMark) = i.removal_id"
      : """
      EXISTS (SELECT 1 FROM removed_factor r WHERE r.account_key = a.account_key
        AND r.removal_id = i.removal_id AND r.until > \(now))
      """
    undoable =
      try connection.first(
        """
        SELECT count(*) FROM bulk_item i \(index: "bulk_item_by_result")
          \(SQL.orderedJoin) account a ON a.scope_key = \(pool.key) AND a.uid = i.uid
        WHERE i.scope_key = \(pool.key) AND i.job_id = \(job.id) AND i.result = 'removed'
          AND i.undo_until > \(now) AND \(isLeft)
        """
      ) { try $0.next() as Int } ?? 0
    undo = try BulkUndo.find(job.id, of: pool.key, connection)
    undone = try undo == nil ? BulkUndo.Counts() : BulkUndo.counts(of: job, connection)
    requiresCaller =
      try job.kind.undo?.letsCallerIn == true
      && SupportRules.find(pool, connection).callerVerification == .required
  }
}

public enum BulkEnding: Sendable, Equatable {
  case refused(by: String, answer: String)
  case withdrawn(by: String)
  /// No one decided the request for approval in time.
  case expired
  /// Something had changed since the request for approval.
  case overtaken(ApprovalObstacle)
  case stopped(by: String)
  case poolDeleted
  case permissionLost
  /// A backup was restored.
  case restored
  /// Text that an earlier version stored.
  case text(String)

  var stored: String {
    switch self {
    case .refused(let name, let answer): StoredCode("refused", [name, answer]).text
    case .withdrawn(let name): StoredCode("withdrawn", [name]).text
    case .expired: StoredCode("expired").text
    case .overtaken(let obstacle): StoredCode("overtaken", [obstacle.rawValue]).text
    case .stopped(let name): StoredCode("stopped", [name]).text
    case .poolDeleted: StoredCode("scope-deleted").text
    case .permissionLost: StoredCode("permission-lost").text
    case .restored: StoredCode("restored").text
    case .text(let text): text
    }
  }

  var code: String { StoredCode(stored)?.code ?? "" }

  init(stored text: String) {
    guard let stored = StoredCode(text), let known = Self.known(stored) else {
      self = .text(text)
      return
    }
    self = known
  }

  private static func known(_ stored: StoredCode) -> BulkEnding? {
    let (first, second) = (stored.values.first ?? "", stored.values.dropFirst().first ?? "")
    return switch stored.code {
    case "refused": .refused(by: first, answer: second)
    case "withdrawn": .withdrawn(by: first)
    case "expired": .expired
    case "overtaken": ApprovalObstacle(rawValue: first).map { .overtaken($0) }
    case "stopped": .stopped(by: first)
    case "scope-deleted": .poolDeleted
    case "permission-lost": .permissionLost
    case "restored": .restored
    default: nil
    }
  }
}
