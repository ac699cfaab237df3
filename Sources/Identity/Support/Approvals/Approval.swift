public import Database

/// A request for a second administrator's approval, pending or closed.
public struct Approval: Sendable {
  public enum Kind: String, Sendable, SQLConvertible {
    /// Removes one factor of an account.
    case factor
    /// Removes all factors of an account.
    case factors
    /// Starts an action on many users.
    case job
    /// Weakens the MFA policy.
    case policy

    /// The permission required to request and to decide it.
    public var permission: Permission { actions.approve.requirements.permission }

    public var actions: (approve: ConsoleAction, reject: ConsoleAction, withdraw: ConsoleAction) {
      switch self {
      case .factor, .factors, .job: (.approveRequest, .rejectRequest, .withdrawRequest)
      case .policy: (.approvePolicyChange, .rejectPolicyChange, .withdrawPolicyChange)
      }
    }
  }

  /// The reason a second administrator is required.
  public enum Cause: String, Sendable, SQLConvertible {
    /// The user would have no second factor, and enrollment is mandatory.
    case lastFactor = "last-factor"
    /// More users than the pool allows one administrator to act on.
    case many
    /// More users than the requester had actions left in the hour.
    case hour
    /// A weaker policy that affects more users than one administrator can decide on.
    case weakerPolicy = "weaker-policy"
    /// The pool requires a verified caller, and there's none.
    case unverifiedCaller = "unverified-caller"
  }

  public enum State: String, Sendable, SQLConvertible {
    case waiting
    /// Approved and carried out.
    case approved
    case refused
    case withdrawn
    case expired
    /// Approved, but not carried out because something had changed.
    case overtaken
  }

  public let id: Int64
  public let pool: Pool
  public let kind: Kind
  /// The account whose factors are to be removed; nil for a bulk removal or a policy.
  public let account: ID<Account>?
  /// The name of the account at the time of the request; empty for a bulk removal or a policy.
  public let accountName: String
  /// The names of the factors to remove, at the time of the request.
  public let factorNames: [String]
  /// The number of the action on many users; nil for other requests.
  public let job: Int64?
  /// What that does; nil for other requests.
  public let jobKind: BulkJob.Kind?
  public let users: Int
  public let cause: Cause
  public let requester: ID<Administrator>
  public let requesterName: String
  /// The reason; nil if the action has none, or a later version stored it.
  public let reason: SupportReason?
  public let note: String
  public let ticket: String
  /// The identity checks that the requester completed.
  public let proof: [String]
  public let callerProof: CallerProof?
  public let requestedAt: Instant
  public let expiresAt: Instant
  public let state: State
  /// The time the request was decided or expired.
  public let decidedAt: Instant?
  public let deciderName: String?
  /// The decider's message, or the reason that an earlier version stored as text.
  public let answer: String?
  public let obstacle: ApprovalObstacle?
  /// What it changes; nil for an action on many users, and if a later version stored it.
  public internal(set) var change: DirectoryChange?
  /// Whether the version before this one stored the change: in `factors` and `all_factors`, or in the
  /// table `approval_policy`.
  ///
  /// They're still written, for servers of that version on the same database, and otherwise unread.
  /// The next version can drop them.
  let isFormer: Bool
  /// The number of the change that the server of the connected project was asked for.
  public let intent: Int64?
  let address: String
  let requestID: String

  /// The time a request stays open, in seconds.
  public static let lifetime: Int64 = 86_400

  /// Returns whether a request that expires at this time is over; also if it was made by a clock that
  /// was ahead.
  static func isOver(_ expiry: Instant, at now: Instant) -> Bool {
    expiry.pending(for: lifetime, at: now) == nil
  }
  /// The maximum length of a rejection message, in characters.
  public static let longestAnswer = 500

  var author: Author {
    Author(
      actor: .administrator(requester, name: requesterName), address: address,
      requestID: requestID)
  }

  static let columns: SQL = """
    v.approval_id, v.kind, v.uid, v.user_name, v.factors, v.factor_names, v.all_factors, v.job_id,
      v.users, v.cause, v.requester_id, v.requester_name, v.address, v.request_id, v.reason,
      v.note, v.ticket, v.proof, v.requested_at, v.expires_at, v.state, v.decided_at,
      v.decider_name, v.answer, v.caller_verification, v.change, v.intent_id,
      (SELECT j.kind FROM bulk_job j WHERE j.scope_key = v.scope_key AND j.job_id = v.job_id),
      \(Pool.columns)
    """

  init(_ row: inout Row, at now: Instant) throws {
    func ids(_ text: String) -> [ID<Factor>] { EnrollmentIDs.list(in: text).map { ID($0) } }
    func lines(_ text: String) -> [String] { text.split(separator: "\n").map(String.init) }
    id = try row.next()
    kind = try row.next()
    account = ID(nonEmpty: try row.next())
    accountName = try row.next()
    let factors = ids(try row.next())
    factorNames = lines(try row.next())
    let allFactors = ids(try row.next())
    job = try row.next()
    users = try row.next()
    cause = try row.next()
    requester = try row.next()
    requesterName = try row.next()
    address = try row.next()
    requestID = try row.next()
    reason = SupportReason(rawValue: try row.next())
    note = try row.next()
    ticket = try row.next()
    proof = lines(try row.next())
    requestedAt = try row.next()
    expiresAt = try row.next()
    let kept = try row.next() as State
    // An expired request shows as expired immediately; the stored state is updated within a minute.
    state = kept == .waiting && Self.isOver(expiresAt, at: now) ? .expired : kept
    decidedAt = try row.next()
    deciderName = try row.next()
    let answer: String? = try row.next()
    obstacle = state == .overtaken ? answer.flatMap { ApprovalObstacle(stored: $0) } : nil
    self.answer = obstacle == nil ? answer : nil
    callerProof = try row.next()
    let stored: String? = try row.next()
    intent = try row.next()
    isFormer = stored == nil && job == nil
    change =
      switch (stored, kind) {
      case (let stored?, _): DirectoryChange(stored: stored)
      case (nil, .factor): factors.first.map { .factorsRemoved($0, seen: allFactors) }
      case (nil, .factors): .factorsRemoved(nil, seen: allFactors)
      case (nil, .job), (nil, .policy): nil
      }
    jobKind = try row.next()
    pool = try Pool(&row)
  }
}

/// Something that changed since a request was made, so that it can't be carried out.
public enum ApprovalObstacle: String, Sendable, CaseIterable {
  case permissionLost = "permission-lost"
  case accountOutOfReach = "account-out-of-reach"
  case accountDeleted = "account-deleted"
  case policyChanged = "policy-changed"
  /// The policy refuses users who couldn't be sent enrollment links, because the server no longer
  /// sends emails.
  case refusalNeedsEmail = "refusal-needs-email"
  /// The list of the bulk removal was deleted.
  case listGone = "list-gone"
  case factorGone = "factor-gone"
  case factorEnrolled = "factor-enrolled"
  case poolDeleted = "pool-deleted"

  init?(stored: String) {
    guard let stored = StoredCode(stored) else { return nil }
    self.init(rawValue: stored.code)
  }

  var stored: String { StoredCode(rawValue).text }
}

public enum ApprovalOutcome: Sendable {
  case done(Removal)
  case begun(job: Int64)
  case policyChanged(Policy)
  /// The server of the connected project is to change it, under the number of the intent.
  case requested(Int64)
  case overtaken(ApprovalObstacle)
}

public enum ApprovalError: Error, Sendable {
  /// The request was already decided or has expired.
  case decided
  /// Administrators can't decide their own requests.
  case ownRequest
  /// Only the requester can withdraw the request.
  case othersRequest
}
