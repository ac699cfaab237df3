import Crypto
import Database
import OTP
import Testing

@testable import Identity
@testable import TestIdentity

/// The enrollment links of users whose sign-ins are refused, and who has none.
struct RefusalLinkTests {
  private func isRefused(_ instance: Instance, _ person: Person = .alice) async throws -> Bool {
    if case .enrollmentRequired = try await instance.firstFactor(person) { true } else { false }
  }

  private func links(_ instance: Instance) async throws -> Int {
    try await instance.mails("enrollment-link").count
  }

  /// What the simulator predicts for Alice.
  private func predicted(_ instance: Instance) async throws -> [Enforcement.Mode?] {
    let owner = try await instance.agent("o", role: .owner)
    return try await instance.identity.signIns.forecasts(
      of: Person.alice.email, visibleTo: owner.administrator
    ).map(\.enforcement)
  }

  private func useLinks(_ instance: Instance, of account: Account) async throws {
    let now = instance.now
    try await instance.database.write { connection in
      try UserLink.useAll(.enrollment, of: account.key, at: now, connection)
    }
  }

  /// How users can sign in next to a phone number, which doesn't support a second factor.
  @Test(arguments: [false, true], [nil, .claim, .refuse] as [Enforcement.Mode?])
  func `a user is refused only if they can sign in with a second factor afterward`(
    hasPassword: Bool, mode: Enforcement.Mode?
  ) async throws {
    try await withInstance(carriesMail: true) { instance in
      let pool = instance.acme
      try await instance.allowPhones()
      var new = NewAccount()
      (new.email, new.emailVerified) = (Person.alice.email, true)
      new.phoneNumber = Instance.number
      if hasPassword { new.password = Person.alice.password }
      let account = try await instance.identity.accounts.create(
        pool, new, by: .program(Instance.boss)
      ).value
      if let mode { try await instance.enforce(mode) }
      let (store, now) = (instance.identity.signIns.store, instance.now)
      for (password, emailLink) in [(false, false), (false, true), (true, false), (true, true)] {
        _ = try await instance.identity.pools.update(
          project: pool.project, by: .program(Instance.boss)
        ) {
          $0.signIn = SignInMethods(
            password: password, emailLink: emailLink, anonymous: false, phone: true)
        }
        let isRefused = try await instance.database.write { connection in
          try store.refusesSignIn(of: account, in: pool, at: now, connection)
        }
        let signsInAfterward = emailLink || password && hasPassword
        #expect(
          isRefused == (mode == .refuse && signsInAfterward), "\(password) \(emailLink)")
      }
    }
  }

  @Test func `emails that anyone can request don't use up enrollment links`() async throws {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.account(.alice)
      try await instance.enforce(.refuse)
      for _ in 0..<10 { _ = try await instance.code(.passwordReset) }
      let refused = try await isRefused(instance)
      #expect(try await links(instance) == 1 && refused)
    }
  }

  @Test func `a user whose links are used up gets the claim once the last one is invalid`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let alice = try await instance.account(.alice)
      let before = try await instance.session(.alice)
      try await instance.enforce(.refuse)
      for number in 1...10 {
        try await useLinks(instance, of: alice)
        let refused = try await isRefused(instance)
        #expect(try await links(instance) == number && refused)
      }
      instance.clock.advance(301)
      let withLink = try await isRefused(instance)
      #expect(try await predicted(instance) == [.refuse] && withLink)
      instance.clock.advance(1_500)
      let grant = try await instance.session(.alice)
      let refreshed = try await instance.identity.sessions.refresh(
        before.refreshToken, project: instance.acme.project)
      #expect(grant.mustEnroll && refreshed.mustEnroll)
      #expect(try await predicted(instance) == [.claim])
      #expect(try await links(instance) == 10)
      instance.clock.advance(1_800)
      let later = try await isRefused(instance)
      #expect(try await links(instance) == 11 && later)
    }
  }

  @Test func `after too many wrong codes, the next sign-in sends a new link`() async throws {
    try await withInstance(carriesMail: true) { instance in
      _ = try await instance.account(.alice)
      try await instance.enforce(.refuse)
      _ = try await instance.firstFactor(.alice)
      let link = try await instance.linkCode("enrollment-link", to: "/__/auth/enroll")
      let opened = try await instance.identity.enrollmentLinks.open(link)
      let secret = Secret(try #require(Base32.decode(opened.key.revealedText)))
      let app = try #require(OneTimePassword(secret: secret))
      let wrong = try app.code(step: app.step(at: instance.now.seconds - 3_600))
      for guess in 1...10 {
        await expect(guess < 10 ? "wrongCode" : "tooManyCodes") {
          try await instance.identity.enrollmentLinks.finish(
            link, ticket: opened.ticket.revealedText, typed: TypedCode(wrong), displayName: "",
            by: Instance.visitor)
        }
      }
      let refused = try await isRefused(instance)
      #expect(try await links(instance) == 2 && refused)
    }
  }

  @Test func `a link that ended with the sessions is replaced at the next sign-in`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let alice = try await instance.account(.alice)
      try await instance.enforce(.refuse)
      _ = try await instance.firstFactor(.alice)
      var change = AccountChange()
      change.password = .set(Person.alice.password)
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      let refused = try await isRefused(instance)
      #expect(try await links(instance) == 2 && refused)
    }
  }

  @Test(arguments: Enforcement.Mode.allCases)
  func `unenrolling the only factor returns no tokens that the pool refuses`(
    mode: Enforcement.Mode
  ) async throws {
    try await withInstance(carriesMail: true) { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.enforce(mode)
      let grant = try await instance.identity.enrollments.withdraw(
        device.session, enrollment: device.factor.text, by: Instance.visitor)
      #expect(grant?.mustEnroll == (mode == .claim ? true : nil))
      let factors = try await instance.reload(device.account).factors
      #expect(factors.isEmpty)
    }
  }

  @Test func `a removal says what happens when the user signs in without a second factor`()
    async throws
  {
    for carriesMail in [true, false] {
      try await withInstance(carriesMail: carriesMail) { instance in
        let device = try await instance.enrolled(.alice)
        let (removals, policies) = (instance.identity.factorRemovals, instance.identity.policies)
        func next() async throws -> SignInWithoutFactor {
          try await removals.consequences(instance.acme, device.account.id, nil)
            .signInWithoutFactor
        }
        #expect(try await next() == .accepted)
        func pool() async throws -> SignInWithoutFactor {
          try await policies.signInWithoutFactor(in: instance.acme)
        }
        #expect(try await pool() == .accepted)
        try await instance.enforce(.claim)
        #expect(try await next() == .enforced(.claim, from: nil))
        #expect(try await pool() == .enforced(.claim, from: nil))
        guard carriesMail else { return }
        let tomorrow = Day(instance.now.advanced(bySeconds: 86_400))
        try await instance.enforce(.refuse, from: "\(tomorrow)", grace: 7)
        let first = tomorrow.start.advanced(bySeconds: 7 * 86_400)
        #expect(try await pool() == .enforced(.refuse, from: first))
        let dueAt = device.account.createdAt.advanced(bySeconds: 7 * 86_400)
        try await instance.enforce(.claim, grace: 7)
        #expect(try await next() == .enforced(.claim, from: dueAt))
        try await instance.enforce(.refuse, grace: 7)
        #expect(try await next() == .enforced(.refuse, from: dueAt))
        try await instance.enforce(.refuse)
        #expect(try await next() == .enforced(.refuse, from: nil))
        #expect(try await pool() == .enforced(.refuse, from: nil))
        // A user who can't be sent an enrollment link isn't refused.
        var change = AccountChange()
        change.emailVerified = false
        _ = try await instance.identity.accounts.update(
          instance.acme, device.account.id, change, by: Instance.boss)
        #expect(try await next() == .enforced(.claim, from: nil))
      }
    }
  }
}
