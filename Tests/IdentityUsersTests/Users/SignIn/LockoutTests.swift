import Crypto
import Identity
import Testing

@testable import TestIdentity

/// Password guessing attacks on an account, with a clock that the attack advances.
///
/// The numbers match the table in SECURITY.md.
struct LockoutTests {
  /// Where a password is guessed.
  enum Target: CaseIterable { case user, console }

  private static let day: Int64 = 86_400
  private static let owner = "198.51.100.1"

  private func prepare(_ instance: Instance, _ target: Target) async throws {
    switch target {
    case .user: _ = try await instance.account(.alice)
    case .console: _ = try await instance.administrator("alice", .auditor)
    }
  }

  /// Tries a wrong password; returns nil if it was checked, or otherwise when the block ends.
  private func guess(
    _ instance: Instance, _ target: Target, _ email: String = Person.alice.email,
    from address: String
  ) async throws -> Instant? {
    switch target {
    case .user:
      do {
        _ = try await instance.identity.signIns.password(
          instance.acme, email: email, password: Person.wrong, address: ClientAddress(seen: address)
        )
      } catch SignInError.tooManyAttempts(let until) {
        return until
      } catch is SignInError {}
    case .console:
      do {
        _ = try await instance.identity.consoleSessions.signIn(
          email: email, password: Person.wrong, address: address, userAgent: "x")
      } catch ConsoleSignInError.throttled(let until) {
        return until
      } catch is ConsoleSignInError {}
    }
    return nil
  }

  private func signIn(
    _ instance: Instance, _ target: Target, from address: String = owner, devices: [String] = []
  ) async -> String {
    await outcome {
      switch target {
      case .user:
        _ = try await instance.identity.signIns.password(
          instance.acme, email: Person.alice.email, password: Person.alice.password,
          address: ClientAddress(seen: address))
      case .console:
        _ = try await instance.identity.consoleSessions.signIn(
          email: Person.alice.email, password: Instance.consolePassword, address: address,
          userAgent: "Browser", devices: devices)
      }
    }
  }

  /// Guesses from the given networks whenever possible for `seconds`, and counts checked guesses.
  private func attack(
    _ instance: Instance, _ target: Target, from networks: [String], for seconds: Int64,
    names: (Int) -> String = { _ in Person.alice.email },
    between: (() async throws -> Void)? = nil
  ) async throws -> Int {
    let end = instance.now.advanced(bySeconds: seconds)
    var (guesses, round) = (0, 0)
    while instance.now < end {
      // Uses every available attempt, then advances the clock to the end of the next block.
      var next: Instant?
      for network in networks {
        round += 1
        while true {
          guard
            let until = try await guess(instance, target, names(guesses), from: network)
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

  @Test(arguments: Target.allCases)
  func `an attacker in another network can't lock out the owner on any day`(
    target: Target
  ) async throws {
    try await withInstance { instance in
      try await prepare(instance, target)
      var (refused, visits) = (0, 0)
      let guesses = try await attack(
        instance, target, from: ["203.0.113.66"], for: 3 * Self.day,
        between: {
          visits += 1
          if await signIn(instance, target) != "done" { refused += 1 }
        })
      #expect(refused == 0 && visits > 200)
      #expect((280...310).contains(guesses), "96 a day and 10 at the start")
    }
  }

  @Test(arguments: Target.allCases)
  func `the passwords of sign-ins are counted by result`(target: Target) async throws {
    try await withInstance { instance in
      try await prepare(instance, target)
      let attempts = instance.identity.passwordAttempts
      func counts(_ kind: PasswordAttempts.Kind) -> [Int] {
        PasswordAttempts.Result.allCases.map { attempts.count(kind, $0) }
      }
      let (kind, other): (PasswordAttempts.Kind, PasswordAttempts.Kind) =
        target == .user ? (.user, .administrator) : (.administrator, .user)
      let before = counts(kind)
      #expect(await signIn(instance, target) == "done")
      // The tenth wrong one blocks further ones.
      for _ in 0..<12 { _ = try await guess(instance, target, from: "203.0.113.66") }
      #expect(zip(counts(kind), before).map { $0 - $1 } == [1, 10, 2, 0])
      #expect(counts(other) == [0, 0, 0, 0])
    }
  }

  @Test(arguments: Target.allCases)
  func `one network has 110 attempts per email on the first day and 96 on each later day`(
    target: Target
  ) async throws {
    try await withInstance { instance in
      try await prepare(instance, target)
      let first = try await attack(instance, target, from: ["203.0.113.66"], for: Self.day)
      let second = try await attack(instance, target, from: ["203.0.113.66"], for: Self.day)
      #expect(first == 110)
      #expect(second == 96)
    }
  }

  @Test(arguments: Target.allCases)
  func `100 networks have 391 attempts per email on the first day and 288 on each later day`(
    target: Target
  ) async throws {
    try await withInstance { instance in
      try await prepare(instance, target)
      let networks = (0..<100).map { "2001:db8:\($0)::1" }
      let first = try await attack(instance, target, from: networks, for: Self.day)
      let second = try await attack(instance, target, from: networks, for: Self.day)
      #expect(first == 391)
      #expect(second == 288)
      // Meanwhile, the owner is blocked too; five minutes later, they can sign in.
      #expect(await signIn(instance, target) == (target == .user ? "tooManyAttempts" : "throttled"))
      instance.clock.advance(300)
      #expect(await signIn(instance, target) == "done")
    }
  }

  @Test(arguments: Target.allCases)
  func `one network has 1540 attempts at many emails on the first day`(
    target: Target
  ) async throws {
    try await withInstance { instance in
      try await prepare(instance, target)
      let network = ["2001:db8::1"]
      let names: (Int) -> String = { "user\($0)@example.com" }
      let first = try await attack(instance, target, from: network, for: Self.day, names: names)
      #expect(first == 1_540)
    }
  }

  @Test(arguments: Target.allCases)
  func `ten attempts are free again two and a half hours after the last one`(
    target: Target
  ) async throws {
    try await withInstance { instance in
      try await prepare(instance, target)
      let network = "203.0.113.66"
      for _ in 0..<10 { #expect(try await guess(instance, target, from: network) == nil) }
      #expect(try await guess(instance, target, from: network) != nil)
      instance.clock.advance(10 * 900)
      for _ in 0..<10 { #expect(try await guess(instance, target, from: network) == nil) }
      #expect(try await guess(instance, target, from: network) != nil)
    }
  }

  @Test(arguments: Target.allCases)
  func `attempts during a block aren't counted`(target: Target) async throws {
    try await withInstance { instance in
      try await prepare(instance, target)
      let network = "203.0.113.66"
      for _ in 0..<10 { #expect(try await guess(instance, target, from: network) == nil) }
      for _ in 0..<200 { #expect(try await guess(instance, target, from: network) != nil) }
      // Neither against the network, which can try other emails, nor against the email.
      #expect(try await guess(instance, target, "bob@example.com", from: network) == nil)
      #expect(await signIn(instance, target) == "done")
    }
  }

  @Test(arguments: Target.allCases)
  func `a correct password resets the count of its network only`(
    target: Target
  ) async throws {
    try await withInstance { instance in
      try await prepare(instance, target)
      for number in 0..<90 {
        #expect(try await guess(instance, target, from: "2001:db8:\(number)::1") == nil)
      }
      for _ in 0..<9 { #expect(try await guess(instance, target, from: Self.owner) == nil) }
      #expect(await signIn(instance, target) == "done")
      // The 99 attempts of all networks remain counted.
      #expect(try await guess(instance, target, from: Self.owner) == nil)
      #expect(try await guess(instance, target, from: "203.0.113.66") != nil)
    }
  }

  @Test func `a password reset by email lets in a user who was locked out everywhere`() async throws
  {
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
