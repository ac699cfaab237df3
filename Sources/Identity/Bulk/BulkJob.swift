import Database

/// A removal of the second factors of many users at once.
public struct BulkJob: Sendable {
  /// How far it is.
  public enum State: String, Sendable {
    /// The list was looked at, and nothing is decided yet.
    case draft
    /// It waits for a second administrator.
    case waiting
    /// The server goes through the list.
    case running
    /// Every line has its result.
    case done
    /// It ended before its end.
    case stopped
  }

  /// Its number.
  public let id: Int64
  /// How far it is.
  public let state: State
  /// Who made the list and decided it.
  public let requester: ID<Administrator>
  /// Their name.
  public let requesterName: String
  /// When the list was pasted.
  public let createdAt: Instant
  /// When the first user's turn came.
  public let startedAt: Instant?
  /// When it ended.
  public let endedAt: Instant?
  /// How many lines name somebody.
  public let lines: Int
  /// How many of them are users to act on.
  public let users: Int
  /// How many factors those had when the list was looked at.
  public let factors: Int
  /// How many of those have had their turn.
  public let usersDone: Int
  /// From how many of them factors were removed.
  public let usersRemoved: Int
  /// How many factors were removed.
  public let factorsRemoved: Int
  /// How many sessions ended.
  public let sessionsEnded: Int
  /// Why; nil for a draft.
  public let reason: SupportReason?
  /// More about it.
  public let note: String
  /// The ticket it is about.
  public let ticket: String
  /// What the agent made sure of, a line each.
  public let proof: String
  /// Who approved it, where that was needed.
  public let approverName: String?
  /// Why it ended before its end.
  public let ending: String?
  let scopeKey: Int64
  let address: String
  let requestID: String

  /// Over how many users a job that cannot be undone asks to type their number.
  public static let unconfirmed = 20

  /// Whether the number of users has to be typed: there are many, and it cannot be undone.
  public func asksForNumber(_ reason: SupportReason?, _ settings: SupportRules) -> Bool {
    users > Self.unconfirmed && (settings.undoHours == 0 || reason?.isHostile == true)
  }

  /// Who acts, for the rows of the log.
  var author: Author {
    Author(
      actor: .administrator(requester, name: requesterName), address: address,
      requestID: requestID)
  }

  /// What it is called in the log.
  var name: String { Self.name(of: id, users: users) }

  /// What a job about so many users is called in the log.
  static func name(of id: Int64, users: Int) -> String {
    "\(Words.count(users, "user", "users")), list no. \(id)"
  }

  static let columns: SQL = """
    job_id, scope_key, state, administrator_id, administrator_name, address, request_id,
      created_at, started_at, ended_at, lines, users, users_done, users_removed,
      factors_removed, sessions_ended, reason, note, ticket, proof, approver_name, ending, factors
    """

  init(_ row: borrowing Row) throws {
    func instant(_ column: Int) throws -> Instant? {
      (try row.value(column) as Int64?).map(Instant.init(microseconds:))
    }
    id = try row.value(0)
    scopeKey = try row.value(1)
    state = State(rawValue: try row.value(2)) ?? .stopped
    requester = ID(try row.value(3))
    requesterName = try row.value(4)
    address = try row.value(5)
    requestID = try row.value(6)
    createdAt = Instant(microseconds: try row.value(7))
    startedAt = try instant(8)
    endedAt = try instant(9)
    lines = try row.value(10)
    users = try row.value(11)
    usersDone = try row.value(12)
    usersRemoved = try row.value(13)
    factorsRemoved = try row.value(14)
    sessionsEnded = try row.value(15)
    reason = (try row.value(16) as String?).flatMap(SupportReason.init(rawValue:))
    note = try row.value(17) ?? ""
    ticket = try row.value(18) ?? ""
    proof = try row.value(19) ?? ""
    approverName = try row.value(20)
    ending = try row.value(21)
    factors = try row.value(22)
  }

  static func find(
    _ id: Int64, in scope: Scope, _ connection: borrowing Connection
  ) throws -> BulkJob? {
    try connection.first(
      """
      SELECT \(columns) FROM bulk_job WHERE job_id = \(id) AND scope_key = \(scope.key)
      """
    ) { try BulkJob($0) }
  }

  /// Ends a job before its end: what was not come to is not done.
  static func stop(
    _ id: Int64, because ending: String, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE bulk_item SET result = \(BulkResult.stopped.rawValue)
      WHERE job_id = \(id) AND result IS NULL
      """)
    try connection.run(
      """
      UPDATE bulk_job SET state = 'stopped', ended_at = \(now.microseconds), ending = \(ending)
      WHERE job_id = \(id)
      """)
  }
}

/// What became of a line of a list.
public enum BulkResult: String, Sendable, CaseIterable {
  /// The factors were removed.
  case removed
  /// The user has none.
  case none
  /// Nobody has this address or uid.
  case notFound = "not-found"
  /// The same user stands on an earlier line.
  case twice
  /// Only owners act on this account.
  case protected
  /// The account has the agent's own address.
  case own
  /// The user said that a change was none of theirs.
  case locked
  /// A factor was enrolled after the list was looked at.
  case changed
  /// The job ended before this line's turn.
  case stopped
  /// It could not be done; the log of the server says why.
  case failed
}

/// A line of a list, with what became of it.
public struct BulkItem: Sendable {
  /// The number of the line, from 1.
  public let line: Int
  /// What stood there.
  public let given: String
  /// Whom it means; nil for nobody.
  public let account: ID<Account>?
  /// How many factors the user had when the list was looked at.
  public let factors: Int
  /// What became of it; nil as long as it is to be come to.
  public let result: BulkResult?
  /// How many factors were removed.
  public let removed: Int
  /// How many sessions ended.
  public let sessions: Int
  let seen: [Substring]

  static let columns: SQL = "line, given, uid, factors, result, removed, sessions"

  init(_ row: borrowing Row) throws {
    line = try row.value(0)
    given = try row.value(1)
    account = (try row.value(2) as String?).map { ID($0) }
    let ids: String = try row.value(3)
    seen = ids.split(separator: " ")
    factors = seen.count
    result = (try row.value(4) as String?).flatMap(BulkResult.init(rawValue:))
    removed = try row.value(5)
    sessions = try row.value(6)
  }
}

/// Why a job cannot be seen, begun or stopped.
public enum BulkError: Error, Sendable {
  /// No such job in the pool, or a draft of somebody else's.
  case notFound
  /// The list has no user to act on.
  case nothingToDo
  /// A rule of the desk is in the way.
  case denied(ActionDenial)
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension BulkError: UseCaseError {}
