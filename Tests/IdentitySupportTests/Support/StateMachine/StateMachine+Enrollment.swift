import Crypto
import Database
import OTP

@testable import Identity
@testable import TestIdentity

/// Users' changes to their second factors.
extension StateMachine {
  /// Returns why a session can't change factors.
  private func fault(
    _ session: SimulatedSession, _ user: SimulatedUser, _ kind: Factor.Kind
  ) -> [String] {
    let faults = fault(of: session, user)
    if !faults.isEmpty { return faults }
    return user.isLocked ? ["changesLocked"] : []
  }

  /// Returns why a session can't enroll a factor or generate recovery codes.
  private func enrollmentFault(
    _ session: SimulatedSession, _ user: SimulatedUser, _ kind: Factor.Kind
  ) -> [String] {
    let faults = fault(session, user, kind)
    if !faults.isEmpty { return faults }
    let passed = session.session.secondFactor?.enrollment.text
    let suspended = user.factors.filter { $0.isSuspended(at: now) }.map(\.id)
    if suspended.isEmpty || session.usedBackupCode { return [] }
    let hasPassedOther = user.factors.contains { $0.id == passed && !suspended.contains($0.id) }
    return hasPassedOther ? [] : ["factorSuspended"]
  }

  /// Returns the error of a change of which no further alert can be sent, if the user's quota is used up.
  private func alertFault(_ user: SimulatedUser, _ error: String) async throws -> [String] {
    let (pool, id, now) = (user.pool, user.id, now)
    let until: Instant? = try await database.read { connection in
      guard let account = try AccountRecord.find(pool, id, connection) else { return nil }
      return try OwnChange.alert.exhausted(of: account.key, at: now, connection)
    }
    return until == nil ? [] : [error]
  }

  private func isFresh(_ session: SimulatedSession) -> Bool {
    now.seconds - (session.signedInAt ?? session.session.authTime) <= 300
  }

  /// Enrolls an app.
  func enrollApp(_ user: Int) async throws {
    guard let session = try await session(user) else { return }
    let sample = users[user]
    let isRight = dice.chance(85)
    var expectation = Expectation(name: "enroll of \(sample.uid)")
    expectation.refusals = enrollmentFault(session, sample, .totp)
    var isDone = false
    if expectation.refusals.isEmpty {
      if !isFresh(session) {
        expectation.refusals = ["signInTooOld"]
      } else if sample.app != nil {
        expectation.refusals = ["alreadyEnrolled"]
      } else if !isRight {
        expectation.refusals = ["invalidCode"]
      } else {
        expectation.refusals = try await alertFault(sample, "quotaExceeded")
        isDone = expectation.refusals.isEmpty
      }
      if isDone {
        expectation.rows = ["factor.enroll by user on \(sample.uid)"]
      }
    }
    var secret = Secret([])
    let step = now.seconds / 30
    let result = await attempt {
      let start = try await identity.enrollments.start(session.session)
      secret = Secret(Base32.decode(start.sharedSecret.revealedText) ?? [])
      return try await identity.enrollments.finalize(
        session.session, sessionInfo: start.sessionInfo,
        code: try TypedCode(OneTimePassword.code(of: secret, step: step - (isRight ? 0 : 50))),
        displayName: "phone", by: visitor(sample))
    }
    if isDone, case .success(let grant) = result {
      try await keepNew(
        grant, SimulatedFactor(id: "", secret: secret, enrolledAt: now, lastStep: step),
        in: session, user)
    }
    try await reconcile(expectation, result)
  }

  /// Adds a new factor.
  ///
  /// The session has it as its second factor, unless it had passed none of those that the user
  /// already had.
  private func keepNew(
    _ grant: SessionGrant, _ factor: SimulatedFactor, in old: SimulatedSession, _ user: Int
  ) async throws {
    var factor = factor
    let known = users[user].factors.map(\.id)
    let passed = old.session.secondFactor?.enrollment.text
    let hasPassed = known.isEmpty || passed.map(known.contains) ?? false
    guard let id = grant.account.factors.map(\.id.text).first(where: { !known.contains($0) }),
      grant.session.secondFactor?.enrollment.text == (hasPassed ? id : nil)
    else {
      throw Broken(what: "a session without the new factor, or with a factor it never passed")
    }
    factor = SimulatedFactor(
      id: id, secret: factor.secret, number: factor.number, enrolledAt: now,
      lastStep: factor.lastStep)
    users[user].add(factor)
    users[user].sessions.append(
      SimulatedSession(
        session: grant.session, token: grant.refreshToken, usedBackupCode: old.usedBackupCode,
        signedInAt: old.signedInAt ?? old.session.authTime))
    try await keepRevert(of: id, user)
  }

  private func keepRevert(of factor: String, _ user: Int) async throws {
    let mail = try await mails("revert-factor", to: users[user]).last
    guard let mail, let code = self.code(in: mail, "oobCode=") else {
      throw Broken(what: "no revert link was emailed")
    }
    users[user].reverts.append((code, factor))
  }

  /// Enrolls a phone.
  func enrollPhone(_ user: Int) async throws {
    guard let session = try await session(user), let number = dice.pick(StateMachineModel.numbers)
    else { return }
    let sample = users[user]
    var expectation = Expectation(name: "enroll-phone of \(sample.uid)")
    expectation.refusals = enrollmentFault(session, sample, .phone)
    var isDone = false
    if expectation.refusals.isEmpty {
      if sample.factors.contains(where: { $0.number == number }) {
        expectation.refusals = ["phoneAlreadyEnrolled"]
      } else if sample.factors.count(where: { $0.number != nil }) >= 5 {
        expectation.refusals = ["tooManyFactors"]
      } else {
        expectation.refusals = try await alertFault(sample, "quotaExceeded")
        isDone = expectation.refusals.isEmpty
      }
      if isDone {
        expectation.rows = ["factor.enroll by user on \(sample.uid)"]
      }
    }
    let result = await attempt {
      let info = try await identity.enrollments.startPhone(
        session.session,
        PhoneRequest(
          phoneNumber: number, language: "en", address: ClientAddress(seen: Self.address)))
      return try await identity.enrollments.finalizePhone(
        session.session, .code(sessionInfo: info, code: TypedCode(Instance.code)), displayName: nil,
        by: visitor(sample))
    }
    if isDone, case .success(let grant) = result {
      try await keepNew(
        grant, SimulatedFactor(id: "", number: number, enrolledAt: now), in: session, user)
    }
    try await reconcile(expectation, result)
  }

  /// Unenrolls the user's own factor.
  func withdraw(_ user: Int) async throws {
    guard let session = try await session(user) else { return }
    let sample = users[user]
    let gone = sample.purged + sample.removals.flatMap(\.factors)
    let factor = dice.chance(85) ? dice.pick(sample.factors) : dice.pick(gone)
    let id = factor?.id ?? "none"
    let isThere = sample.factors.contains { $0.id == id }
    var expectation = Expectation(name: "withdraw of \(sample.uid)")
    expectation.refusals = fault(session, sample, .totp)
    let passed = session.session.secondFactor?.enrollment.text
    if expectation.refusals.isEmpty {
      if !sample.factors.isEmpty, !sample.factors.contains(where: { $0.id == passed }) {
        expectation.refusals = ["secondFactorNeeded"]
      } else if !isThere {
        expectation.refusals = ["enrollmentNotFound"]
      } else if factor?.isSuspended(at: now) ?? false {
        expectation.refusals = ["factorSuspended"]
      }
      if expectation.refusals.isEmpty {
        expectation.rows = ["factor.withdraw by user on \(sample.uid)"]
      }
    }
    let result = await attempt {
      try await identity.enrollments.withdraw(
        session.session, enrollment: id, by: visitor(sample))
    }
    if expectation.refusals.isEmpty, case .success(let grant) = result {
      users[user].drop([id])
      users[user].endSessions()
      if let grant {
        users[user].sessions.append(
          SimulatedSession(
            session: grant.session, token: grant.refreshToken,
            usedBackupCode: session.usedBackupCode,
            signedInAt: session.signedInAt ?? session.session.authTime))
      }
    }
    try await reconcile(expectation, result)
  }

  /// Generates recovery codes.
  func makeRecoveryCodes(_ user: Int) async throws {
    guard let session = try await session(user) else { return }
    let sample = users[user]
    var expectation = Expectation(name: "recovery-codes of \(sample.uid)")
    expectation.refusals = enrollmentFault(session, sample, .totp)
    let passed = session.session.secondFactor?.enrollment.text
    if expectation.refusals.isEmpty {
      if !(settings[sample.pool.key] ?? SupportRules()).recoveryCodes {
        expectation.refusals = ["recoveryCodesNotEnabled"]
      } else if sample.app == nil {
        expectation.refusals = ["enrollmentNotFound"]
      } else if session.usedBackupCode || !sample.factors.contains(where: { $0.id == passed }) {
        expectation.refusals = ["secondFactorNeeded"]
      } else if !isFresh(session) {
        expectation.refusals = ["signInTooOld"]
      } else {
        expectation.refusals = try await alertFault(sample, "tooManyChanges")
      }
      if expectation.refusals.isEmpty {
        expectation.rows = ["factor.recovery-codes by user on \(sample.uid)"]
      }
    }
    let result = await attempt {
      try await identity.enrollments.makeRecoveryCodes(session.session, by: visitor(sample))
    }
    if expectation.refusals.isEmpty, case .success(let codes) = result {
      users[user].endRecovery()
      users[user].recovery = codes.map(\.revealedText)
    }
    try await reconcile(expectation, result)
  }

  // MARK: - Links in emails

  /// Enrolls an app with the link that an agent sent.
  func useLink(_ user: Int) async throws {
    let sample = users[user]
    let old = dice.chance(15) ? dice.pick(sample.usedLinks) : nil
    guard let code = old ?? sample.link?.code else { return }
    let isRight = dice.chance(90)
    var expectation = Expectation(name: "link of \(sample.uid)")
    if old != nil {
      expectation.refusals = ["used", "unknown"]
    } else if let link = sample.link, link.era != sample.era {
      // A report has used it up too.
      expectation.refusals = ["unknown", "used"]
    } else if sample.isDisabled {
      expectation.refusals = ["disabled"]
    } else if sample.app != nil || sample.factors.count >= 5 || sample.isLocked {
      expectation.refusals = ["refused", "used"]
    } else if let link = sample.link, now >= link.until {
      expectation.refusals = ["expired", "used"]
    } else if !isRight {
      expectation.refusals = ["wrongCode", "tooManyCodes", "used"]
    } else {
      expectation.refusals = try await alertFault(sample, "refused")
    }
    if expectation.refusals.isEmpty {
      expectation.rows = ["factor.enroll by user on \(sample.uid)"]
    }
    var secret = Secret([])
    let step = now.seconds / 30
    let result = await attempt {
      let enrollment = try await identity.enrollmentLinks.open(code)
      secret = Secret(Base32.decode(enrollment.key.revealedText) ?? [])
      return try await identity.enrollmentLinks.finish(
        code, ticket: enrollment.ticket.revealedText,
        typed: try TypedCode(OneTimePassword.code(of: secret, step: step - (isRight ? 0 : 50))),
        displayName: "", by: Author(actor: .visitor))
    }
    if expectation.refusals.isEmpty, case .success = result {
      let account = try await identity.accounts.find(sample.pool, sample.id)
      guard let factor = account?.factors.last else { throw Broken(what: "no factor was enrolled") }
      users[user].add(
        SimulatedFactor(id: factor.id.text, secret: secret, enrolledAt: now, lastStep: step))
      users[user].usedLinks.append(code)
      users[user].link = nil
      try await keepRevert(of: factor.id.text, user)
    }
    try await reconcile(expectation, result)
  }

  /// Unenrolls a new factor with the link in the email that announced it.
  func revert(_ user: Int) async throws {
    let sample = users[user]
    guard let index = sample.reverts.indices.randomElement(using: &dice) else { return }
    let (code, factor) = sample.reverts[index]
    var expectation = Expectation(name: "revert of \(sample.uid)")
    let new = sample.factors.first { $0.id == factor }
    let isSuspended = new?.isSuspended(at: now) ?? false
    let isRemovable = new != nil && !isSuspended
    let result = await attempt {
      try await identity.outOfBandCodes.apply(code, by: Author(actor: .visitor))
    }
    if case .success = result {
      guard isRemovable else { throw Broken(what: "a factor was reverted") }
      expectation.rows = ["factor.revert by user on \(sample.uid)"]
      users[user].drop([factor])
      users[user].endRecovery()
      users[user].endSessions()
    } else {
      expectation.refusals = [
        "changesLocked", "invalidCode", "usedCode", "expiredCode", "userDisabled",
      ]
      if isSuspended { expectation.refusals.append("factorSuspended") }
      if isRemovable, !sample.isDisabled, !sample.isLocked {
        expectation.refusals = ["expiredCode", "usedCode"]
      }
    }
    try await reconcile(expectation, result)
  }

  /// Reports a change that the user didn't make, with the link in an email.
  func object(_ user: Int) async throws {
    let sample = users[user]
    let notices = try await mails("notice", to: sample)
    let codes = notices.compactMap { self.code(in: $0, "/__/auth/not-me?code=") }
    guard let code = dice.pick(codes) else { return }
    let digest = Store.digest(code)
    let kept = try await database.read { connection in
      try connection.first(
        "SELECT /* test */ used_at, expires_at FROM user_link WHERE link_digest = \(digest)"
      ) { (try $0.next() as Int64?, try $0.next() as Int64) }
    }
    var expectation = Expectation(name: "not-me of \(sample.uid)")
    if sample.usedReports.contains(code) || kept?.0 != nil {
      expectation.refusals = ["used"]
    } else if now.microseconds >= kept?.1 ?? 0 {
      expectation.refusals = ["expired", "unknown"]
    } else {
      expectation.rows = ["factor.report by user on \(sample.uid)"]
    }
    let result = await attempt {
      try await identity.reportedChanges.object(code, by: Author(actor: .visitor))
    }
    if expectation.refusals.isEmpty, case .success = result {
      users[user].usedReports.formUnion(codes)
      if let link = sample.link { users[user].usedLinks.append(link.code) }
      users[user].link = nil
      users[user].endTemporary()
      users[user].endRecovery()
      users[user].endSessions()
      (users[user].isLocked, users[user].isSignInLocked) = (true, true)
    }
    try await reconcile(expectation, result)
  }

  /// Returns the emails to a user whose purpose has a prefix, oldest first.
  func mails(_ purpose: String, to user: SimulatedUser) async throws -> [String] {
    let outbox = identity.store.outbox
    let email = user.email
    return try await database.read { connection in
      try connection.all(
        """
        SELECT /* test */ sealed_text, created_at FROM outbox
        WHERE channel = 'mail' AND recipient = \(email) AND sealed_text IS NOT NULL
          AND substr(purpose, 1, \(purpose.count)) = \(purpose)
        ORDER BY message_id DESC LIMIT 8
        """
      ) { row in
        try outbox.open(
          try row.next(), recipient: email,
          createdAt: try row.next()
        ).body
      }
    }.reversed()
  }

  /// Returns the text after part of a link, up to the next parameter or the end of the line.
  func code(in mail: String, _ beginning: String) -> String? {
    guard let start = mail.firstRange(of: beginning)?.upperBound else { return nil }
    return String(mail[start...].prefix { !$0.isWhitespace && $0 != "&" })
  }
}
