import Crypto
import HTTP
import Identity
import Testing

@testable import Console

/// Bulk removals across user pools in a browser, from the search to the undo.
@Suite struct RemovalGroupPageTests {
  private static let list = """
    chiara.bianchi@example.com
    farid@example.com
    nobody@example.com
    """

  private func preview(
    _ browser: Browser, _ list: String = Self.list
  ) async throws -> (address: String, page: Answer) {
    let answer = try await browser.submit("/users", ["list": list], to: "/bulk-removals")
    #expect(answer.status == .seeOther)
    let address = try #require(answer.location)
    return (address, try await browser.get(address))
  }

  /// Returns the form that starts a removal in all of its pools.
  private func form(_ page: Answer) -> Form {
    let chosen = page.text.matches(of: /name="pool" value="([0-9]+)"/).map { String($0.1) }
    return Form(
      [Form.Entry(name: "reason", value: "lost"), Form.Entry(name: "note", value: "Office theft")]
        + chosen.map { Form.Entry(name: "pool", value: $0) })
  }

  /// Adds users with a second factor to another pool than that of the list's users.
  private func addUsers(_ emails: [String], to world: World) async throws -> Scope {
    let us = try await world.identity.scopes.existing(
      project: ID("acme-retail"), tenant: try await world.tenantID("us-shop"))
    for email in emails {
      var new = NewAccount()
      new.email = email
      new.emailVerified = true
      let account = try await world.identity.accounts.create(
        us, new, by: Author(actor: .commandLine))
      try await world.enroll(account, "Phone", in: us)
    }
    return us
  }

  private func run(_ world: World) async throws {
    while try await world.identity.bulkRemovals.step() {}
  }

  @Test func `a list across pools is previewed with names and pools, confirmed, and processed`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (address, draft) = try await preview(nadia)
      Markup.check(draft)
      #expect(draft.says("name=\"pool\"") && draft.says("chiara.bianchi@example.com"))
      #expect(draft.says("Not included") && draft.says("nobody@example.com"))
      let none = try await nadia.submit(address, ["reason": "lost", "ticket": "T-1"])
      Markup.check(none)
      #expect(none.status == .unprocessableContent && none.says("value=\"T-1\""))
      #expect(none.says("Select at least one user pool."))
      let begun = try await nadia.submit(address, form(draft))
      #expect(begun.location == address)
      try await run(world)
      let done = try await nadia.get(address)
      Markup.check(done)
      #expect(done.says("Office theft") && !done.says("Stop removal"))
      let list = try await nadia.get("/bulk-removals")
      Markup.check(list)
      #expect(list.values(of: "href").contains(address))
    }
  }

  @Test func `another administrator undoes a removal for all users`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (address, draft) = try await preview(nadia)
      _ = try await nadia.submit(address, form(draft))
      try await run(world)
      let own = try await nadia.get(address + "/undo")
      #expect(own.says("Only another administrator can undo it") && !own.says("name=\"reason\""))
      let ada = try await Browser.signedIn(world)
      let question = try await ada.get(address + "/undo")
      Markup.check(question)
      let wrong = try await ada.submit(address + "/undo", ["reason": "", "ticket": "T-2"])
      Markup.check(wrong)
      #expect(wrong.status == .unprocessableContent && wrong.says("value=\"T-2\""))
      let undone = try await ada.submit(address + "/undo", ["reason": "mistake"])
      #expect(undone.location == address)
      try await run(world)
      let page = try await ada.get(address)
      Markup.check(page)
      #expect(page.says("Removed, then restored") && !page.says(address + "/undo"))
    }
  }

  @Test func `one's own removal names who can undo it in all of its pools, with a link to send`()
    async throws
  {
    try await World.withSampleData { world in
      let us = try await addUsers(["farid@example.com"], to: world)
      let ada = try await Browser.signedIn(world)
      let (address, draft) = try await preview(ada)
      _ = try await ada.submit(address, form(draft))
      try await run(world)
      let alone = try await ada.get(address)
      // Nadia can remove factors in one of them.
      #expect(alone.says("No other administrator can undo it in all 2 user pools."))
      #expect(!alone.says("Send them this link"))
      _ = try await world.identity.administrators.create(
        email: "omar@example.com", displayName: "Omar", password: Secret(World.password),
        grant: Grant(role: .support, project: us.project), by: Author(actor: .commandLine))
      for path in [address, address + "/undo"] {
        let asking = try await ada.get(path)
        Markup.check(asking)
        #expect(asking.says("Only another administrator") && asking.says("Omar can undo it."))
        #expect(asking.says(">\(World.publicURL)\(address)/undo</code>"))
      }
    }
  }

  @Test func `where all pools require a verified caller, the undo leads to the users' pages`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (address, draft) = try await preview(nadia, "chiara.bianchi@example.com")
      _ = try await nadia.submit(address, form(draft))
      try await run(world)
      try await world.setSupportRules { $0.callerVerification = .required }
      let ada = try await Browser.signedIn(world)
      let undo = try await ada.get(address + "/undo")
      Markup.check(undo)
      #expect(undo.says("1 pool requires a verified caller. Undo the removal on each user’s page."))
      #expect(!undo.says("No factors of this removal") && !undo.says("name=\"reason\""))
    }
  }

  @Test func `an interrupted undo is shown as partly undone`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (address, draft) = try await preview(nadia)
      _ = try await nadia.submit(address, form(draft))
      try await run(world)
      let administrators = world.identity.administrators
      let other = try await administrators.create(
        email: "omar@example.com", displayName: "\u{202E}Omár", password: Secret(World.password),
        grant: Grant(role: .support), by: Author(actor: .commandLine))
      let omar = try await Browser.signedIn(world, as: "omar@example.com")
      #expect(
        try await omar.submit(address + "/undo", ["reason": "mistake"]).location == address)
      _ = try await world.identity.bulkRemovals.step(1)
      _ = try await administrators.revoke(
        Grant(role: .support), from: other.id, by: Author(actor: .commandLine))
      try await run(world)
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(address)
      Markup.check(page)
      let ending = "The undo by \u{2068}Omár\u{2069} ended after 1 of 2 users"
      #expect(page.says("partly undone") && page.says(ending))
      let pools = try await world.eu + "/bulk-removals/"
      let pool = try #require(page.values(of: "href").first { $0.hasPrefix(pools) })
      let job = try await ada.get(pool)
      Markup.check(job)
      #expect(job.says("partly undone") && job.says(ending))
      for list in ["/bulk-removals", try await world.eu + "/bulk-removals"] {
        #expect(try await ada.get(list).says("partly undone"))
      }
    }
  }

  @Test func `the part of a deleted pool keeps its counts and says that the pool was deleted`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let (address, draft) = try await preview(ada)
      _ = try await ada.submit(address, form(draft))
      try await run(world)
      let pool = try await world.eu
      let before = try await ada.get(address)
      #expect(before.values(of: "href").contains { $0.hasPrefix(pool + "/bulk-removals/") })
      try await world.identity.pools.delete(
        project: ID("acme-retail"), tenant: try await world.euShop, by: Author(actor: .commandLine))
      while try await world.identity.purge() {}
      let after = try await ada.get(address)
      Markup.check(after)
      #expect(after.says("The user pool was deleted."))
      #expect(!after.values(of: "href").contains { $0.hasPrefix(pool) })
      let figures = /<dl class="figures">.*?<\/dl>/.dotMatchesNewlines()
      let counts = [before, after].map { $0.text.firstMatch(of: figures).map { String($0.0) } }
      #expect(counts[0] != nil && counts[0] == counts[1])
    }
  }

  @Test func `a start and a stop say which users are pending approval`() async throws {
    try await World.withSampleData { world in
      let us = try await addUsers(["farid@example.com"], to: world)
      var settings = SupportRules()
      settings.approvalOverUsers = 0
      try await world.identity.support.change(us, to: settings, by: Author(actor: .commandLine))
      let ada = try await Browser.signedIn(world)
      let (address, draft) = try await preview(ada)
      _ = try await ada.submit(address, form(draft))
      let begun = try await ada.get(address)
      #expect(
        begun.says("The removal for 2 users has started. For 1 user, it’s pending approval."))
      Markup.check(begun)
      _ = try await ada.submit(address, [:], to: address + "/end")
      #expect(try await ada.get(address).says("In 1 user pool, the removal is still pending"))
      _ = try await ada.submit(address, [:], to: address + "/end")
      #expect(try await ada.get(address).says("No part of the removal is running."))
    }
  }

  /// Adds users with a second factor to another pool, and opens the preview of a removal for them
  /// and for the two users of the list.
  ///
  /// - Returns: The preview, and the value of the checkbox of the other pool.
  private func preview(
    _ count: Int, _ browser: Browser
  ) async throws -> (address: String, page: Answer, pool: String) {
    let world = browser.world
    let emails = (0..<count).map { "user\($0)@example.com" }
    let us = try await addUsers(emails, to: world)
    let (address, page) = try await preview(
      browser, ([Self.list] + emails).joined(separator: "\n"))
    let group = try await world.identity.bulkRemovals.group(
      try #require(address.split(separator: "/").last.flatMap { Int64($0) }),
      for: ID(try await world.id(of: World.ada)))
    let part = try #require(group.parts.first { $0.scope.tenant == us.tenant })
    return (address, page, String(part.job.id))
  }

  private func expect(_ page: Answer, asksAbout users: Int, in pools: String) {
    Markup.check(page)
    #expect(page.says("Bulk removal for \(users) users · "))
    #expect(page.says("Remove second factors from \(users) users in \(pools)?"))
    #expect(page.says("All \(users) second factors of \(users) users are removed."))
    #expect(page.says("Number of users in the selected pools, \(users)"))
    #expect(page.says("Remove factors from \(users) users"))
  }

  @Test func `the number to enter is without the users of a pool where the agent is blocked`()
    async throws
  {
    try await World.withSampleData { world in
      try await world.block(World.ada, in: try await world.euScope)
      let ada = try await Browser.signedIn(world)
      let (address, draft, pool) = try await preview(22, ada)
      #expect(draft.says("You hit the hourly action limit here."))
      expect(draft, asksAbout: 22, in: "1 pool")
      let form: Form = ["reason": "stolen", "pool": pool, "number": "22"]
      #expect(try await ada.submit(address, form).location == address)
    }
  }

  @Test func `the number to enter is that of the pools that stay selected`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let (address, draft, pool) = try await preview(22, ada)
      expect(draft, asksAbout: 24, in: "2 pools")
      let wrong = try await ada.submit(
        address, ["reason": "stolen", "pool": pool, "number": "24"])
      #expect(wrong.status == .unprocessableContent)
      #expect(wrong.says("Enter 22, the number of users."))
      expect(wrong, asksAbout: 22, in: "1 pool")
      let none = try await ada.submit(address, ["reason": "stolen"])
      #expect(none.says("Select at least one user pool."))
      expect(none, asksAbout: 24, in: "2 pools")
      let form: Form = ["reason": "stolen", "pool": pool, "number": "22"]
      #expect(try await ada.submit(address, form).location == address)
    }
  }

  @Test func `an agent who reached the limits of all pools can ask in the preview to be unblocked`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let us = try await addUsers(["farid@example.com"], to: world)
      let (address, _) = try await preview(ada)
      for scope in [try await world.euScope, us] {
        var rules = try await world.identity.support.settings(scope)
        rules.actionsPerHour = 1
        try await world.identity.support.change(
          scope, to: rules, by: Author(actor: .commandLine))
        let account = try #require(try await world.identity.accounts.list(scope).items.first)
        let user = ConsolePaths.user(scope, account.id.text)
        #expect(try await ada.submit(user + "/sessions/end", ["reason": "lost"]).location == user)
      }
      let limit = try await ada.get(address)
      Markup.check(limit)
      #expect(limit.says("You’ve reached the limit of 1 action per hour"))
      #expect(limit.says("Ask an owner to unblock you"))
      let asked = try await ada.submit(address, form(limit))
      Markup.check(asked)
      #expect(asked.says("Waiting doesn’t end the block.") && !asked.says("Ask an owner"))
      #expect(try await world.identity.support.held().count == 2)
    }
  }

  @Test
  func `an agent who reached the limit of one pool can ask in the undo to be unblocked`()
    async throws
  {
    try await World.withSampleData { world in
      _ = try await addUsers(["farid@example.com"], to: world)
      let ada = try await Browser.signedIn(world)
      let (address, draft) = try await preview(ada)
      #expect(draft.text.matches(of: /name="pool" value="/).count == 2)
      _ = try await ada.submit(address, form(draft))
      try await run(world)
      _ = try await world.identity.administrators.create(
        email: "omar@example.com", displayName: "Omar", password: Secret(World.password),
        grant: Grant(role: .support), by: Author(actor: .commandLine))
      let omar = try await Browser.signedIn(world, as: "omar@example.com")
      let question = try await omar.get(address + "/undo")
      #expect(question.says("Restore factors for 3 users<") && question.says("name=\"reason\""))
      try await world.setSupportRules { $0.actionsPerHour = 1 }
      let user = try await world.eu + "/users/\(World.chiara)"
      #expect(try await omar.submit(user + "/sessions/end", ["reason": "lost"]).location == user)
      let limit = try await omar.get(address + "/undo")
      Markup.check(limit)
      #expect(limit.says("You’ve reached the limit of 1 action per hour"))
      #expect(limit.says("Ask an owner to unblock you") && !limit.says("name=\"reason\""))
      let asked = try await omar.submit(address + "/undo", [:])
      Markup.check(asked)
      #expect(asked.says("Waiting doesn’t end the block.") && !asked.says("Ask an owner"))
      #expect(!asked.says("name=\"reason\""))
      #expect(try await world.identity.support.held().count == 1)
    }
  }

  @Test func `automatic refresh stays off on other pages, and turning it on keeps the page`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let (address, draft, _) = try await preview(60, ada)
      _ = try await ada.submit(address, form(draft))
      let still = try await ada.get(address + "?still")
      let next = try #require(still.values(of: "href").first { $0.contains("after=") })
      #expect(next.hasPrefix(address + "?still=&after="))
      let second = try await ada.get(next)
      #expect(second.response.fields["Refresh"] == nil)
      #expect(second.values(of: "href").contains(address + "?still="))
      let moving = next.replacing("still=&", with: "")
      #expect(second.values(of: "href").contains(moving))
      let turnedOn = try await ada.get(moving)
      #expect(turnedOn.response.fields["Refresh"] == "3")
      #expect(turnedOn.values(of: "href").contains(next))
    }
  }

  @Test func `users found by a search across pools are selected for a removal`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let found = try await nadia.get("/users?q=chiara")
      Markup.check(found)
      #expect(found.says("Remove second factors from selected users…"))
      let page = try #require(found.value(of: "user"))
      let user = try await world.eu + "/users/\(World.chiara)"
      #expect(page == user)
      let selected = try await nadia.submit(
        "/users?q=chiara", ["user": page], to: "/bulk-removals")
      let preview = try await nadia.get(try #require(selected.location))
      #expect(preview.says("chiara.bianchi@example.com"))
      let all = try await nadia.submit("/users?q=chiara", [:], to: "/bulk-removals?q=chiara")
      #expect(all.status == .seeOther)
      let nobody = try await nadia.submit("/users?q=chiara", [:], to: "/bulk-removals")
      #expect(nobody.status == .unprocessableContent && nobody.says("Select users"))
    }
  }

  @Test func `auditors search across pools without a way to select users`() async throws {
    try await World.withSampleData { world in
      let role = TestRole(role: .auditor, reach: .instance)
      let auditor = try await role.browser(in: world)
      let found = try await auditor.get("/users?q=chiara")
      #expect(found.says("chiara.bianchi@example.com"))
      #expect(!found.says("name=\"user\"") && !found.says("/bulk-removals"))
    }
  }

  @Test func `columns that were chosen in a list apply to a search across pools`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      _ = try await nadia.get("/users?q=chiara&column=&column=state")
      let eu = try await world.eu
      for address in ["/users?q=chiara", eu + "/users"] {
        let page = try await nadia.get(address)
        #expect(page.says("no-phone") && page.says("no-created") && !page.says("no-state"))
      }
    }
  }
}
