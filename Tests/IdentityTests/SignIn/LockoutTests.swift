import Crypto
import Identity
import Testing

/// Attackers against the owner of an account, with a clock that only they move.
///
/// The numbers here are those of the table in SECURITY.md.
struct LockoutTests {
  /// Whose password is guessed, and where.
  enum Door: CaseIterable { case user, console }

  private static let day: Int64 = 86_400
  private static let owner = "198.51.100.1"

  private func prepare(_ instance: Instance, _ door: Door) async throws {
    switch door {
    case .user: _ = try await instance.account(.alice)
    case .console: _ = try await instance.administrator("alice", .auditor)
    }
  }

  /// Tries a password; nil when it was looked at and wrong, or else until when none is looked at.
  private func guess(
    _ instance: Instance, _ door: Door, _ email: String = Person.alice.email, from address: String
  ) async throws -> Instant? {
    switch door {
    case .user:
      do {
        _ = try await instance.identity.signIns.password(
          instance.acme, email: email, password: Person.wrong, address: address)
      } catch .tooManyAttempts(let until) { return until } catch {}
    case .console:
      do {
        _ = try await instance.identity.consoleSessions.signIn(
          email: email, password: Person.wrong, address: address, userAgent: "x")
      } catch .throttled(let until) { return until } catch {}
    }
    return nil
  }

  private func signIn(
    _ instance: Instance, _ door: Door, from address: String = owner, devices: [String] = []
  ) async -> String {
    await outcome {
      switch door {
      case .user:
        _ = try await instance.identity.signIns.password(
          instance.acme, email: Person.alice.email, password: Person.alice.password,
          address: address)
      case .console:
        _ = try await instance.identity.consoleSessions.signIn(
          email: Person.alice.email, password: Instance.consolePassword, address: address,
          userAgent: "Browser", devices: devices)
      }
    }
  }

  /// Guesses from these networks whenever one may, for so many seconds, and counts what is looked at.
  private func attack(
    _ instance: Instance, _ door: Door, from networks: [String], for seconds: Int64,
    names: (Int) -> String = { _ in Person.alice.email },
    between: (() async throws -> Void)? = nil
  ) async throws -> Int {
    let end = instance.now.advanced(bySeconds: seconds)
    var (guesses, turn) = (0, 0)
    while instance.now < end {
      // Everything that is open now; then the clock goes on to where something opens.
      var next: Instant?
      for network in networks {
        turn += 1
        while true {
          guard
            let until = try await guess(instance, door, names(guesses), from: network)
          else {
            guesses += 1
            continue
          }
          next = min(next ?? until, until)
          break
        }
      }
      let wait = min(next ?? end, end).seconds - instance.now.seconds
      instance.clock.advance(max(wait, 1))
      try await between?()
    }
    return guesses
  }

  @Test(arguments: Door.allCases)
  func `an attacker from another network cannot keep the owner out, whatever the day`(
    door: Door
  ) async throws {
    try await withInstance { instance in
      try await prepare(instance, door)
      var (refused, visits) = (0, 0)
      let guesses = try await attack(
        instance, door, from: ["203.0.113.66"], for: 3 * Self.day,
        between: {
          visits += 1
          if await signIn(instance, door) != "done" { refused += 1 }
        })
      #expect(refused == 0 && visits > 200)
      #expect((280...310).contains(guesses), "96 a day and 10 at the start")
    }
  }

  @Test(arguments: Door.allCases)
  func `one network has 110 guesses at a name on the first day, and 96 on each other`(
    door: Door
  ) async throws {
    try await withInstance { instance in
      try await prepare(instance, door)
      let first = try await attack(instance, door, from: ["203.0.113.66"], for: Self.day)
      let second = try await attack(instance, door, from: ["203.0.113.66"], for: Self.day)
      #expect(first == 110)
      #expect(second == 96)
    }
  }

  @Test(arguments: Door.allCases)
  func `a hundred networks have 391 guesses at a name on the first day, and 288 on each other`(
    door: Door
  ) async throws {
    try await withInstance { instance in
      try await prepare(instance, door)
      let networks = (0..<100).map { "2001:db8:\($0)::1" }
      let first = try await attack(instance, door, from: networks, for: Self.day)
      let second = try await attack(instance, door, from: networks, for: Self.day)
      #expect(first == 391)
      #expect(second == 288)
      // Nobody else may try either, as long as that goes on; five minutes later everybody may.
      #expect(await signIn(instance, door) == (door == .user ? "tooManyAttempts" : "throttled"))
      instance.clock.advance(300)
      #expect(await signIn(instance, door) == "done")
    }
  }

  @Test(arguments: Door.allCases)
  func `one network has 1540 guesses at many names on the first day`(
    door: Door
  ) async throws {
    try await withInstance { instance in
      try await prepare(instance, door)
      let network = ["2001:db8::1"]
      let names: (Int) -> String = { "user\($0)@example.com" }
      let first = try await attack(instance, door, from: network, for: Self.day, names: names)
      #expect(first == 1_540)
    }
  }

  @Test(arguments: Door.allCases)
  func `two and a half hours after the last guess ten are free again`(
    door: Door
  ) async throws {
    try await withInstance { instance in
      try await prepare(instance, door)
      let network = "203.0.113.66"
      for _ in 0..<10 { #expect(try await guess(instance, door, from: network) == nil) }
      #expect(try await guess(instance, door, from: network) != nil)
      instance.clock.advance(10 * 900)
      for _ in 0..<10 { #expect(try await guess(instance, door, from: network) == nil) }
      #expect(try await guess(instance, door, from: network) != nil)
    }
  }

  @Test(arguments: Door.allCases)
  func `guesses at a locked name are charged to nobody`(door: Door) async throws {
    try await withInstance { instance in
      try await prepare(instance, door)
      let network = "203.0.113.66"
      for _ in 0..<10 { #expect(try await guess(instance, door, from: network) == nil) }
      for _ in 0..<200 { #expect(try await guess(instance, door, from: network) != nil) }
      // Neither to the network, which may try other names, nor to the name.
      #expect(try await guess(instance, door, "bob@example.com", from: network) == nil)
      #expect(await signIn(instance, door) == "done")
    }
  }

  @Test(arguments: Door.allCases)
  func `a right password ends the count of its network and not those of others`(
    door: Door
  ) async throws {
    try await withInstance { instance in
      try await prepare(instance, door)
      for number in 0..<90 {
        #expect(try await guess(instance, door, from: "2001:db8:\(number)::1") == nil)
      }
      for _ in 0..<9 { #expect(try await guess(instance, door, from: Self.owner) == nil) }
      #expect(await signIn(instance, door) == "done")
      // 99 of all networks were counted and still are.
      #expect(try await guess(instance, door, from: Self.owner) == nil)
      #expect(try await guess(instance, door, from: "203.0.113.66") != nil)
    }
  }

  @Test func `a reset by mail lets a user in whom all networks have locked out`() async throws {
    try await withInstance { instance in
      try await prepare(instance, .user)
      for number in 0..<100 {
        _ = try await guess(instance, .user, from: "2001:db8:\(number)::1")
      }
      #expect(await signIn(instance, .user) == "tooManyAttempts")
      let request = OutOfBandRequest(.passwordReset, for: .email(Person.alice.email))
      let link = try await instance.identity.outOfBandCodes.link(
        request, in: instance.acme, by: Instance.boss)
      try await instance.identity.outOfBandCodes.resetPassword(
        link.code, to: Person.alice.password, by: Instance.visitor)
      #expect(await signIn(instance, .user) == "done")
    }
  }
}
