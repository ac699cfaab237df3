import Identity
import Testing

@testable import TestIdentity

@Suite struct EffectiveMFATests {
  private func effective(
    _ instance: Instance, carriesMail: Bool = true
  ) async throws -> EffectiveMFA {
    let policies = instance.identity.policies
    return EffectiveMFA(
      try await policies.read(instance.acme), history: try await policies.history(instance.acme),
      carriesMail: carriesMail, at: instance.now)
  }

  private func change(
    _ instance: Instance, _ edit: @escaping @Sendable (inout PolicyEdit) -> Void
  ) async throws {
    instance.clock.advance(60)
    _ = try await instance.identity.policies.change(instance.acme, by: .program(Instance.boss)) {
      policy throws(PolicyError) in edit(&policy)
    }
  }

  @Test func `the server requires codes only from users who have a factor`() async throws {
    try await withInstance { instance in
      _ = try await instance.enrolled(.alice)
      let effective = try await effective(instance)
      #expect(effective.kinds == [.totp])
      try await change(instance) { $0.configuration.totp?.state = .disabled }
      let off = try await self.effective(instance)
      #expect(off.kinds.isEmpty && off.unaskedUsers == effective.unaskedUsers + 1)
    }
  }

  @Test func `a mandatory pattern is enforced by the application, from its day on`() async throws {
    try await withInstance { instance in
      #expect(try await effective(instance).enrollment == .nobody)
      try await change(instance) { $0.pattern = .mandatory }
      let since = instance.now
      try await change(instance) { $0.configuration.totp?.adjacentIntervals = 2 }
      let mandatory = try await effective(instance)
      #expect(mandatory.enrollment == .application && mandatory.saysMandatory)
      #expect(mandatory.enrollmentSince == .moment(since))
      let day = Day(instance.now.advanced(bySeconds: 3 * 86_400))
      try await change(instance) { $0.mandatoryFrom = day }
      let later = try await effective(instance)
      #expect(later.enrollment == .nobody && later.startsOn == day)
      instance.clock.advance(4 * 86_400)
      let started = try await effective(instance)
      #expect(started.enrollment == .application && started.enrollmentSince == .day(day))
    }
  }

  @Test func `the server enforces enrollment from a change on, even if its first day is past`()
    async throws
  {
    try await withInstance { instance in
      instance.clock.advance(3 * 86_400)
      let today = Day(instance.now)
      let past = Day(instance.now.advanced(bySeconds: -2 * 86_400))
      try await change(instance) {
        $0.pattern = .mandatory
        $0.enforcement = Enforcement(.claim, from: past, graceDays: 0)
      }
      #expect(try await effective(instance).enrollmentSince == .moment(instance.now))
      let next = Day(today.start.advanced(bySeconds: 86_400))
      try await change(instance) {
        $0.enforcement = Enforcement(.claim, from: next, graceDays: 0)
      }
      instance.clock.advance(86_400)
      #expect(try await effective(instance).enrollmentSince == .day(next))
    }
  }

  @Test func `changes that don't start enforcement don't change since when it's enforced`()
    async throws
  {
    try await withInstance { instance in
      let policies = instance.identity.policies
      instance.clock.advance(3 * 86_400)
      let past = Day(instance.now.advanced(bySeconds: -2 * 86_400))
      try await change(instance) {
        $0.pattern = .mandatory
        $0.enforcement = Enforcement(.claim, from: past, graceDays: 0)
      }
      let start = instance.now
      instance.clock.advance(86_400)
      try await change(instance) { $0.configuration.totp?.state = .mandatory }
      #expect(try await effective(instance).enrollmentSince == .moment(start))
      for interval in 0...9 {
        try await change(instance) { $0.configuration.totp?.adjacentIntervals = interval }
      }
      // Its beginning isn't among the latest ten changes.
      #expect(try await effective(instance).enrollmentSince == nil)
      let whole = EffectiveMFA(
        try await policies.read(instance.acme),
        history: try await policies.history(instance.acme, limit: 100), carriesMail: true,
        at: instance.now)
      #expect(whole.enrollmentSince == .moment(start))
      try await change(instance) { $0.configuration.totp?.state = .disabled }
      try await change(instance) { $0.configuration.totp?.state = .enabled }
      #expect(try await effective(instance).enrollmentSince == .moment(instance.now))
    }
  }

  @Test func `a server that sends no email refuses no one`() async throws {
    try await withInstance { instance in
      let today = Day(instance.now)
      try await change(instance) {
        $0.pattern = .mandatory
        $0.enforcement = Enforcement(.refuse, from: today, graceDays: 0)
      }
      for carriesMail in [true, false] {
        let effective = try await effective(instance, carriesMail: carriesMail)
        guard case .server(let enforcement) = effective.enrollment else {
          throw Unexpected("not enforced")
        }
        #expect(enforcement.mode == (carriesMail ? .refuse : .claim))
        #expect(effective.refusesNoOne == !carriesMail)
      }
    }
  }

  @Test func `“mandatory” in the configuration changes nothing at sign-in`() async throws {
    try await withInstance { instance in
      try await change(instance) { $0.configuration.state = .mandatory }
      let effective = try await effective(instance)
      #expect(effective.saysMandatory && effective.enrollment == .nobody)
    }
  }

  @Test func `other patterns leave the choice to users`() async throws {
    try await withInstance { instance in
      for pattern in [EnrollmentPattern.skippable, .account] {
        try await change(instance) { $0.pattern = pattern }
        #expect(try await effective(instance).enrollment == .nobody)
      }
      try await change(instance) { $0.pattern = .stepUp }
      #expect(try await effective(instance).enrollment == .application)
    }
  }
}
