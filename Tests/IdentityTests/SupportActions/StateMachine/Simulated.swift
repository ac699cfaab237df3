import Crypto
import OTP

@testable import Identity

/// An agent as a test knows them.
struct SimulatedAgent {
  let name: String
  let administrator: Administrator
  var grants: Set<Grant>
  /// Gone, though a page of theirs may still be open.
  var isRemoved = false
  let secret: Secret
  var session: ConsoleSession
  /// When the last code of their own passed.
  var provedAt: Instant
  var lastStep: Int64
  var wrongCodes = 0
  /// When they acted, by the key of the pool.
  var acts: [Int64: [Instant]] = [:]
  var heldIn: Set<Int64> = []

  var id: String { administrator.id.text }
  var author: Author { administrator.author(address: "198.51.100.7", requestID: "request-1") }

  /// What the table of roles says, written down once more.
  func may(_ permission: Permission, in scope: Scope) -> Bool {
    grants.contains { grant in
      guard grant.project == nil || grant.project == scope.project else { return false }
      guard grant.tenant == nil || grant.tenant == scope.tenant else { return false }
      return switch grant.role {
      case .owner: true
      case .support: [.removeFactors, .endSessions].contains(permission)
      case .policy: permission == .editSupportRules
      case .auditor: false
      }
    }
  }

  /// Whether they manage administrators.
  var isOwner: Bool { grants.contains { $0.role == .owner && $0.project == nil } }

  func code(step: Int64) throws -> String { try OneTimePassword.code(of: secret, step: step) }
}

/// A second factor as a test knows it.
struct SimulatedFactor {
  let id: String
  /// Nil for a phone.
  var secret: Secret?
  /// Nil for an app.
  var number: String?
  var enrolledAt: Instant
  var lastStep: Int64?
  var suspendedUntil: Instant?
  /// The name that support gave it; nil for one that it came with.
  var name: String?

  func isSuspended(at now: Instant) -> Bool { suspendedUntil.map { now < $0 } ?? false }

  func code(step: Int64) throws -> String {
    guard let secret else { throw Unexpected("a phone has no codes") }
    return try OneTimePassword.code(of: secret, step: step)
  }
}

/// A removal that can be taken back.
struct SimulatedApart {
  let id: ID<RemovalHold>
  let remover: String
  let until: Instant
  let factors: [SimulatedFactor]
}

/// A session of a user, over or not.
struct SimulatedSession {
  let session: UserSession
  let token: String
  var isAlive = true
  /// Of an account that was deleted since.
  var isOfFormer = false
}

/// A pending credential, as it was given.
struct SimulatedPending {
  let credential: String
  /// What of the account's sessions it was given in.
  let era: Int
  let at: Instant
  var isUsed = false
}

/// A user as a test knows them: what should be true.
struct SimulatedUser {
  let uid: String
  let scope: Scope
  var factors: [SimulatedFactor] = []
  var aparts: [SimulatedApart] = []
  /// Factors whose secret is gone, and whose row in the log the next tidying writes.
  var ended: [(removal: ID<RemovalHold>, factor: SimulatedFactor)] = []
  /// Factors that never count again.
  var purged: [SimulatedFactor] = []
  /// Removals that never come back.
  var purgedRemovals: [ID<RemovalHold>] = []
  var sessions: [SimulatedSession] = []
  var pending: [SimulatedPending] = []
  /// It rises with every end of all sessions.
  var era = 0
  var isProtected = false
  var isLocked = false
  var isDisabled = false
  /// Deleted; an import may bring one of the same uid.
  var isGone = false
  var wrongCodes = 0
  var blockedUntil: Instant?
  var temporary: (code: String, until: Instant)?
  /// Nil where none were made.
  var recovery: [String]?
  /// Codes that stood in once, or ended.
  var spent: [String] = []
  var usedReports: Set<String> = []
  var link: (code: String, era: Int, until: Instant)?
  var usedLinks: [String] = []
  /// Links that take a new factor away again.
  var reverts: [(code: String, factor: String)] = []

  var email: String { "\(uid)@example.com" }
  var password: Secret { Secret("\(uid)'s good password") }
  var id: ID<Account> { ID(uid) }
  var app: SimulatedFactor? { factors.first { $0.secret != nil } }

  func isBlocked(at now: Instant) -> Bool { blockedUntil.map { now < $0 } ?? false }

  /// The sessions are over, and so are credentials that wait.
  mutating func endSessions() {
    era += 1
    for index in sessions.indices { sessions[index].isAlive = false }
  }

  /// What follows from any change of the factors.
  mutating func reconcile() {
    endTemporary()
    if app == nil { endRecovery() }
  }

  mutating func endTemporary() {
    if let temporary { spent.append(temporary.code) }
    temporary = nil
  }

  mutating func endRecovery() {
    spent += recovery ?? []
    recovery = nil
  }

  /// The account goes, with all that there was of it.
  mutating func delete() {
    endSessions()
    endTemporary()
    endRecovery()
    endAparts()
    if let link { usedLinks.append(link.code) }
    for index in sessions.indices { sessions[index].isOfFormer = true }
    purged += factors
    (factors, ended, pending, link, usedReports) = ([], [], [], nil, [])
    (isProtected, isLocked, isDisabled, isGone) = (false, false, false, true)
    (wrongCodes, blockedUntil) = (0, nil)
  }

  /// Nothing that was removed before comes back.
  mutating func endAparts() {
    for apart in aparts {
      ended += apart.factors.map { (apart.id, $0) }
      purged += apart.factors
      purgedRemovals.append(apart.id)
    }
    aparts = []
  }

  /// Takes factors away for good, as far as nobody has set them apart.
  @discardableResult
  mutating func drop(_ ids: Set<String>, keepingApart: Bool = false) -> [SimulatedFactor] {
    let gone = factors.filter { ids.contains($0.id) }
    factors.removeAll { ids.contains($0.id) }
    if !keepingApart { purged += gone }
    (wrongCodes, blockedUntil) = (0, nil)
    reconcile()
    return gone
  }

  mutating func add(_ factor: SimulatedFactor) {
    factors.append(factor)
    endAparts()
    reconcile()
  }
}

/// What waits for a second administrator.
struct SimulatedApproval {
  let id: Int64
  let scope: Scope
  let requester: Int
  /// The user; nil for a list.
  let user: Int?
  let isOfAll: Bool
  let factors: Set<String>
  let allFactors: Set<String>
  let job: Int?
  let reason: SupportReason
  let expires: Instant
  var isOpen = true
}

/// A list of users.
struct SimulatedJob {
  enum State { case draft, waiting, running, over }

  struct Line {
    let number: Int
    let user: Int?
    let seen: Set<String>
    var result: String?
  }

  let id: Int64
  let scope: Scope
  let requester: Int
  let madeAt: Instant
  var state = State.draft
  var reason: SupportReason?
  var lines: [Line]
  var users: Int { open }
  private let open: Int

  init(id: Int64, scope: Scope, requester: Int, madeAt: Instant, lines: [Line]) {
    (self.id, self.scope, self.requester, self.madeAt) = (id, scope, requester, madeAt)
    self.lines = lines
    open = lines.count { $0.result == nil }
  }
}

extension OneTimePassword {
  static func code(of secret: Secret, step: Int64) throws -> String {
    guard let app = OneTimePassword(secret: secret) else { throw Unexpected("no secret") }
    return try app.code(step: step)
  }
}
