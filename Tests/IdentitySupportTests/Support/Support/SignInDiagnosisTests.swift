import OTP
import Testing

@testable import Identity
@testable import TestIdentity

/// What a user's page says is wrong, from the newest code attempts.
@Suite struct SignInDiagnosisTests {
  /// Code attempts, newest first, one minute apart.
  private func attempts(
    _ results: [(CodeAttempt.Result, Int?)], with factor: ID<Factor> = ID("removed"),
    times: Int = 1
  ) -> [CodeAttempt] {
    results.enumerated().map { index, each in
      CodeAttempt(
        at: Instant(microseconds: Int64(1_000 - index) * 60_000_000), way: .app, result: each.0,
        enrollment: factor, window: Window(adjacentIntervals: 1), distance: each.1,
        step: each.1.map { Int64(2_000 - 2 * index + $0) }, isConfirmed: false, times: times,
        origin: RequestOrigin())
    }
  }

  @Test func `codes that are late by similar intervals show a slow clock and when it began`() throws
  {
    let evidence = try #require(
      DriftEvidence(
        attempts([
          (.late, -3), (.wrong, nil), (.late, -4), (.late, -3), (.accepted, -1), (.accepted, 0),
        ])))
    #expect(evidence.drift == ClockDrift(steps: -3))
    #expect(evidence.count == 3 && evidence.intervals == 3...4)
    #expect(evidence.lastOnTime == Instant(microseconds: 996 * 60_000_000))
  }

  @Test func `codes on time or a single near miss show no drift`() {
    #expect(DriftEvidence(attempts([(.accepted, 0), (.late, -3), (.late, -3)])) == nil)
    #expect(DriftEvidence(attempts([(.late, -3), (.accepted, 0)])) == nil)
    #expect(DriftEvidence([]) == nil)
  }

  @Test func `a user's records are read at once, and their history only on request`() async throws {
    try await withInstance { instance in
      let id = try await instance.enrolled(.alice).account.id
      let found = try await instance.identity.records(of: id, in: instance.acme, history: true)
      let records = try #require(found)
      #expect(records.account.factors.count == 1)
      #expect(records.sessionCount == records.sessions.count && !records.history.isEmpty)
      #expect(records.diagnosis.cause == nil && !records.canEnrollByLink)
      let brief = try await instance.identity.records(of: id, in: instance.acme, history: false)
      #expect(brief?.history.isEmpty == true)
      let other = try await instance.identity.records(of: id, in: instance.east, history: true)
      #expect(other == nil)
    }
  }

  @Test func `the most important cause decides on the remedy`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let forecast = try await forecast(instance)
      let now = instance.clock.now
      func diagnose(_ codes: [CodeAttempt]) -> SignInDiagnosis {
        SignInDiagnosis(forecast, codes, at: now)
      }
      func attempts(_ results: [(CodeAttempt.Result, Int?)]) -> [CodeAttempt] {
        self.attempts(results, with: device.factor)
      }
      #expect(diagnose([]).cause == nil && diagnose([]).remedy == nil)
      let late = diagnose(attempts([(.late, -3), (.late, -3)]))
      #expect(late.remedy == .resynchronizeFactor && late.factor == device.factor)
      #expect(diagnose(attempts([(.used, 0)])).remedy == nil)
      // Codes that weren't checked, because others were wrong, change nothing.
      for later in [[], [(.blocked, nil), (.blocked, nil)], [(.unreadable, nil)]]
        as [[(CodeAttempt.Result, Int?)]]
      {
        let guesses = attempts(
          later + [(.wrong, nil), (.blocked, nil), (.wrong, nil), (.wrong, nil), (.accepted, 0)])
        guard case .incorrect(count: 3) = diagnose(guesses).cause else {
          Issue.record("three incorrect codes in a row are a cause")
          return
        }
      }
      #expect(diagnose(attempts([(.wrong, nil), (.wrong, nil), (.accepted, 0)])).cause == nil)
    }
  }

  @Test func `attempts with a removed factor show no drift of those that the user has`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.enrolled(.alice)
      let forecast = try await forecast(instance)
      let codes = attempts([(.late, -3), (.late, -3)])
      let diagnosis = SignInDiagnosis(forecast, codes, at: instance.now)
      #expect(diagnosis.drift == nil && diagnosis.cause == nil && diagnosis.last != nil)
    }
  }

  @Test func `a user without a factor who's due is refused, or signs in with tokens that say so`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let account = try await instance.account(.alice)
      let free = try await diagnose(instance, account)
      guard case .noFactor = free.cause else { throw Unexpected("a cause") }
      for mode in Enforcement.Mode.allCases {
        try await instance.enforce(mode)
        let diagnosis = try await diagnose(instance, account)
        guard case .enrollmentDue(let due) = diagnosis.cause else { throw Unexpected("no cause") }
        #expect(due == mode && diagnosis.remedy == .sendEnrollmentLink)
      }
    }
  }

  @Test func `a user without a factor lacks a mandatory one from its day on, unless exempt`()
    async throws
  {
    try await withInstance { instance in
      let account = try await instance.account(.alice)
      #expect(try await !diagnose(instance, account).lacksMandatoryFactor)
      let today = Day(instance.now)
      for (from, isLacking) in [(today.next, false), (today, true), (nil, true)] as [(Day?, Bool)] {
        instance.clock.advance(60)
        if from == nil { instance.clock.advance(2 * 86_400) }
        _ = try await instance.identity.policies.change(
          instance.acme, by: .program(Instance.boss)
        ) { edit in
          edit.pattern = .mandatory
          edit.mandatoryFrom = from
        }
        let diagnosis = try await diagnose(instance, account)
        #expect(diagnosis.lacksMandatoryFactor == isLacking)
        #expect(diagnosis.mandatorySince == (isLacking ? today : nil))
      }
      // While no type of factor is on, enrollment isn't mandatory.
      for state in [MFAState.disabled, .enabled] {
        instance.clock.advance(86_400)
        _ = try await instance.identity.policies.change(
          instance.acme, by: .program(Instance.boss)
        ) { edit in
          edit.configuration.totp = TOTPConfiguration(state: state, adjacentIntervals: nil)
        }
        let diagnosis = try await diagnose(instance, account)
        #expect(diagnosis.lacksMandatoryFactor == (state == .enabled))
        #expect(diagnosis.mandatorySince == (state == .enabled ? Day(instance.now) : nil))
      }
      let forecast = try await forecast(instance)
      #expect(!SignInDiagnosis(forecast, [], isExempt: true, at: instance.now).lacksMandatoryFactor)
      let enrolled = try await instance.enrolled(.bob).account
      #expect(try await !diagnose(instance, enrolled).lacksMandatoryFactor)
    }
  }

  @Test func `disabled methods and factors are the cause before anything about codes`() async throws
  {
    try await withInstance { instance in
      let account = try await instance.enrolled(.alice).account
      _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
        edit in
        edit.configuration.totp = TOTPConfiguration(state: .disabled, adjacentIntervals: nil)
      }
      let unasked = try await diagnose(instance, account)
      guard case .factorsOff = unasked.cause else { throw Unexpected("another cause") }
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) { $0.signIn.password = false }
      let refused = try await diagnose(instance, account)
      guard case .methodsOff = refused.cause else { throw Unexpected("another cause") }
    }
  }

  @Test func `backup codes that are off in the pool are a cause, and rejected ones have no window`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let codes = try await instance.recoveryCodes(.alice, device)
      #expect(try await diagnose(instance, device.account).cause == nil)
      try await instance.allowBackupCodes(recovery: false)
      guard case .backupCodesOff(let state) = try await diagnose(instance, device.account).cause
      else { throw Unexpected("another cause") }
      #expect(state.recoveryIsOff && !state.temporaryIsOff)
      // Three in a row aren't guesses of the app's codes.
      for code in codes.prefix(3) {
        await expect("invalidCode") { try await instance.signIn(.alice, device, code: code) }
      }
      let records = try #require(
        try await instance.identity.records(
          of: device.account.id, in: instance.acme, history: false))
      #expect(records.codeAttempts.items.prefix(3).allSatisfy { $0.window == nil })
      guard case .backupCodesOff = records.diagnosis.cause else {
        throw Unexpected("another cause")
      }
      #expect(records.sessions.allSatisfy { !$0.usedBackupCode })
      try await instance.allowBackupCodes()
      try await instance.signIn(.alice, device, code: codes[0])
      let after = try await instance.identity.records(
        of: device.account.id, in: instance.acme, history: false)
      #expect(after?.sessions.first?.usedBackupCode == true)
      #expect(after?.diagnosis.cause == nil)
    }
  }

  @Test func `incorrect codes sent to a phone aren't backup codes that are off`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      try await instance.allowPhones()
      let device = try await instance.enrolled(.alice)
      _ = try await instance.recoveryCodes(.alice, device)
      try await instance.allowBackupCodes(recovery: false)
      let grant = try await instance.enrollPhone(device.session)
      let pending = try await instance.pending(.alice)
      let info = try await instance.sendCode(pending, to: grant.account)
      for _ in 0..<3 {
        await expect("invalidCode") {
          try await instance.finalizePhone(pending, info, code: "000000")
        }
      }
      let diagnosis = try await diagnose(instance, grant.account)
      #expect(diagnosis.last?.way == .phone && diagnosis.last?.window == nil)
      guard case .incorrect(count: 3) = diagnosis.cause else {
        throw Unexpected("another cause")
      }
    }
  }

  private func diagnose(
    _ instance: Instance, _ account: Account
  ) async throws -> SignInDiagnosis {
    let records = try await instance.identity.records(
      of: account.id, in: instance.acme, history: false)
    return try #require(records).diagnosis
  }

  private func forecast(_ instance: Instance) async throws -> SignInForecast {
    let owner = try await instance.administrator()
    let found = try await instance.identity.signIns.forecasts(
      of: Person.alice.email, visibleTo: owner)
    return try #require(found.first)
  }
}
