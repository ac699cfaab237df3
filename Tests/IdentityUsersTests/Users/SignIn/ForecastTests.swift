import Crypto
import Identity
import OTP
import Testing

@testable import TestIdentity

struct ForecastTests {
  /// A combination of account and pool states at sign-in.
  struct Case: CustomTestStringConvertible {
    var poolOff = false, passwordOff = false, disabled = false, totpOff = false
    var enrolled = false, verified = true, hasPassword = true
    var wrongCodes = 0, wrongPasswords = 0
    /// Whether a factor is suspended, and whether the user has locked changes.
    var suspended = false, locked = false

    var testDescription: String {
      "\(suspended)\(locked)\(poolOff)\(passwordOff)\(disabled)\(totpOff)\(enrolled)\(verified)\(hasPassword) \(wrongCodes) \(wrongPasswords)"
    }

    static let all: [Case] = {
      var all: [Case] = []
      for bits in 0..<64 {
        func bit(_ number: Int) -> Bool { bits >> number & 1 == 1 }
        // Enrollment requires a verified email.
        if bit(4) && bit(5) { continue }
        all.append(
          Case(
            poolOff: bit(0), passwordOff: bit(1), disabled: bit(2), totpOff: bit(3),
            enrolled: bit(4), verified: !bit(5)))
      }
      for wrong in [10, 99, 100] {
        all.append(Case(enrolled: true, wrongPasswords: wrong))
        all.append(Case(disabled: true, wrongPasswords: wrong))
      }
      for wrong in [4, 5, 9, 10] {
        all.append(Case(enrolled: true, wrongCodes: wrong))
        all.append(Case(totpOff: true, enrolled: true, wrongCodes: wrong))
      }
      all.append(Case(enrolled: true, suspended: true))
      all.append(Case(enrolled: true, wrongCodes: 5, suspended: true))
      all.append(Case(enrolled: true, locked: true))
      all.append(Case(locked: true))
      all.append(Case(verified: false, locked: true))
      all.append(Case(hasPassword: false))
      all.append(Case(disabled: true, hasPassword: false))
      all.append(Case(enrolled: true, hasPassword: false))
      return all
    }()
  }

  private func prepare(_ instance: Instance, _ state: Case) async throws -> Device? {
    let identity = instance.identity
    var device: Device?
    if state.enrolled {
      device = try await instance.enrolled(.alice)
    } else {
      _ = try await instance.account(.alice, isVerified: state.verified)
    }
    if let device {
      for _ in 0..<state.wrongCodes {
        if let until = try await instance.reload(device.account).codesBlockedUntil {
          instance.clock.advance(max(0, until.seconds - instance.now.seconds))
        }
        let pending = try await instance.pending(.alice)
        let wrong = try device.wrongCode(at: instance.now)
        _ = await outcome { try await instance.finalize(device, pending, code: wrong) }
      }
    }
    if state.suspended, let device {
      let until = instance.now.advanced(bySeconds: 600)
      _ = try await identity.support.suspend(
        instance.acme, device.account.id, device.factor, until: until,
        try await instance.agent().request())
    }
    if state.locked {
      let found = try await identity.accounts.lookup(instance.acme, emails: [Person.alice.email])
      try await instance.mark(try #require(found.first).id.text, isLocked: true)
    }
    for number in 0..<state.wrongPasswords {
      _ = await outcome {
        try await identity.signIns.password(
          instance.acme, email: Person.alice.email, password: Person.wrong,
          address: "192.0.2.\(number / 10)")
      }
    }
    var change = AccountChange()
    change.disabled = state.disabled
    if !state.hasPassword { change.password = .clear }
    let found = try await identity.accounts.lookup(instance.acme, emails: [Person.alice.email])
    _ = try await identity.accounts.update(
      instance.acme, try #require(found.first).id, change, by: Instance.boss)
    _ = try await identity.pools.update(project: instance.acme.project, by: .program(Instance.boss))
    { edit in
      edit.signIn.password = !state.passwordOff
      edit.disableAuth = state.poolOff
      if state.totpOff { edit.configuration.totp?.state = .disabled }
    }
    return device
  }

  @Test func `blocks from a clock that was ahead aren't in the forecast, as they don't hold`()
    async throws
  {
    try await withInstance { instance in
      let owner = try await instance.administrator()
      func forecast() async throws -> SignInForecast {
        try #require(
          try await instance.identity.signIns.forecasts(
            of: Person.alice.email, visibleTo: owner
          ).first)
      }
      instance.clock.advance(86_400)
      _ = try await prepare(instance, Case(wrongPasswords: 100))
      let ahead = try await forecast()
      #expect(ahead.blockedNetworks?.count == 10)
      #expect(ahead.firstFactor != .accepted)
      instance.clock.advance(-86_400)
      let back = try await forecast()
      #expect(back.blockedNetworks == nil)
      #expect(back.firstFactor == .accepted)
    }
  }

  @Test(arguments: Case.all)
  func `the forecast matches the actual sign-in`(state: Case) async throws {
    try await withInstance { instance in
      let device = try await prepare(instance, state)
      let owner = try await instance.administrator()
      let forecasts = try await instance.identity.signIns.forecasts(
        of: "ALICE@example.com", visibleTo: owner)
      #expect(forecasts.count == 1)
      let forecast = try #require(forecasts.first)
      // Every ten wrong passwords block one network.
      #expect(forecast.blockedNetworks?.count ?? 0 == state.wrongPasswords / 10)
      let pool = try await instance.identity.pools.find(project: instance.acme.project)
      let result: Result<SignInOutcome, any Error>
      do {
        result = .success(
          try await instance.identity.signIns.password(
            pool, email: Person.alice.email, password: Person.alice.password,
            address: "203.0.113.5"))
      } catch {
        result = .failure(error)
      }
      switch (forecast.firstFactor, result) {
      case (.poolDisabled, .failure(CallError.poolDisabled)),
        (.passwordLoginDisabled, .failure(SignInError.passwordLoginDisabled)),
        (.noPassword, .failure(SignInError.wrongPassword)),
        (.userDisabled, .failure(SignInError.userDisabled)),
        (.locked, .failure(SignInError.userDisabled)):
        return
      case (.tooManyAttempts(let predicted), .failure(SignInError.tooManyAttempts(let until))):
        #expect(predicted == until)
        return
      case (.accepted, .success): break
      default: Issue.record("\(forecast.firstFactor), but \(result)")
      }
      try await compare(forecast, try result.get(), device, instance)
    }
  }

  /// Compares the forecast of the second factor with the outcome of an accepted first factor.
  private func compare(
    _ forecast: SignInForecast, _ outcome: SignInOutcome, _ device: Device?, _ instance: Instance
  ) async throws {
    switch (forecast.secondFactor, outcome) {
    case (.none, .signedIn(let grant)):
      let refused = forecast.enrollmentRefusal.map { String(describing: $0) }
      do {
        _ = try await instance.identity.enrollments.start(grant.session)
        #expect(refused == nil)
      } catch let error as EnrollmentError {
        #expect(refused == String(describing: error))
      }
    case (
      .due(let factors, let window, let lock), .secondFactorDue(_, let pending, let due)
    ):
      #expect(factors.map(\.id) == due.map(\.id) && window == .standard)
      let device = try #require(device)
      let code = try device.code(at: instance.now)
      do {
        _ = try await instance.identity.signIns.finalize(
          project: instance.acme.project, tenant: nil, pendingCredential: pending,
          enrollment: device.factor.text, code: TypedCode(code))
        #expect(lock == .open && forecast.suspended.isEmpty)
      } catch let error as SignInError {
        if case .invalidCode = error {
          #expect(lock == .open && forecast.suspended.map(\.id) == [device.factor])
          return
        }
        guard case .quotaExceeded(let until) = error else {
          Issue.record("\(error)")
          return
        }
        let isClosed = until == Instant(microseconds: .max)
        #expect(lock == (isClosed ? .closed : .blocked(until: until)))
      }
    default: Issue.record("\(forecast.secondFactor), but \(outcome)")
    }
  }

  @Test
  func `an email or UID is found only in pools where the administrator can find users`()
    async throws
  {
    try await withInstance { instance in
      let pools = [instance.acme, instance.east, instance.west, instance.globex]
      for pool in pools { _ = try await instance.account(.alice, in: pool) }
      let bob = try await instance.account(.bob, in: instance.east)
      let signIns = instance.identity.signIns
      func searched(_ text: String, _ grants: [Grant]) async throws -> [Pool] {
        let administrator = try await instance.identity.administrators.create(
          email:
            "\(text.utf8.count)\(grants.count)\(grants.first?.tenant?.text ?? "x")@example.com",
          displayName: "X", password: Instance.consolePassword,
          grant: try #require(grants.first), by: Instance.boss)
        return try await signIns.forecasts(of: text, visibleTo: administrator).map(\.pool)
      }
      let owner = try await instance.administrator()
      let all = try await signIns.forecasts(of: Person.alice.email, visibleTo: owner)
      #expect(Set(all.map(\.pool)) == Set(pools))
      let few = try await signIns.forecasts(of: Person.alice.email, visibleTo: owner, limit: 2)
      #expect(few.count == 2)
      let byUID = try await signIns.forecasts(of: bob.id.text, visibleTo: owner)
      #expect(byUID.map(\.pool) == [instance.east] && byUID.first?.account.id == bob.id)
      for text in ["alice", "alice@example.co", "", "%", bob.id.text.lowercased() + "x"] {
        let none = try await signIns.forecasts(of: text, visibleTo: owner)
        #expect(none.isEmpty, "\(text)")
      }
      let project = instance.acme.project
      #expect(
        Set(try await searched(Person.alice.email, [Grant(role: .support, project: project)]))
          == Set(pools.prefix(3)))
      #expect(
        try await searched(
          Person.alice.email,
          [Grant(role: .auditor, project: project, tenant: instance.east.tenant)])
          == [instance.east])
      #expect(
        try await searched(
          Person.alice.email,
          [Grant(role: .policy, project: project, tenant: instance.west.tenant)]
        ).isEmpty)
      _ = try await instance.identity.pools.delete(
        project: project, tenant: instance.east.tenant ?? ID(""), by: .program(Instance.boss))
      let rest = try await signIns.forecasts(of: Person.alice.email, visibleTo: owner)
      #expect(rest.count == 3)
    }
  }
}
