import Crypto
import Database
import OTP

@testable import Identity
@testable import TestIdentity

/// Actions of users, and of attackers with their devices.
extension StateMachine {
  static let address = "203.0.113.5"

  func visitor(_ user: SimulatedUser) -> Author {
    Author(actor: .user(user.id), address: Self.address, requestID: "request-3")
  }

  // MARK: - Signing in

  /// Signs in with a password.
  func signIn(_ user: Int) async throws {
    let sample = users[user]
    var expectation = Expectation(name: "password of \(sample.uid)")
    if sample.isDisabled || sample.isSignInLocked { expectation.refusals = ["userDisabled"] }
    let result = await attempt {
      try await identity.signIns.password(
        sample.pool, email: sample.email, password: sample.password,
        address: ClientAddress(seen: Self.address))
    }
    if case .success(let outcome) = result {
      switch outcome {
      case .signedIn(let grant):
        guard sample.factors.isEmpty else { throw Broken(what: "no second factor is required") }
        begin(grant, user)
      case .secondFactorDue(_, let credential, let factors):
        guard Set(factors.map(\.id.text)) == Set(sample.factors.map(\.id)) else {
          throw Broken(what: "different factors are required")
        }
        users[user].pending.append(
          SimulatedPending(credential: credential, era: sample.era, at: now))
      case .enrollmentRequired: throw Broken(what: "the sign-in was refused")
      }
    }
    try await reconcile(expectation, result)
  }

  private func begin(_ grant: SessionGrant, _ user: Int) {
    users[user].sessions.append(
      SimulatedSession(session: grant.session, token: grant.refreshToken))
  }

  /// The kinds of codes entered at a sign-in.
  enum Typed {
    case right, near, wrong, replayed, purged, temporary, recovery, spent
  }

  /// Returns the index of a new or an earlier pending credential.
  private func pending(_ user: Int) async throws -> Int? {
    if users[user].pending.isEmpty || dice.chance(75) {
      try await signIn(user)
      return users[user].pending.indices.last
    }
    return users[user].pending.indices.randomElement(using: &dice)
  }

  /// Returns why a pending credential isn't valid, or nothing if it is.
  private func fault(
    of pending: SimulatedPending, _ user: Int, lifetime: Int64, factor: String, unknown: String
  ) -> [String] {
    if now > pending.at.advanced(bySeconds: lifetime) {
      return ["pendingExpired", "phonePendingExpired"]
    }
    if users[user].isDisabled { return ["userDisabled"] }
    if !users[user].factors.contains(where: { $0.id == factor }) { return [unknown] }
    return pending.era == users[user].era && !pending.isUsed ? [] : ["invalidPendingCredential"]
  }

  /// Enters an app code or a backup code.
  func giveCode(_ user: Int, _ kind: Typed? = nil) async throws {
    guard let place = try await pending(user) else { return }
    let sample = users[user]
    let credential = sample.pending[place]
    let removed = sample.removals.flatMap(\.factors)
    let other = kind == nil && dice.chance(12) ? dice.pick(sample.purged + removed) : nil
    let target = other?.id ?? sample.app?.id ?? dice.pick(sample.factors)?.id ?? "none"
    let typed = try code(for: sample, kind)
    var expectation = Expectation(name: "code (\(typed.words)) of \(sample.uid)")
    expectation.refusals = fault(
      of: credential, user, lifetime: 300, factor: target, unknown: "invalidEnrollment")
    var isDone = false
    if expectation.refusals.isEmpty {
      if target != sample.app?.id {
        expectation.refusals = ["invalidEnrollment"]
      } else if sample.isBlocked(at: now) {
        expectation.refusals = ["quotaExceeded"]
      } else if typed.passes {
        isDone = true
        if let row = typed.row { expectation.rows = ["\(row) by user on \(sample.uid)"] }
      } else if typed.isOfSuspended {
        // It's rejected and used up.
        expectation.refusals = ["invalidCode"]
        expectation.changes = ["factor"]
        if let step = typed.step { setStep(step, of: target, user) }
      } else {
        expectation.refusals = [failCode(user)]
      }
    }
    let result = await attempt {
      try await identity.signIns.finalize(
        project: sample.pool.project, tenant: sample.pool.tenant,
        pendingCredential: credential.credential, enrollment: target, code: TypedCode(typed.text),
        by: Author(actor: .visitor))
    }
    if isDone, case .success(let grant) = result {
      passCode(user, place, grant)
      users[user].sessions[users[user].sessions.count - 1].usedBackupCode = typed.row != nil
      if let step = typed.step { setStep(step, of: target, user) }
      if typed.row == "factor.use-temporary-code" { users[user].endTemporary() }
      if typed.row == "factor.use-recovery-code" {
        users[user].recovery?.removeAll { $0 == typed.text }
        users[user].spent.append(typed.text)
      }
    }
    try await reconcile(expectation, result)
  }

  /// A code entered at a sign-in, with its expected effects.
  private struct EnteredCode {
    var words: String
    var text: String
    var passes = false
    /// Whether it's a correct code of a suspended app.
    var isOfSuspended = false
    var step: Int64?
    var row: String?
  }

  private func code(for user: SimulatedUser, _ kind: Typed?) throws -> EnteredCode {
    let settings = settings[user.pool.key] ?? SupportRules()
    let step = now.seconds / 30
    let removed = user.removals.flatMap(\.factors)
    let app = user.app
    let last = app?.lastStep ?? 0
    let isSuspended = app?.isSuspended(at: now) ?? false
    let wrong = EnteredCode(words: "wrong", text: try wrongCode(for: user, step))
    var kinds: [(Typed, Int)] = [
      (.right, 40), (.near, 6), (.wrong, 10), (.replayed, 8), (.purged, 12), (.spent, 6),
    ]
    if user.temporary != nil { kinds.append((.temporary, 25)) }
    if user.recovery != nil { kinds.append((.recovery, 25)) }
    switch kind ?? dice.pick(weighted: kinds) ?? .wrong {
    case .right:
      let free = (step - 5...step + 5).filter { $0 > last }
      guard let app,
        let step = dice.chance(70) ? free.first(where: { $0 >= step }) : dice.pick(free)
      else {
        return wrong
      }
      return EnteredCode(
        words: isSuspended ? "of a suspended app" : "right", text: try app.code(step: step),
        passes: !isSuspended, isOfSuspended: isSuspended, step: step)
    case .near:
      guard let app, let offset = dice.pick([-10, -8, -6, 6, 7, 10] as [Int64]) else {
        return wrong
      }
      return EnteredCode(words: "near", text: try app.code(step: step + offset))
    case .replayed:
      guard let app, last >= step - 5 else { return wrong }
      return EnteredCode(
        words: "replayed", text: try app.code(step: last), isOfSuspended: isSuspended)
    case .purged:
      guard let old = dice.pick((user.purged + removed).filter { $0.secret != nil }) else {
        return wrong
      }
      return EnteredCode(words: "of an app that is gone", text: try old.code(step: step))
    case .wrong: return wrong
    case .temporary:
      guard let (code, until) = user.temporary else { return wrong }
      let passes = settings.temporaryCodes && now < until
      return EnteredCode(
        words: "temporary", text: code, passes: passes,
        row: passes ? "factor.use-temporary-code" : nil)
    case .recovery:
      guard let code = dice.pick(user.recovery ?? []) else { return wrong }
      let passes = settings.recoveryCodes
      return EnteredCode(
        words: "recovery", text: code, passes: passes,
        row: passes ? "factor.use-recovery-code" : nil)
    case .spent:
      guard let code = dice.pick(user.spent) else { return wrong }
      return EnteredCode(words: "spent", text: code)
    }
  }

  private func wrongCode(for user: SimulatedUser, _ step: Int64) throws -> String {
    var near: Set<String> = []
    if let app = user.app {
      for offset in -12...12 { near.insert(try app.code(step: step + Int64(offset))) }
    }
    return (0...30).map { String(100_000 + $0) }.first { !near.contains($0) } ?? "100031"
  }

  /// Counts a wrong code and returns the expected error.
  private func failCode(_ user: Int) -> String {
    users[user].wrongCodes += 1
    let cap = (settings[users[user].pool.key] ?? SupportRules()).codeCap
    let wrong = users[user].wrongCodes
    guard let until = CodeLock.end(afterWrongCodes: wrong, cap: cap, at: now) else {
      return "invalidCode"
    }
    users[user].blockedUntil = until
    return "quotaExceeded"
  }

  private func passCode(_ user: Int, _ place: Int, _ grant: SessionGrant) {
    (users[user].wrongCodes, users[user].blockedUntil) = (0, nil)
    users[user].pending[place].isUsed = true
    begin(grant, user)
  }

  private func setStep(_ step: Int64, of factor: String, _ user: Int) {
    for index in users[user].factors.indices where users[user].factors[index].id == factor {
      users[user].factors[index].lastStep = step
    }
  }

  /// Enters a code that was sent to a phone.
  func giveSMS(_ user: Int) async throws {
    guard let place = try await pending(user) else { return }
    let sample = users[user]
    let credential = sample.pending[place]
    let gone = dice.chance(10) ? dice.pick(sample.purged.filter { $0.number != nil }) : nil
    let factor = gone ?? dice.pick(sample.factors.filter { $0.number != nil })
    let target = factor?.id ?? "none"
    let isRight = dice.chance(75)
    let isSuspended = factor?.isSuspended(at: now) ?? false
    var expectation = Expectation(
      name: "sms (\(isRight ? "right" : "wrong")\(isSuspended ? ", suspended" : "")) "
        + "of \(sample.uid)")
    expectation.refusals = fault(
      of: credential, user, lifetime: 600, factor: target, unknown: "enrollmentNotFound")
    var isDone = false
    if expectation.refusals.isEmpty {
      if sample.isBlocked(at: now) {
        expectation.refusals = ["quotaExceeded"]
      } else if isRight, !isSuspended {
        isDone = true
      } else if isRight {
        expectation.refusals = ["invalidCode"]
      } else {
        expectation.refusals = [failCode(user)]
      }
    }
    let code = isRight ? Instance.code : "000000"
    let result = await attempt {
      let info = try await identity.signIns.startPhone(
        project: sample.pool.project, tenant: sample.pool.tenant,
        pendingCredential: credential.credential, enrollment: target, language: "en",
        address: ClientAddress(seen: Self.address))
      return try await identity.signIns.finalizePhone(
        project: sample.pool.project, tenant: sample.pool.tenant,
        pendingCredential: credential.credential, .code(sessionInfo: info, code: TypedCode(code)))
    }
    if isDone, case .success(let grant) = result { passCode(user, place, grant) }
    try await reconcile(expectation, result)
  }

  /// Enters codes of a suspended app, and enters them again when the suspension ends.
  func seeSuspensionEnd() async throws {
    let suspended = users.indices.filter { !users[$0].isGone && until(users[$0]) != nil }
    guard let user = dice.pick(suspended), let until = until(users[user]) else {
      return try await suspend()
    }
    let before = until.seconds - now.seconds - Int64(dice.pick([1, 20, 60]) ?? 1)
    if before > 0 { clock.advance(before) }
    try await keepAwake()
    for _ in 0..<(1 + dice.below(3)) { try await giveCode(user, .right) }
    try await giveCode(user, dice.pick([.temporary, .recovery, .wrong, .replayed]))
    clock.advance(max(0, until.seconds - now.seconds))
    trail.append("it is \(now.rfc3339)")
    try await keepAwake()
    try await giveCode(user, .replayed)
    try await giveCode(user, .right)
  }

  private func until(_ user: SimulatedUser) -> Instant? {
    user.app.flatMap { $0.isSuspended(at: now) ? $0.suspendedUntil : nil }
  }

  /// Enters a code of a purged factor, with the factor's ID.
  func givePurged(_ factor: SimulatedFactor, _ user: Int) async throws {
    try await signIn(user)
    guard let credential = users[user].pending.last else { return }
    let sample = users[user]
    var expectation = Expectation(name: "gone-for-good of \(sample.uid)")
    expectation.refusals = fault(
      of: credential, user, lifetime: 300, factor: factor.id, unknown: "invalidEnrollment")
    let code = factor.secret == nil ? Instance.code : try factor.code(step: now.seconds / 30)
    let result = await attempt {
      try await identity.signIns.finalize(
        project: sample.pool.project, tenant: sample.pool.tenant,
        pendingCredential: credential.credential, enrollment: factor.id, code: TypedCode(code))
    }
    try await reconcile(expectation, result)
  }

  // MARK: - Sessions

  /// Returns why a session isn't valid, or nothing if it is.
  func fault(of session: SimulatedSession, _ user: SimulatedUser) -> [String] {
    if user.isGone { return ["userNotFound", "invalidRefreshToken"] }
    var faults = session.isAlive ? [] : ["tokenExpired", "invalidRefreshToken"]
    if session.isOfFormer { faults.append("userNotFound") }
    return user.isDisabled ? faults + ["userDisabled"] : faults
  }

  /// Refreshes a session's tokens, or looks up the user with its ID token.
  func useSession(_ user: Int, _ place: Int? = nil) async throws {
    let sample = users[user]
    guard let session = place.map({ sample.sessions[$0] }) ?? dice.pick(sample.sessions) else {
      return
    }
    var expectation = Expectation(name: "refresh of \(sample.uid)")
    expectation.refusals = fault(of: session, sample)
    let refreshed = await attempt {
      try await identity.sessions.refresh(session.token, project: sample.pool.project)
    }
    try await reconcile(expectation, refreshed)
    expectation = Expectation(name: "lookup of \(sample.uid)")
    expectation.refusals = fault(of: session, sample)
    let checked = await attempt { try await identity.sessions.check(session.session) }
    try await reconcile(expectation, checked)
  }

  /// Returns one of the user's sessions, usually a valid one, or nil if there never was one.
  func session(_ user: Int) async throws -> SimulatedSession? {
    let alive = users[user].sessions.filter(\.isAlive)
    if alive.isEmpty || dice.chance(40) {
      try await users[user].app != nil && dice.chance(70)
        ? giveCode(user)
        : users[user].factors.contains { $0.number != nil } ? giveSMS(user) : signIn(user)
    }
    if dice.chance(90), let last = users[user].sessions.last(where: \.isAlive) { return last }
    return dice.pick(users[user].sessions)
  }
}
