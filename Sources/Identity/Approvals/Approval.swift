import Database

/// Something that waits for a second administrator, or did.
public struct Approval: Sendable {
  /// What is asked for.
  public enum Kind: String, Sendable {
    /// To remove one factor of an account.
    case factor
    /// To remove all factors of an account.
    case factors
    /// To begin a removal for many users.
    case job
    /// To weaken the MFA policy.
    case policy

    /// What those who ask for it and those who decide it are allowed to do.
    public var permission: Permission { actions.approve.requirements.permission }

    /// The actions on a request.
    public var actions: (approve: ConsoleAction, reject: ConsoleAction, withdraw: ConsoleAction) {
      switch self {
      case .factor, .factors, .job: (.approveRequest, .rejectRequest, .withdrawRequest)
      case .policy: (.approvePolicyChange, .rejectPolicyChange, .withdrawPolicyChange)
      }
    }
  }

  /// Why a second administrator is needed.
  public enum Cause: String, Sendable {
    /// The user would have no second factor, where enrollment is mandatory.
    case lastFactor = "last-factor"
    /// More users at once than the pool allows one administrator.
    case many
    /// More users than the requester had actions left in the hour.
    case hour
    /// A weaker policy that affects more users than one administrator may decide.
    case weakerPolicy = "weaker-policy"
  }

  /// How it stands.
  public enum State: String, Sendable {
    /// Nobody has decided it.
    case waiting
    /// It was approved, and done.
    case approved
    /// It was refused.
    case refused
    /// Its requester took it back.
    case withdrawn
    /// Nobody decided it in time.
    case expired
    /// What it was about had changed when it was approved, so nothing was done.
    case overtaken
  }

  /// Its number.
  public let id: Int64
  /// Where.
  public let scope: Scope
  /// What is asked for.
  public let kind: Kind
  /// Whose factors; nil for a job.
  public let account: ID<Account>?
  /// The name of the account when it was asked; empty for a job.
  public let accountName: String
  /// The names of the factors that go, as they were.
  public let factorNames: [String]
  /// Which job; nil for an account.
  public let job: Int64?
  /// How many users it is about.
  public let users: Int
  /// Why a second administrator is needed.
  public let cause: Cause
  /// Who asks.
  public let requester: ID<Administrator>
  /// Their name.
  public let requesterName: String
  /// Why they want it.
  public let reason: SupportReason
  /// What they wrote about it.
  public let note: String
  /// The ticket they named.
  public let ticket: String
  /// What they made sure of.
  public let proof: [String]
  /// When they asked.
  public let requestedAt: Instant
  /// Until when it can be decided.
  public let expiresAt: Instant
  /// How it stands.
  public let state: State
  /// When it was decided, or ran out.
  public let decidedAt: Instant?
  /// Who decided it.
  public let deciderName: String?
  /// What the decider wrote, or why nothing was done.
  public let answer: String?
  let factors: Set<String>
  let allFactors: Set<String>
  let address: String
  let requestID: String

  /// How long it waits, in seconds.
  public static let lifetime: Int64 = 86_400
  /// The longest sentence of a refusal, in characters.
  public static let longestAnswer = 500

  /// Who asks, for the rows of the log.
  var author: Author {
    Author(
      actor: .administrator(requester, name: requesterName), address: address,
      requestID: requestID)
  }

  static let columns: SQL = """
    v.approval_id, v.kind, v.uid, v.user_name, v.factors, v.factor_names, v.all_factors, v.job_id,
      v.users, v.cause, v.requester_id, v.requester_name, v.address, v.request_id, v.reason,
      v.note, v.ticket, v.proof, v.requested_at, v.expires_at, v.state, v.decided_at,
      v.decider_name, v.answer, \(Scope.columns)
    """

  init(_ row: borrowing Row, at now: Instant) throws {
    func ids(_ column: Int) throws -> Set<String> {
      Set((try row.value(column) as String).split(separator: " ").map(String.init))
    }
    func lines(_ column: Int) throws -> [String] {
      (try row.value(column) as String).split(separator: "\n").map(String.init)
    }
    id = try row.value(0)
    kind = Kind(rawValue: try row.value(1)) ?? .factors
    let uid: String = try row.value(2)
    account = uid.isEmpty ? nil : ID(uid)
    accountName = try row.value(3)
    factors = try ids(4)
    factorNames = try lines(5)
    allFactors = try ids(6)
    job = try row.value(7)
    users = try row.value(8)
    cause = Cause(rawValue: try row.value(9)) ?? .many
    requester = ID(try row.value(10))
    requesterName = try row.value(11)
    address = try row.value(12)
    requestID = try row.value(13)
    reason = SupportReason(rawValue: try row.value(14)) ?? .other
    note = try row.value(15)
    ticket = try row.value(16)
    proof = try lines(17)
    requestedAt = Instant(microseconds: try row.value(18))
    expiresAt = Instant(microseconds: try row.value(19))
    let kept = State(rawValue: try row.value(20)) ?? .expired
    // What has run out is told so at once, and written down within a minute.
    state = kept == .waiting && expiresAt <= now ? .expired : kept
    decidedAt = (try row.value(21) as Int64?).map(Instant.init(microseconds:))
    deciderName = try row.value(22)
    answer = try row.value(23)
    scope = try Scope(row, from: 24)
  }

  /// What was done, with who approved it.
  static func words(_ done: String?, approver: String?) -> String {
    [done, approver.map { "approved by \($0)" }].compactMap { $0 }.joined(separator: ", ")
  }
}

/// What came of an approval.
public enum ApprovalOutcome: Sendable {
  /// The removal is done.
  case done(Removal)
  /// The job has begun.
  case begun(job: Int64)
  /// The policy is in force.
  case policyChanged(Policy)
  /// Nothing was done, because something had changed; the sentence says what.
  case overtaken(String)
}

/// Why a request cannot be decided.
public enum ApprovalError: Error, Sendable {
  /// No such request in the pool.
  case notFound
  /// It was decided already, or has run out.
  case decided
  /// It is one's own.
  case ownRequest
  /// It is somebody else's, and only its requester takes it back.
  case othersRequest
  /// A rule of the desk is in the way.
  case denied(ActionDenial)
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension ApprovalError: UseCaseError {}
