import Crypto
import Database

@testable import Identity
@testable import TestIdentity

/// Support actions on a whole account.
extension StateMachine {
  func unlock() async throws {
    let user = anyUser { $0.wrongCodes > 0 }
    let agent = anyAgent(.removeFactors, on: user)
    let sample = users[user]
    try await act(
      "unlock", row: "account.unlock", by: agent, on: user,
      obstacle: { _ in
        sample.wrongCodes > 0 || sample.isBlocked(at: now) ? nil : "nothingToDo"
      },
      { try await identity.support.unlock(sample.pool, sample.id, $0) },
      then: { _, _ in (users[user].wrongCodes, users[user].blockedUntil) = (0, nil) })
  }

  func endSessions() async throws {
    let user = anyUser()
    let agent = anyAgent(.endSessions, on: user)
    let sample = users[user]
    try await act(
      "end-sessions", row: "sessions.end", by: agent, on: user, needing: .endSessions,
      passingLock: true, { try await identity.support.endSessions(sample.pool, sample.id, $0) },
      then: { count, _ in
        guard count.sessions == sample.sessions.count(where: \.isAlive) else {
          throw Broken(what: "\(count) sessions ended")
        }
        users[user].endSessions()
      })
  }

  func protect() async throws {
    let user = anyUser()
    let agent = anyAgent(.protectUsers, on: user)
    let sample = users[user]
    let isProtected = sample.isProtected ? dice.chance(15) : dice.chance(70)
    try await act(
      isProtected ? "protect" : "unprotect",
      row: isProtected ? "account.protect" : "account.unprotect", by: agent, on: user,
      needing: .protectUsers, passingLock: true,
      obstacle: { _ in sample.isProtected == isProtected ? "nothingToDo" : nil },
      { try await identity.support.protect(sample.pool, sample.id, isProtected, $0) },
      then: { _, _ in users[user].isProtected = isProtected })
  }

  func allowChanges() async throws {
    let user = anyUser { $0.isLocked }
    let agent = anyAgent(.protectUsers, on: user)
    let sample = users[user]
    try await act(
      "allow-changes", row: "account.allow-changes", by: agent, on: user, needing: .protectUsers,
      passingLock: true, obstacle: { _ in sample.isLocked ? nil : "nothingToDo" },
      { try await identity.support.allowChanges(sample.pool, sample.id, $0) },
      then: { _, _ in (users[user].isLocked, users[user].isSignInLocked) = (false, false) })
  }

  func disable() async throws {
    let user = anyUser()
    let agent = anyAgent(.changeUsers, on: user)
    let sample = users[user]
    try await act(
      "disable", row: "account.change", by: agent, on: user, needing: .changeUsers,
      passingLock: true, obstacle: { _ in sample.isDisabled ? "nothingToDo" : nil },
      { try await identity.support.disable(sample.pool, sample.id, $0) },
      then: { _, _ in
        users[user].isDisabled = true
        users[user].endSessions()
      })
  }

  func enable() async throws {
    let user = anyUser { $0.isDisabled }
    let agent = anyAgent(.changeUsers, on: user)
    let sample = users[user]
    try await act(
      "enable", row: "account.change", by: agent, on: user, needing: .changeUsers,
      passingLock: true, obstacle: { _ in sample.isDisabled ? nil : "nothingToDo" },
      { try await identity.support.enable(sample.pool, sample.id, $0) },
      then: { _, _ in users[user].isDisabled = false })
  }

  // MARK: - Backup codes and enrollment links

  func makeTemporaryCode() async throws {
    let user = anyUser()
    let agent = anyAgent(.removeFactors, on: user)
    let sample = users[user]
    let isOn = (settings[sample.pool.key] ?? SupportRules()).temporaryCodes
    try await act(
      "temporary-code", row: "factor.temporary-code", by: agent, on: user,
      obstacle: { _ in
        !isOn ? "switchedOff" : sample.app == nil ? "noAuthenticator" : nil
      },
      {
        try await identity.backupCodes.makeTemporaryCode(
          $0, for: sample.id, in: sample.pool, hours: dice.pick(BackupCodes.hours) ?? 1)
      },
      then: { created, _ in
        users[user].endTemporary()
        users[user].temporary = (created.code.revealedText, created.expiresAt)
      })
  }

  func revokeBackupCodes() async throws {
    let user = anyUser { $0.temporary != nil || $0.recovery != nil }
    let agent = anyAgent(.removeFactors, on: user)
    let sample = users[user]
    let isTemporary = sample.recovery == nil || dice.chance(30)
    let isThere =
      isTemporary ? sample.temporary.map { now < $0.until } ?? false : sample.recovery != nil
    try await act(
      isTemporary ? "end-temporary-code" : "end-recovery-codes",
      row: isTemporary ? "factor.end-temporary-code" : "factor.end-recovery-codes", by: agent,
      on: user, obstacle: { _ in isThere ? nil : "noCodes" },
      { request in
        isTemporary
          ? try await identity.backupCodes.endTemporaryCode(
            request, of: sample.id, in: sample.pool)
          : try await identity.backupCodes.endRecoveryCodes(
            request, of: sample.id, in: sample.pool)
      },
      then: { _, _ in
        if isTemporary { users[user].endTemporary() } else { users[user].endRecovery() }
      })
  }

  func sendLink() async throws {
    let user = anyUser { $0.app == nil }
    let agent = anyAgent(.removeFactors, on: user)
    let sample = users[user]
    var sent = false
    try await act(
      "send-link", row: "factor.send-link", by: agent, on: user,
      obstacle: { _ in
        sample.app != nil
          ? "enrollment.alreadyEnrolled"
          : sample.isDisabled ? "userDisabled" : nil
      },
      { try await identity.enrollmentLinks.send($0, to: sample.id, in: sample.pool) },
      then: { _, _ in sent = true })
    guard sent else { return }
    if let link = sample.link { users[user].usedLinks.append(link.code) }
    let mail = try await mails("enrollment-link", to: sample).last
    let code = mail.flatMap { self.code(in: $0, "/__/auth/enroll?code=") }
    guard let code else { throw Broken(what: "no link was emailed") }
    users[user].link = (code, sample.era, now.advanced(bySeconds: 1_800))
  }

  // MARK: - The application's backend

  /// Changes an account with the application's API calls.
  func change() async throws {
    let user = anyUser()
    let sample = users[user]
    var change = AccountChange()
    var (gone, added): (Set<String>, String?) = ([], nil)
    var (changesFactors, changesPassword) = (true, false)
    switch dice.below(4) {
    case 0:
      change.factors = .clear
      gone = Set(sample.factors.map(\.id))
    case 1:
      let phones = sample.factors.filter { $0.number != nil }
      let kept = phones.filter { _ in dice.chance(60) }
      var entries = kept.map { FactorEntry(id: $0.id, phoneNumber: $0.number) }
      let free = StateMachineModel.numbers.filter { number in
        !sample.factors.contains { $0.number == number }
      }
      if dice.chance(60), let number = dice.pick(free) {
        entries.append(FactorEntry(phoneNumber: number))
        added = number
      }
      change.factors = .replace(entries)
      gone = Set(phones.map(\.id)).subtracting(kept.map(\.id))
    case 2:
      change.disabled = false
      changesFactors = false
    default:
      change.password = .set(sample.password)
      (changesFactors, changesPassword) = (false, true)
    }
    var expectation = Expectation(name: "change of \(sample.uid)")
    let phones =
      sample.factors.count { $0.number != nil && !gone.contains($0.id) } + (added == nil ? 0 : 1)
    var isDone = false
    if changesFactors || changesPassword, sample.isLocked {
      expectation.refusals = ["changesLocked"]
    } else if changesFactors, phones > 5 {
      expectation.refusals = ["tooManyFactors"]
    } else {
      isDone = true
      let isNothing =
        changesFactors ? gone.isEmpty && added == nil : change.disabled != nil && !sample.isDisabled
      if !isNothing {
        expectation.rows = ["account.change by \(Instance.boss.actor.name) on \(sample.uid)"]
      }
    }
    let update = change
    let result = await attempt {
      try await identity.accounts.update(sample.pool, sample.id, update, by: Instance.boss)
    }
    if isDone, case .success(let account) = result {
      if change.disabled == false { users[user].isDisabled = false }
      if !gone.isEmpty { users[user].drop(gone) }
      if !gone.isEmpty || (!changesFactors && change.disabled == nil) { users[user].endSessions() }
      if let added, let factor = account.factors.first(where: { $0.phoneNumber == added }) {
        users[user].add(
          SimulatedFactor(id: factor.id.text, number: added, enrolledAt: factor.enrolledAt))
      }
    }
    try await reconcile(expectation, result)
  }
}
