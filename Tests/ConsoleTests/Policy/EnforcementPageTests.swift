import HTTP
import Identity
import Testing

@testable import Console

/// Server enforcement on the policy page, its review page, and wherever policies are shown.
@Suite struct EnforcementPageTests {
  private static let claim: Form = [
    "enforcement": "claim", "enforced-from": "2026-12-01", "grace": "14",
  ]

  @Test func `enforcement is reviewed with the number of users and saved`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let check = try await browser.submit(
        address, .policy(pattern: "mandatory", more: Self.claim), to: address)
      let isCounted = check.says("would have the claim in ID tokens from Dec 15, 2026.")
      #expect(check.status == .ok && isCounted)
      #expect(check.says("flag in ID token from Dec 1, 2026, 14-day grace period"))
      let saved = try await browser.post(address + "/changes", try check.confirmation)
      #expect(saved.status == .seeOther)
      let enforcement = try await world.policy.enforcement
      let expected = Day("2026-12-01").flatMap { Enforcement(.claim, from: $0, graceDays: 14) }
      #expect(enforcement == expected)
      let page = try await browser.get(address)
      #expect(page.says("<option value=\"claim\" selected>"))
      #expect(page.says("The server enforces it from Dec 1, 2026."))
    }
  }

  @Test func `users stay signed in, and the claim comes with the next token`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let other = try await browser.submit(address, .policy(intervals: "2"))
      #expect(other.says("Users stay signed in. The change applies from the next sign-in on."))
      let claim = try await browser.submit(
        address, .policy(pattern: "mandatory", more: Self.claim))
      #expect(claim.says("from the next sign-in or token refresh"))
      #expect(claim.says("<li>Users stay signed in.</li>"))
      let both = try await browser.submit(
        address, .policy(intervals: "2", pattern: "mandatory", more: Self.claim))
      #expect(both.says("Everything but the claim changes from the next sign-in on."))
    }
  }

  @Test func `“mandatory” isn't called the application's while enforcement is pending`()
    async throws
  {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      let words = "Users without a factor still get tokens; your app must block them."
      let address = try await world.eu + "/policy"
      let browser = try await Browser.signedIn(world, as: World.iris)
      _ = try await world.identity.policies.change(pool, by: .program(Author(actor: .commandLine)))
      {
        $0.pattern = .mandatory
      }
      #expect(try await browser.get(address).says(words))
      let day = try #require(Day("2026-12-01"))
      _ = try await world.identity.policies.change(pool, by: .program(Author(actor: .commandLine)))
      {
        $0.enforcement = Enforcement(.claim, from: day, graceDays: 0)
      }
      let page = try await browser.get(address)
      #expect(page.says("The server enforces it from Dec 1, 2026.") && !page.says(words))
    }
  }

  @Test func `a pool in claim mode isn't called enforced, and begins on the same day everywhere`()
    async throws
  {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      let day = Day(world.clock.now)
      _ = try await world.identity.policies.change(pool, by: .program(Author(actor: .commandLine)))
      {
        $0.pattern = .mandatory
        $0.enforcement = Enforcement(.claim, from: day, graceDays: 0)
      }
      let ada = try await Browser.signedIn(world)
      _ = try await ada.submit("/account/preferences", ["zone": "America/New_York"])
      let page = try await ada.get(world.eu + "/policy")
      #expect(page.says("Since Nov 20, 2026."))
      let review = try await ada.get("/projects/acme-retail/review")
      #expect(review.says("flag in ID token"))
      #expect(!review.says("Codes and enrollment enforced by the server"))
    }
  }

  @Test func `a pool that refuses users, on a server without email, is shown as reporting them`()
    async throws
  {
    try await World.withSampleData { world in
      let day = Day(world.clock.now)
      _ = try await world.identity.policies.change(
        try await world.euPool, by: .program(Author(actor: .commandLine))
      ) {
        $0.pattern = .mandatory
        $0.enforcement = Enforcement(.refuse, from: day, graceDays: 0)
      }
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(world.eu + "/policy")
      #expect(page.says("reported by the server"))
      #expect(page.says("This server sends no email, so no one is refused."))
      let review = try await ada.get("/projects/acme-retail/review")
      #expect(review.says("flag in ID token"))
    }
  }

  @Test func `while TOTP is off, users with a factor aren't listed as those without`() async throws
  {
    try await World.withSampleData { world in
      _ = try await world.identity.policies.change(
        try await world.euPool, by: .program(Author(actor: .commandLine))
      ) { $0.configuration = .initial }
      let page = try await Browser.signedIn(world).get(world.eu + "/policy")
      #expect(page.says("4 can sign in without a second factor"))
      #expect(!page.says("users?factor=none\">4 can"))
    }
  }

  @Test func `a removal says whether the server enforces a new enrollment`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let removal = try await world.filled("{eu}/users/\(World.chiara)/factors/removal")
      let eu = try await world.eu
      let bulk = try await nadia.submit(
        eu + "/users", ["list": "chiara.bianchi@example.com"], to: eu + "/bulk-removals")
      let draft = try #require(bulk.location)
      #expect(try await nadia.get(removal).says("their first factor alone signs them in."))
      #expect(try await nadia.get(draft).says("their first factor alone signs them in."))
      let day = try #require(Day("2026-12-01"))
      let pool = try await world.euPool
      for (from, words, bulkWords) in [
        (
          Day(world.clock.now), "and their ID tokens say that they have to enroll.",
          "signs them in, and the ID tokens of those who have to enroll say so."
        ),
        (
          day, "From Dec 1, 2026, 00:00\u{00A0}UTC, their ID tokens say that they have to enroll.",
          "From Dec 1, 2026, 00:00\u{00A0}UTC, the ID tokens of those who have to enroll say so."
        ),
      ] {
        _ = try await world.identity.policies.change(
          pool, by: .program(Author(actor: .commandLine))
        ) {
          $0.pattern = .mandatory
          $0.enforcement = Enforcement(.claim, from: from, graceDays: 0)
        }
        let page = try await nadia.get(removal)
        Markup.check(page)
        #expect(page.says(words), "\(from)")
        #expect(try await nadia.get(draft).says(bulkWords), "\(from)")
      }
    }
  }

  @Test func `turning off SMS says how many users the server then refuses`() async throws {
    try await World.withSampleData { world in
      let (pool, author) = (try await world.euPool, Author(actor: .commandLine))
      var new = NewAccount()
      new.email = "phone.only@example.com"
      new.emailVerified = true
      let account = try await world.identity.accounts.create(pool, new, by: .program(author)).value
      var change = AccountChange()
      change.factors = .replace([FactorEntry(phoneNumber: "+15555550101")])
      _ = try await world.identity.accounts.update(pool, account.id, change, by: author)
      let day = Day(world.clock.now)
      let policy = try await world.identity.policies.change(pool, by: .program(author)) {
        $0.configuration.setSMS(true)
        $0.pattern = .mandatory
        $0.enforcement = Enforcement(.claim, from: day, graceDays: 0)
      }.value.policy
      let required = try await world.identity.policies.unenrolledUsers(policy).required
      let ada = try await Browser.signedIn(world)
      let answers: Form = ["enforcement": "claim", "enforced-from": "\(day)", "grace": "0"]
      let check = try await ada.submit(
        try await world.eu + "/policy",
        .policy(pattern: "mandatory", version: policy.version, more: answers))
      #expect(check.says("1 user with a phone has no other second factor."))
      #expect(!check.says("will sign in without a second factor"))
      #expect(check.says("\(required + 1) users without a factor would have the claim"))
    }
  }

  @Test func `a form without the fields keeps the enforcement`() async throws {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      let day = try #require(Day("2026-12-01"))
      _ = try await world.identity.policies.change(pool, by: .program(Author(actor: .commandLine)))
      {
        $0.enforcement = Enforcement(.claim, from: day, graceDays: 0)
      }
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let saved = try await browser.save(address, .policy(intervals: "1", version: 3))
      let policy = try await world.policy
      #expect(saved.status == .seeOther && policy.enforcement != nil)
      #expect(policy.configuration.totp?.adjacentIntervals == 1)
    }
  }

  @Test func `invalid values are explained at their fields`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let invalid: Form = ["enforcement": "claim", "enforced-from": "soon", "grace": "91"]
      let page = try await browser.submit(
        address, .policy(pattern: "mandatory", more: invalid), to: address)
      #expect(page.status == .unprocessableContent)
      #expect(page.says("Enter the first day.") && page.says("Enter a whole number from 0 to 90."))
    }
  }

  @Test func `refusal can't be selected while the server sends no email`() async throws {
    try await World.withSampleData { world in
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let refuse: Form = ["enforcement": "refuse", "enforced-from": "2026-12-01", "grace": "0"]
      let page = try await browser.submit(
        address, .policy(pattern: "mandatory", more: refuse), to: address)
      #expect(page.status == .unprocessableContent)
      #expect(page.says("This server sends no email"))
    }
  }

  @Test func `a review says that users who can't be sent a link have the claim instead`()
    async throws
  {
    try await World.withSampleData(carriesMail: true) { world in
      let users = try await world.identity.policies.unenrolledUsers(try await world.policy)
      let browser = try await Browser.signedIn(world)
      let refuse: Form = ["enforcement": "refuse", "enforced-from": "2026-12-01", "grace": "0"]
      let check = try await browser.submit(
        try await world.eu + "/policy", .policy(pattern: "mandatory", more: refuse))
      #expect(check.says("From Dec 1, 2026, \(users.required) user"))
      #expect(check.says("without a factor would be refused, or get the claim in ID tokens if"))
    }
  }

  @Test func `less enforcement requires a reason`() async throws {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      let day = try #require(Day("2026-12-01"))
      _ = try await world.identity.policies.change(pool, by: .program(Author(actor: .commandLine)))
      {
        $0.pattern = .mandatory
        $0.enforcement = Enforcement(.claim, from: day, graceDays: 0)
      }
      let browser = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let off: Form = ["enforcement": "off", "note": ""]
      let check = try await browser.submit(
        address, .policy(pattern: "mandatory", version: 3, more: off), to: address)
      #expect(check.says("The server no longer enforces enrollment."))
      #expect(check.says("name=\"note\""), "a weaker policy needs a reason")
    }
  }
}
