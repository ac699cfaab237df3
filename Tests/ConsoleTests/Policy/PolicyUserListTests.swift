import HTTP
import Identity
import Testing

@testable import Console

/// The lists of affected users that a review links to.
@Suite struct PolicyUserListTests {
  /// Creates a user of eu-shop with these factors.
  private func user(_ world: World, _ email: String, _ factors: [FactorEntry]) async throws {
    let (pool, author) = (try await world.euPool, Author(actor: .commandLine))
    var new = NewAccount()
    new.email = email
    new.emailVerified = true
    let account = try await world.identity.accounts.create(pool, new, by: .program(author)).value
    var change = AccountChange()
    change.factors = .replace(factors)
    _ = try await world.identity.accounts.update(pool, account.id, change, by: author)
  }

  private func setSMS(_ world: World) async throws -> Int {
    try await world.identity.policies.change(
      try await world.euPool, by: .program(Author(actor: .commandLine))
    ) { $0.configuration.setSMS(true) }.value.policy.version
  }

  @Test func `turning off TOTP links to the users who lose their factor, and to no others`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let pool = try await world.eu
      let check = try await ada.submit(pool + "/policy", .policy(totp: "off"))
      #expect(check.says("2 enrolled users will sign in without a second factor."))
      let link =
        "<p><a href=\"\(pool)/users?factor=totp\">Show 2 users with an authenticator app</a></p>"
      #expect(check.says(link) && check.says("You can download each list as CSV."))
      #expect(!check.says("users?factor=phone") && !check.says("users?factor=none"))
      Markup.check(check)
      let listed = try await world.identity.accounts.list(try await world.euPool, filter: .totp)
      #expect(listed.items.count == 2)
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let without = try await tomas.submit(pool + "/policy", .policy(totp: "off"))
      #expect(!without.says("users?factor=") && !without.says("as CSV."), "can't see users")
    }
  }

  @Test func `the review says how many listed users have no other factor`() async throws {
    try await World.withSampleData { world in
      let phone = FactorEntry(phoneNumber: "+15555550101")
      try await user(world, "phone.only@example.com", [phone])
      let pool = try await world.euPool
      let chiara = try #require(
        try await world.identity.accounts.find(pool, ID(World.chiara)))
      var change = AccountChange()
      change.factors = .replace(
        chiara.factors.map { FactorEntry(id: $0.id.text) } + [
          FactorEntry(phoneNumber: "+15555550102")
        ]
      )
      _ = try await world.identity.accounts.update(
        pool, chiara.id, change, by: Author(actor: .commandLine))
      let version = try await setSMS(world)
      let ada = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let app = try await ada.submit(address, .policy(totp: "off", sms: "on", version: version))
      #expect(app.says("1 enrolled user will sign in without a second factor."))
      #expect(app.says("Show 2 users with an authenticator app</a> "))
      #expect(app.says(">1 of them has no other second factor of an enabled type.</span>"))
      Markup.check(app)
      let sms = try await ada.submit(address, .policy(version: version))
      #expect(sms.says("Show 2 users with a phone</a> "))
      #expect(sms.says(">1 of them has no other second factor of an enabled type.</span>"))
      let both = try await ada.submit(address, .policy(totp: "off", version: version))
      #expect(both.says("3 enrolled users will sign in without a second factor."))
      #expect(both.says("Show 2 users with an authenticator app</a></p>"))
      #expect(both.says("Show 2 users with a phone</a> "))
      #expect(both.says(">Users with both are in both lists.</span>"))
    }
  }

  @Test func `the list of a mandatory pattern says who else is on it, and who isn't`() async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let form = Form.policy(pattern: "mandatory")
      let exact = try await ada.submit(address, form)
      #expect(exact.says("users?factor=none\">Show users without a factor</a></p>"))
      #expect(!exact.says("users?factor=phone"))
      try await user(world, "phone.only@example.com", [FactorEntry(phoneNumber: "+15555550101")])
      let pool = try await world.euPool
      _ = try await world.identity.pools.update(
        project: pool.project, tenant: pool.tenant, by: .program(Author(actor: .commandLine))
      ) { $0.signIn.anonymous = true }
      _ = try await world.identity.signIns.signUp(
        pool, NewAccount(), by: Author(actor: .visitor))
      let check = try await ada.submit(address, form)
      #expect(check.says("users?factor=phone\">Show 1 user with a phone</a></p>"))
      #expect(check.says("users?factor=none\">Show users without a factor</a> "))
      #expect(check.says(">Anonymous users, who can’t enroll, are listed too.</span>"))
      #expect(check.says(">Users whose second factors are all of disabled types aren’t listed.<"))
      Markup.check(check)
    }
  }
}
