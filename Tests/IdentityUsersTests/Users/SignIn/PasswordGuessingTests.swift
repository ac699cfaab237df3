import Crypto
import Identity
import Testing

@testable import TestIdentity

struct PasswordGuessingTests {
  private func guess(
    _ instance: Instance, _ email: String = Person.alice.email,
    _ password: Secret = Person.wrong, from address: String = "203.0.113.66"
  ) async -> String {
    await outcome {
      try await instance.identity.signIns.password(
        instance.acme, email: email, password: password,
        address: ClientAddress(seen: address))
    }
  }

  @Test(arguments: ["alice@example.com", "nobody@example.com"])
  func `of 64 concurrent wrong passwords, ten are checked, for known and unknown emails`(
    email: String
  ) async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      let outcomes = try await concurrently(64) { _ in await guess(instance, email) }
      let wrong = email == Person.alice.email ? "wrongPassword" : "emailNotFound"
      #expect(outcomes.tally == [wrong: 10, "tooManyAttempts": 54])
    }
  }

  @Test func `the correct password is not checked during a block, and accepted afterward`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      for _ in 0..<10 { #expect(await guess(instance) == "wrongPassword") }
      let error = try await thrown(SignInError.self) {
        try await instance.identity.signIns.password(
          instance.acme, email: Person.alice.email, password: Person.alice.password,
          address: "203.0.113.66")
      }
      guard case .tooManyAttempts(let until) = error else {
        throw Unexpected("\(String(describing: error))")
      }
      #expect(until == instance.now.advanced(bySeconds: 30))
      instance.clock.advance(29)
      #expect(await guess(instance, password: .alice) == "tooManyAttempts")
      instance.clock.advance(1)
      #expect(await guess(instance) == "wrongPassword")
      instance.clock.advance(59)
      #expect(await guess(instance, password: .alice) == "tooManyAttempts")
      instance.clock.advance(1)
      #expect(await guess(instance, password: .alice) == "done")
      // The count starts over: ten more attempts are free.
      for _ in 0..<10 { #expect(await guess(instance) == "wrongPassword") }
      #expect(await guess(instance) == "tooManyAttempts")
    }
  }

  private func guess(_ instance: Instance, password: Person) async -> String {
    await guess(instance, password.email, password.password)
  }

  @Test func `V12: known and unknown emails are throttled alike`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      var answers: [[String]] = []
      for email in [Person.alice.email, "nobody@example.com"] {
        var answer: [String] = []
        for step in 0..<14 {
          if step == 12 { instance.clock.advance(30) }
          let result = await guess(instance, email, from: "b \(email)")
          answer.append(result == "emailNotFound" ? "wrongPassword" : result)
        }
        answers.append(answer)
      }
      #expect(answers[0] == answers[1])
      #expect(answers[0].tally == ["wrongPassword": 11, "tooManyAttempts": 3])
    }
  }

  @Test func `failed attempts are counted per user and pool`() async throws {
    try await withInstance { instance in
      for pool in [instance.acme, instance.east] {
        _ = try await instance.account(.alice, in: pool)
      }
      _ = try await instance.account(.bob)
      for _ in 0..<11 { _ = await guess(instance) }
      _ = try await instance.session(.bob)
      _ = try await instance.session(.alice, in: instance.east)
      #expect(await guess(instance, password: .alice) == "tooManyAttempts")
    }
  }

  @Test func `a network has 100 failed attempts, and its successful sign-ins don't count`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.mallory)
      for number in 0..<99 {
        #expect(await guess(instance, "user\(number)@example.com") == "emailNotFound")
        if number % 10 == 0 {
          let own = await guess(instance, Person.mallory.email, Person.mallory.password)
          #expect(own == "done")
        }
      }
      #expect(await guess(instance, "last@example.com") == "emailNotFound")
      #expect(await guess(instance, password: .mallory) == "tooManyAttempts")
      let elsewhere = await guess(
        instance, Person.mallory.email, Person.mallory.password, from: "198.51.100.1")
      #expect(elsewhere == "done")
      instance.clock.advance(30)
      #expect(await guess(instance, password: .mallory) == "done")
      #expect(await guess(instance) == "emailNotFound")
      #expect(await guess(instance) == "tooManyAttempts")
      // One attempt is dropped every minute.
      instance.clock.advance(3 * 60)
      for _ in 0..<2 { #expect(await guess(instance) == "emailNotFound") }
      #expect(await guess(instance) == "tooManyAttempts")
    }
  }

  /// Signs up from a network, or sets the email of a session's user.
  private func take(
    _ instance: Instance, _ email: String, in session: UserSession? = nil,
    from address: String = "203.0.113.66"
  ) async -> String {
    let author = Author(actor: .visitor, address: address)
    return await outcome {
      if let session {
        var change = AccountChange()
        (change.email, change.password) = (.set(email), .set(Person.mallory.password))
        _ = try await instance.identity.accounts.update(
          instance.acme, session.account, change, by: author, in: session)
      } else {
        var new = NewAccount()
        (new.email, new.password) = (email, Person.mallory.password)
        _ = try await instance.identity.signIns.signUp(instance.acme, new, by: author)
      }
    }
  }

  @Test
  func `V12: sign-ups and links with addresses in use count as wrong passwords of the network`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) {
        $0.signIn.anonymous = true
      }
      let session = try await instance.identity.signIns.signUp(
        instance.acme, NewAccount(), by: Instance.visitor
      ).session
      for number in 0..<49 {
        #expect(await take(instance, Person.alice.email) == "emailExists")
        #expect(await take(instance, "ALICE@example.com", in: session) == "emailExists")
        // Accounts that are created don't count.
        #expect(await take(instance, "new\(number)@example.com") == "done")
      }
      #expect(await guess(instance, "nobody@example.com") == "emailNotFound")
      #expect(await take(instance, Person.alice.email) == "emailExists")
      // The network learns nothing more, neither that an address is in use nor that it isn't.
      for email in [Person.alice.email, "new@example.com"] {
        #expect(await take(instance, email) == "tooManyAttempts")
        #expect(await take(instance, email, in: session) == "tooManyAttempts")
      }
      #expect(await guess(instance, password: .alice) == "tooManyAttempts")
      // Other networks, and accounts that a program creates, aren't affected.
      #expect(await take(instance, "new@example.com", from: "198.51.100.1") == "done")
      await expect("done") {
        var new = NewAccount()
        new.email = "program@example.com"
        _ = try await instance.identity.accounts.create(
          instance.acme, new,
          by: .program(Author(actor: Instance.boss.actor, address: "203.0.113.66")))
      }
      instance.clock.advance(30)
      #expect(await take(instance, "later@example.com", in: session) == "done")
    }
  }

  @Test func `a blocked network can't block an email`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      for number in 0..<100 { _ = await guess(instance, "user\(number)@example.com") }
      for _ in 0..<20 { #expect(await guess(instance) == "tooManyAttempts") }
      let alice = await guess(
        instance, Person.alice.email, Person.alice.password, from: "198.51.100.1")
      #expect(alice == "done")
    }
  }

  @Test func `an attempt that the server was too busy to check isn't counted`() async throws {
    try await withInstance { instance in
      _ = try await instance.account(.alice)
      // The hasher runs one hash at a time, has no queue, and the current hash doesn't finish.
      let latch = Latch()
      let crowded = try instance.identity(hasher: latch.hasher(width: 1, waiting: 0))
      let holder = Task {
        var new = NewAccount()
        (new.email, new.password) = (Person.bob.email, Person.bob.password)
        _ = try await crowded.accounts.create(instance.acme, new, by: .program(Instance.boss))
      }
      await latch.isReached()
      for _ in 0..<12 {
        await expect("busy") {
          try await crowded.signIns.password(
            instance.acme, email: Person.alice.email, password: Person.alice.password,
            address: "a")
        }
      }
      #expect(try await instance.guesses() == 0)
      latch.open()
      try await holder.value
      #expect(await guess(instance, password: .alice) == "done")
    }
  }

  @Test func `V4: wrong passwords and wrong codes are counted separately`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      for _ in 0..<10 { _ = await guess(instance) }
      #expect(await guess(instance) == "tooManyAttempts")
      #expect(try await instance.reload(device.account).wrongCodes == 0)
      let code = try device.code(at: instance.now)
      _ = try await instance.finalize(device, pending, code: code)
      #expect(await guess(instance) == "tooManyAttempts")
    }
  }
}
