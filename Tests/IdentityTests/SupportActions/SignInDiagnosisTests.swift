import OTP
import Testing

@testable import Identity

/// What a user's page says is wrong, from the newest code attempts.
@Suite struct SignInDiagnosisTests {
  private let factor = ID<Factor>("factor")

  /// Code attempts, newest first, one minute apart.
  private func attempts(
    _ results: [(CodeAttempt.Result, Int?)], times: Int = 1
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
      let agent = try await instance.agent()
      try await instance.identity.support.writeNote(
        instance.acme, id, agent.request(.locked, note: "Travels until May."))
      let found = try await instance.identity.records(of: id, in: instance.acme, history: true)
      let records = try #require(found)
      #expect(records.account.factors.count == 1 && records.notes.count == 1)
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
      let id = try await instance.enrolled(.alice).account.id
      let user = try #require(try await instance.identity.accounts.find(instance.acme, id))
      let now = instance.clock.now
      func diagnose(_ codes: [CodeAttempt]) -> SignInDiagnosis {
        SignInDiagnosis(user, codes, at: now)
      }
      #expect(diagnose([]).cause == nil && diagnose([]).remedy == nil)
      #expect(diagnose(attempts([(.late, -3), (.late, -3)])).remedy == .createTemporaryCode)
      #expect(diagnose(attempts([(.used, 0)])).remedy == nil)
      let guesses = attempts([(.wrong, nil), (.wrong, nil), (.wrong, nil), (.accepted, 0)])
      guard case .incorrect(count: 3) = diagnose(guesses).cause else {
        Issue.record("three incorrect codes in a row are a cause")
        return
      }
      #expect(diagnose(attempts([(.wrong, nil), (.wrong, nil), (.accepted, 0)])).cause == nil)
    }
  }
}
