import Crypto
import OTP

@testable import Identity
@testable import TestIdentity

/// The model of an administrator.
struct SimulatedAgent {
  let name: String
  let administrator: Administrator
  var grants: Set<Grant>
  /// Whether they were removed, though a page of theirs may still be open.
  var isRemoved = false
  let secret: Secret
  var session: ConsoleSession
  /// The time of their last accepted code.
  var provedAt: Instant
  var lastStep: Int64
  var wrongCodes = 0
  /// The times of their actions, by pool key.
  var acts: [Int64: [Instant]] = [:]
  var heldIn: Set<Int64> = []

  var id: String { administrator.id.text }
  var author: Author { administrator.author(address: "198.51.100.7", requestID: "request-1") }

  /// Returns whether a role permits an action, independent of the product's table of roles.
  func may(_ permission: Permission, in pool: Pool) -> Bool {
    grants.contains { grant in
      guard grant.project == nil || grant.project == pool.project else { return false }
      guard grant.tenant == nil || grant.tenant == pool.tenant else { return false }
      return switch grant.role {
      case .owner: true
      case .support: [.removeFactors, .endSessions].contains(permission)
      case .policy: permission == .editSupportRules
      case .auditor: false
      }
    }
  }

  /// Whether they can manage administrators.
  var isOwner: Bool { grants.contains { $0.role == .owner && $0.project == nil } }

  func code(step: Int64) throws -> String { try OneTimePassword.code(of: secret, step: step) }
}

/// The model of a second factor.
struct SimulatedFactor {
  let id: String
  /// Nil for a phone.
  var secret: Secret?
  /// Nil for an app.
  var number: String?
  var enrolledAt: Instant
  var lastStep: Int64?
  var suspendedUntil: Instant?
  /// The name set by support, or nil if it was never renamed.
  var name: String?

  func isSuspended(at now: Instant) -> Bool { suspendedUntil.map { now < $0 } ?? false }

  func code(step: Int64) throws -> String {
    guard let secret else { throw Unexpected("a phone has no codes") }
    return try OneTimePassword.code(of: secret, step: step)
  }
}

/// The model of a removal that can be undone.
struct SimulatedRemoval {
  let id: ID<RemovalHold>
  let remover: String
  let until: Instant
  let factors: [SimulatedFactor]
}

/// The model of a user's session, ended or not.
struct SimulatedSession {
  let session: UserSession
  let token: String
  /// Whether a backup code stood in for the second factor.
  var usedBackupCode = false
  /// When the user signed in, in seconds, if the session continues another one.
  var signedInAt: Int64?
  var isAlive = true
  /// Whether its account was deleted since.
  var isOfFormer = false
}

/// The model of a pending credential.
struct SimulatedPending {
  let credential: String
  /// The generation of the account's sessions that it was issued in.
  let era: Int
  let at: Instant
  var isUsed = false
}

/// The model of a user: the expected state.
struct SimulatedUser {
  let uid: String
  let pool: Pool
  var factors: [SimulatedFactor] = []
  var removals: [SimulatedRemoval] = []
  /// Factors whose secret is deleted and whose audit row the next purge writes.
  var ended: [(removal: ID<RemovalHold>, factor: SimulatedFactor)] = []
  /// Factors that are never accepted again.
  var purged: [SimulatedFactor] = []
  /// Removals that can never be undone.
  var purgedRemovals: [ID<RemovalHold>] = []
  var sessions: [SimulatedSession] = []
  var pending: [SimulatedPending] = []
  /// The session generation, which rises each time all sessions are ended.
  var era = 0
  var isProtected = false
  var isLocked = false
  /// Whether they reported a change: no one resets a password here.
  var isSignInLocked = false
  var isDisabled = false
  /// Whether they were deleted; an import may create a user with the same UID.
  var isGone = false
  var wrongCodes = 0
  var blockedUntil: Instant?
  var temporary: (code: String, until: Instant)?
  /// Nil if none were generated.
  var recovery: [String]?
  /// Backup codes that were used or revoked.
  var spent: [String] = []
  var usedReports: Set<String> = []
  var link: (code: String, era: Int, until: Instant)?
  var usedLinks: [String] = []
  /// Links that unenroll a new factor.
  var reverts: [(code: String, factor: String)] = []

  var email: String { "\(uid)@example.com" }
  var password: Secret { Secret("\(uid)'s good password") }
  var id: ID<Account> { ID(uid) }
  var app: SimulatedFactor? { factors.first { $0.secret != nil } }

  func isBlocked(at now: Instant) -> Bool { blockedUntil.map { now < $0 } ?? false }

  /// Ends all sessions and pending credentials.
  mutating func endSessions() {
    era += 1
    for index in sessions.indices { sessions[index].isAlive = false }
  }

  /// Applies the effects of any change to the factors.
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

  /// Deletes the account with all its data.
  mutating func delete() {
    endSessions()
    endTemporary()
    endRecovery()
    endRemovals()
    if let link { usedLinks.append(link.code) }
    for index in sessions.indices { sessions[index].isOfFormer = true }
    purged += factors
    (factors, ended, pending, link, usedReports) = ([], [], [], nil, [])
    (isProtected, isLocked, isDisabled, isGone) = (false, false, false, true)
    isSignInLocked = false
    (wrongCodes, blockedUntil) = (0, nil)
  }

  /// Makes earlier removals final.
  mutating func endRemovals() {
    for removal in removals {
      ended += removal.factors.map { (removal.id, $0) }
      purged += removal.factors
      purgedRemovals.append(removal.id)
    }
    removals = []
  }

  /// Purges factors, except those held for an undo.
  @discardableResult
  mutating func drop(_ ids: Set<String>, heldForUndo: Bool = false) -> [SimulatedFactor] {
    let gone = factors.filter { ids.contains($0.id) }
    factors.removeAll { ids.contains($0.id) }
    if !heldForUndo { purged += gone }
    (wrongCodes, blockedUntil) = (0, nil)
    reconcile()
    return gone
  }

  mutating func add(_ factor: SimulatedFactor) {
    factors.append(factor)
    endRemovals()
    reconcile()
  }
}

/// The model of an approval request.
struct SimulatedApproval {
  let id: Int64
  let pool: Pool
  let requester: Int
  /// The user, or nil for a bulk removal.
  let user: Int?
  let isOfAll: Bool
  let factors: Set<String>
  let allFactors: Set<String>
  let job: Int?
  let reason: SupportReason
  let expires: Instant
  var isOpen = true
}

/// The model of a bulk removal.
struct SimulatedJob {
  enum State { case draft, waiting, running, over }

  struct Line {
    let number: Int
    let user: Int?
    let seen: Set<String>
    var result: String?
  }

  let id: Int64
  let pool: Pool
  let requester: Int
  let madeAt: Instant
  var state = State.draft
  var reason: SupportReason?
  var lines: [Line]
  var users: Int { open }
  private let open: Int

  init(id: Int64, pool: Pool, requester: Int, madeAt: Instant, lines: [Line]) {
    (self.id, self.pool, self.requester, self.madeAt) = (id, pool, requester, madeAt)
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
