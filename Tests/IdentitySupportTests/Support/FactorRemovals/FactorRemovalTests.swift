import Identity
import Testing

@testable import TestIdentity

struct UnenrollmentTests {
  private func remove(
    _ instance: Instance, _ device: Device, in pool: Pool? = nil,
    reason: SupportReason = .lost, note: String = "", factor: ID<Factor>? = nil
  ) async throws -> Removal {
    let agent = try await instance.agent()
    return try await instance.identity.factorRemovals.remove(
      pool ?? instance.acme, device.account.id, factor ?? device.factor,
      agent.request(reason, note: note)
    ).value.removal
  }

  @Test func `a removal does what its preview says`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await instance.finalize(
        device, instance.pending(.alice), code: device.code(at: instance.now))
      let before = try await instance.identity.factorRemovals.consequences(
        instance.acme, device.account.id, device.factor)
      #expect((before.sessionsEnded, before.factorsLeft) == (3, 0))
      let removal = try await remove(instance, device, reason: .stolen, note: " on the bus ")
      #expect((removal.sessionsEnded, removal.factorsLeft) == (3, 0))
      #expect(removal.factors.map(\.label) == ["phone"])
      #expect(removal.account.email == Person.alice.email)
      let account = try await instance.reload(device.account)
      #expect(account.factors.isEmpty)
      #expect(try await instance.identity.sessions.count(account) == 0)
      #expect(try await instance.identity.policies.read(instance.acme).enrolledUsers == 0)
      let row = try #require(try await instance.log().first)
      #expect(row.action == .factorRemove)
      #expect((row.objectKind, row.objectID) == ("account", account.id.text))
      #expect(row.hadFactor(device.factor.text) && row.new(.sessionsEnded) == .number(3))
      #expect(row.new(.factorsLeft) == .number(0))
      #expect((row.reason, row.note) == ("stolen", "on the bus"))
      #expect((row.actorName, row.address) == ("Dora Support", "198.51.100.7"))
    }
  }

  @Test func `L4, L5: a removal ends earlier sessions, and the next sign-in requires no code`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let grant = try await instance.finalize(
        device, instance.pending(.alice), code: device.code(at: instance.now))
      _ = try await remove(instance, device)
      await expect("tokenExpired") {
        try await instance.identity.sessions.check(grant.session)
      }
      await expect("tokenExpired") {
        try await instance.identity.sessions.refresh(
          grant.refreshToken, project: instance.acme.project)
      }
      let next = try await instance.session(.alice)
      _ = try await instance.identity.sessions.check(next.session)
    }
  }

  @Test func `a removal invalidates a sign-in in progress`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      _ = try await remove(instance, device)
      let code = try device.code(at: instance.now)
      await expect("invalidEnrollment") {
        try await instance.finalize(device, pending, code: code)
      }
    }
  }

  /// In the first round, the sign-in is done before the removal begins, and in the last one, it
  /// begins after the removal.
  @Test(arguments: 0..<5)
  func `a removal concurrent with a sign-in leaves no valid session`(round: Int) async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      let code = try device.code(at: instance.now)
      let agent = try await instance.agent()
      @Sendable func remove() async throws {
        _ = try await instance.identity.factorRemovals.remove(
          instance.acme, device.account.id, device.factor, agent.request())
      }
      if round == 4 { try await remove() }
      let signIn = Task { () -> Result<UserSession, any Error> in
        do {
          return .success(try await instance.finalize(device, pending, code: code).session)
        } catch {
          return .failure(error)
        }
      }
      if round == 0 { _ = await signIn.value }
      if round < 4 { try await remove() }
      switch await signIn.value {
      case .success(let session):
        #expect(round < 4)
        await expect("tokenExpired") { try await instance.identity.sessions.check(session) }
      case .failure(let error):
        #expect(round > 0 && caseName(error) == "invalidEnrollment")
      }
      #expect(try await instance.reload(device.account).factors.isEmpty)
    }
  }

  @Test(arguments: SupportReason.allCases)
  func `only the reason "other" requires a note`(reason: SupportReason) async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      await expect(reason == .other ? "noteRequired" : "done") {
        try await remove(instance, device, reason: reason, note: " \n ")
      }
      guard reason == .other else {
        #expect(try await instance.log().first?.note == nil)
        return
      }
      _ = try await remove(instance, device, reason: reason, note: "moved abroad")
      #expect(try await instance.log().first?.note == "moved abroad")
    }
  }

  @Test func `a note has at most 1,000 characters`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      await expect("noteTooLong") {
        try await remove(instance, device, note: String(repeating: "é", count: 1_001))
      }
      _ = try await remove(instance, device, note: String(repeating: "é", count: 1_000))
    }
  }

  @Test func `removing one of several factors leaves the user enrolled`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.addSecondDevice(to: device)
      let removal = try await remove(instance, device)
      #expect(removal.factorsLeft == 1)
      #expect(try await instance.identity.policies.read(instance.acme).enrolledUsers == 1)
      #expect(try await instance.reload(device.account).factors.map(\.id.text) == ["second"])
      _ = try await remove(instance, device, factor: ID("second"))
      #expect(try await instance.identity.policies.read(instance.acme).enrolledUsers == 0)
    }
  }

  @Test func `exactly one of many concurrent removals succeeds, with one audit row`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let agent = try await instance.agent()
      let outcomes = try await concurrently(16) { _ in
        await outcome {
          try await instance.identity.factorRemovals.remove(
            instance.acme, device.account.id, device.factor, agent.request())
        }
      }
      #expect(outcomes.tally == ["done": 1, "factorNotFound": 15])
      #expect(try await instance.log().map(\.action).tally[.factorRemove] == 1)
      #expect(try await instance.identity.policies.read(instance.acme).enrolledUsers == 0)
    }
  }

  @Test func `a factor of another user or pool isn't found and isn't removed`() async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let bob = try await instance.enrolled(.bob)
      await expect("factorNotFound") { try await remove(instance, bob, factor: alice.factor) }
      await expect("accountNotFound") { try await remove(instance, alice, in: instance.east) }
      await expect("accountNotFound") { try await remove(instance, alice, in: instance.globex) }
      await expect("accountNotFound") {
        try await instance.identity.factorRemovals.consequences(
          instance.east, alice.account.id, alice.factor)
      }
      #expect(try await instance.reload(alice.account).factors.count == 1)
    }
  }

  @Test func `a removal resets the count of wrong codes`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      let wrong = try device.wrongCode(at: instance.now)
      for _ in 0..<5 {
        _ = await outcome { try await instance.finalize(device, pending, code: wrong) }
      }
      #expect(try await instance.reload(device.account).wrongCodes == 5)
      _ = try await remove(instance, device)
      let account = try await instance.reload(device.account)
      #expect((account.wrongCodes, account.codesBlockedUntil) == (0, nil))
    }
  }
}
