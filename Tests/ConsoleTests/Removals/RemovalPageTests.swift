import Crypto
import HTTP
import Identity
import Testing

@testable import Console

/// Bulk removals in a browser, from the pasted list to the result.
@Suite struct RemovalPageTests {
  static let list = """
    chiara.bianchi@example.com
    farid@example.com
    jo@example.com
    nobody@example.com
    \(World.chiara)
    """

  /// Submits a list, and opens its preview.
  private func preview(
    _ browser: Browser, _ list: String = Self.list
  ) async throws -> (address: String, page: Answer) {
    let eu = try await browser.world.eu
    let answer = try await browser.submit(eu + "/users", ["list": list], to: eu + "/bulk-removals")
    #expect(answer.status == .seeOther)
    let address = try #require(answer.location)
    return (address, try await browser.get(address))
  }

  private func run(_ world: World) async throws {
    while try await world.identity.bulkRemovals.step() {}
  }

  @Test func `a list is previewed, confirmed once, and processed`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (address, draft) = try await preview(nadia)
      try Snapshot.check(draft.text, named: "removal-draft.html")
      Markup.check(draft)
      #expect(draft.says("Remove second factors from 2 users?"))
      let open = try await nadia.get(address + "?show=not-found")
      #expect(open.says("nobody@example.com") && !open.says("farid@example.com"))
      let wrong = try await nadia.submit(address, ["reason": "", "note": "n", "ticket": "T-1"])
      #expect(wrong.status == .unprocessableContent && wrong.says("value=\"T-1\""))
      try Snapshot.check(wrong.text, named: "removal-draft-wrong.html")
      let form: Form = ["reason": "lost", "note": "Office theft", "ticket": "HD-9"]
      for _ in 0..<2 {
        #expect(try await nadia.submit(address, form).location == address)
      }
      let running = try await nadia.get(address)
      try Snapshot.check(running.text, named: "removal-running.html")
      #expect(running.response.fields["Refresh"] == "3")
      #expect(running.says("The removal for 2 users has started."))
      let still = try await nadia.get(address + "?still")
      #expect(still.response.fields["Refresh"] == nil && still.says("Turn it on"))
      try await run(world)
      let done = try await nadia.get(address)
      try Snapshot.check(done.text, named: "removal-done.html")
      #expect(done.response.fields["Refresh"] == nil && !done.says("Stop removal"))
      Markup.check(done)
      let user = try await nadia.get(try await world.eu + "/users/\(World.chiara)")
      #expect(user.says("No second factor") && user.says("Office theft"))
      let file = try await nadia.get(address + "/result.csv")
      #expect(file.response.fields[.contentType]?.hasPrefix("text/csv") == true)
      #expect(
        file.text.contains(
          "\"1\",\"chiara.bianchi@example.com\",\"removed 1 factor, sessions ended: 1\",\"1\",\"1\""
        ))
      #expect(file.text.contains("\"5\",\"\(World.chiara)\",\"duplicate of an earlier line\""))
      try Snapshot.check(
        try await nadia.get(try await world.eu + "/bulk-removals").text, named: "removals.html")
    }
  }

  @Test func `an agent who reached the hourly limit can ask in the preview to be unblocked`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (address, _) = try await preview(nadia)
      try await world.setSupportRules { $0.actionsPerHour = 1 }
      let user = try await world.eu + "/users/\(World.chiara)"
      #expect(try await nadia.submit(user + "/sessions/end", ["reason": "lost"]).location == user)
      let limit = try await nadia.get(address)
      #expect(limit.says("You’ve reached the limit of 1 action per hour"))
      #expect(limit.says("Ask to be unblocked"))
      Markup.check(limit)
      let asked = try await nadia.submit(address, [:])
      #expect(asked.says("Waiting doesn’t end the block.") && !asked.says("Ask to be unblocked"))
      #expect(try await world.identity.support.held().count == 1)
    }
  }

  @Test func `another administrator undoes a removal for all users of the pool`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (address, _) = try await preview(nadia)
      _ = try await nadia.submit(address, ["reason": "lost"])
      #expect(!(try await nadia.get(address)).says(address + "/undo"))
      try await run(world)
      let own = try await nadia.get(address + "/undo")
      #expect(own.says("Only another administrator can undo it") && !own.says("name=\"reason\""))
      for page in [own, try await nadia.get(address)] {
        Markup.check(page)
        // An agent of one tenant doesn't see the name of the instance's owner.
        #expect(page.says("1 administrator can undo it.") && !page.says("Ada M."))
        #expect(page.says(">\(World.publicURL)\(address)/undo</code>"))
      }
      let ada = try await Browser.signedIn(world)
      let done = try await ada.get(address)
      #expect(!done.says("Only another administrator can undo it"))
      #expect(done.says("Undo for 2 users…") && done.values(of: "href").contains(address + "/undo"))
      let question = try await ada.get(address + "/undo")
      try Snapshot.check(question.text, named: "removal-undo.html")
      Markup.check(question)
      let wrong = try await ada.submit(address + "/undo", ["reason": "", "ticket": "T-2"])
      #expect(wrong.status == .unprocessableContent && wrong.says("value=\"T-2\""))
      let undone = try await ada.submit(address + "/undo", ["reason": "mistake"])
      #expect(undone.location == address)
      let running = try await ada.get(address)
      #expect(running.says("undo running") && running.response.fields["Refresh"] == "3")
      try await run(world)
      let page = try await ada.get(address)
      Markup.check(page)
      #expect(page.says("Removed, then restored") && !page.says(address + "/undo"))
      #expect(page.says("<dt>Undone by</dt><dd><bdi>Ada"))
      let gone = try await ada.submit(address + "/undo", ["reason": "mistake"])
      #expect(gone.location == address)
    }
  }

  @Test func `an agent who reached the hourly limit can ask in the undo to be unblocked`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (address, _) = try await preview(nadia)
      _ = try await nadia.submit(address, ["reason": "lost"])
      try await run(world)
      try await world.setSupportRules { $0.actionsPerHour = 1 }
      let ada = try await Browser.signedIn(world)
      let user = try await world.eu + "/users/\(World.chiara)"
      #expect(try await ada.submit(user + "/sessions/end", ["reason": "lost"]).location == user)
      let limit = try await ada.get(address + "/undo")
      Markup.check(limit)
      #expect(limit.says("You’ve reached the limit of 1 action per hour"))
      #expect(limit.says("Ask to be unblocked"))
      let asked = try await ada.submit(address + "/undo", [:])
      #expect(asked.says("Waiting doesn’t end the block.") && !asked.says("Ask to be unblocked"))
      #expect(try await world.identity.support.held().count == 1)
    }
  }

  @Test func `an undo says how many users it restored, and how many it couldn't`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (address, _) = try await preview(nadia)
      _ = try await nadia.submit(address, ["reason": "lost"])
      try await run(world)
      try await world.identity.accounts.delete(
        try await world.euPool, ID(World.chiara), by: Author(actor: .commandLine))
      let ada = try await Browser.signedIn(world)
      #expect(try await ada.get(address).says("Undo for 1 user…"))
      #expect(try await ada.get(address + "/undo").says("Restore factors for 1 user<"))
      _ = try await ada.submit(address + "/undo", ["reason": "mistake"])
      #expect(try await ada.get(address).says("The factors of 1 user are being restored."))
      try await run(world)
      let page = try await ada.get(address)
      Markup.check(page)
      for label in ["Users restored", "Couldn’t be restored"] {
        #expect(page.says("<dt>\(label)</dt><dd>1<small>of 2</small></dd>"))
      }
      #expect(page.says("partly undone") && !page.says("ended after"))
      #expect(!page.says("<dt>Restored earlier</dt>"))
      let log = try await ada.get("/audit")
      #expect(log.says("1 user restored") && log.says("1 user not restored"))
    }
  }

  @Test func `an interrupted undo is shown as partly undone`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (address, _) = try await preview(nadia)
      _ = try await nadia.submit(address, ["reason": "lost"])
      try await run(world)
      let administrators = world.identity.administrators
      let other = try await administrators.create(
        email: "omar@example.com", displayName: "\u{202E}Omár", password: Secret(World.password),
        grant: Grant(role: .support), by: Author(actor: .commandLine))
      let omar = try await Browser.signedIn(world, as: "omar@example.com")
      #expect(try await omar.submit(address + "/undo", ["reason": "mistake"]).location == address)
      _ = try await world.identity.bulkRemovals.step(1)
      _ = try await administrators.revoke(
        Grant(role: .support), from: other.id, by: .program(Author(actor: .commandLine)))
      try await run(world)
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(address)
      Markup.check(page)
      #expect(page.says("partly undone"))
      #expect(page.says("The undo by \u{2068}Omár\u{2069} ended after 1 of 2 users"))
      #expect(try await ada.get(world.eu + "/bulk-removals").says("partly undone"))
    }
  }

  @Test func `a pool that requires a verified caller offers an undo on each user's page`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (address, all) = try await preview(nadia)
      try await world.setSupportRules { $0.callerVerification = .required }
      let (_, each) = try await preview(nadia)
      try await world.setSupportRules { $0.callerVerification = .off }
      _ = try await nadia.submit(address, ["reason": "lost"])
      try await run(world)
      try await world.setSupportRules { $0.callerVerification = .required }
      let ada = try await Browser.signedIn(world)
      let undo = try await ada.get(address + "/undo")
      Markup.check(undo)
      #expect(all.says("undo the removal, for all users at once"))
      #expect(!each.says("for all users at once"))
      #expect(each.says("undo the removal, on each user’s page"))
      #expect(undo.says("Undo the removal on each user’s page.") && !undo.says("name=\"reason\""))
    }
  }

  /// Checks a page without automatic refresh, and the one that its link to turn it on leads to.
  private func check(
    _ page: Answer, at address: String, moving: String, _ line: String, _ browser: Browser
  ) async throws {
    Markup.check(page)
    #expect(page.response.fields["Refresh"] == nil && page.says(line))
    let links = page.values(of: "href").filter { $0 == address || $0.hasPrefix(address + "?") }
    #expect(links.contains(address + "?still="))
    #expect(links.filter { !$0.contains("still") } == [moving])
    let turnedOn = try await browser.get(moving)
    #expect(turnedOn.response.fields["Refresh"] == "3" && turnedOn.says(line))
  }

  @Test
  func `automatic refresh stays off on other tabs and pages, and turning it on keeps the place`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let unknown = (0..<60).map { "nobody\($0)@example.com\n" }.joined()
      let (address, _) = try await preview(nadia, unknown + Self.list)
      _ = try await nadia.submit(address, ["reason": "lost"])
      let still = try await nadia.get(address + "?show=not-found&still")
      let next = try #require(still.values(of: "href").first { $0.contains("after=") })
      let second = try await nadia.get(next)
      let moving = next.replacing("&still=", with: "")
      try await check(still, at: address, moving: address + "?show=not-found", "nobody0@", nadia)
      try await check(second, at: address, moving: moving, "nobody59@", nadia)
      let turnedOn = try await nadia.get(moving)
      #expect(turnedOn.values(of: "href").contains(next))
    }
  }

  @Test func `a running removal can be stopped`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (address, _) = try await preview(nadia)
      _ = try await nadia.submit(address, ["reason": "lost"])
      _ = try await world.identity.bulkRemovals.step(1)
      let answer = try await nadia.submit(address, [:], to: address + "/end")
      #expect(answer.location == address)
      try await run(world)
      let page = try await nadia.get(address)
      #expect(
        page.says("Stopped by Nadia K.") && page.says("Skipped: the removal ended early"))
      try Snapshot.check(page.text, named: "removal-stopped.html")
      _ = try await nadia.submit(address, [:], to: address + "/end")
      #expect(try await nadia.get(address).says("finished before"))
    }
  }

  @Test func `an invalid list is shown with an error and stays in the form`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let removals = try await world.eu + "/bulk-removals"
      let empty = try await nadia.submit(removals, ["list": " \r\n "])
      #expect(empty.status == .unprocessableContent && empty.says("Enter email addresses"))
      try Snapshot.check(empty.text, named: "removals-wrong.html")
      let long = String(repeating: "someone@example.com\r\n", count: 10_001)
      let tooLong = try await nadia.submit(removals, ["list": long])
      #expect(
        tooLong.status == .unprocessableContent && tooLong.says("at most 10,000 lines"))
      #expect(tooLong.text.utf8.count > long.utf8.count)
      let (_, unmatched) = try await preview(nadia, "nobody@example.com")
      #expect(unmatched.says("No users to act on") && !unmatched.says("name=\"reason\""))
      Markup.check(unmatched)
    }
  }

  @Test func `hostile lines are escaped on the page and in the CSV`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let list = (HostileTests.names + [World.chiara]).joined(separator: "\n")
      let (address, page) = try await preview(nadia, list)
      Markup.check(page)
      #expect(!page.says("<script>alert") && page.says("&lt;script&gt;"))
      _ = try await nadia.submit(
        address, ["reason": "other", "note": HostileTests.names[0], "ticket": "=1+1"])
      try await run(world)
      Markup.check(try await nadia.get(address))
      let file = try await nadia.get(address + "/result.csv").text
      #expect(!file.contains(",\"=HYPER"))
    }
  }

  @Test
  func `a draft is visible only to its author, and a removal to agents who can remove factors`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let ada = try await Browser.signedIn(world)
      let (address, _) = try await preview(nadia)
      let none = address.replacing(address.split(separator: "/").last ?? "", with: "999")
      for path in [address, address + "/result.csv"] {
        let (found, missing) = (
          try await ada.get(path),
          try await ada.get(path.replacing(address, with: none))
        )
        #expect(found.status == .notFound && found.text == missing.text)
      }
      _ = try await nadia.submit(address, ["reason": "lost"])
      #expect(try await ada.get(address).status == .ok)
      let iris = try await Browser.signedIn(world, as: World.iris)
      #expect(try await iris.get(address).status == .forbidden)
    }
  }

  @Test func `the body limit admits a list of the maximum size`() throws {
    let target = try #require(Target("/projects/acme-retail/tenants/eu/bulk-removals"))
    #expect(Console.bodyLimit(target) == 4 << 20)
    for other in [
      "/projects/p/bulk-removals/1", "/bulk-removals", "/projects/p/users",
      "/projects/bulk-removals",
    ] {
      #expect(Console.bodyLimit(try #require(Target(other))) == nil)
    }
  }

  @Test func `a list with NUL is shown again with an error, and nothing of it is lost`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let address = try await world.eu + "/bulk-removals"
      let csrf = try await ada.get(address).csrf
      let body = "csrf=\(csrf)&list=ann%40example.com%0D%0Ab%00o%40example.com"
      let fields: Fields = [
        .contentType: "application/x-www-form-urlencoded", .origin: world.origin,
        .secFetchSite: "same-origin",
      ]
      let page = try await ada.send(.post, address, fields: fields, body: Array(body.utf8))
      Markup.check(page)
      #expect(page.status == .unprocessableContent)
      #expect(page.says("Line 2 contains a NUL character, shown as ␀."))
      #expect(page.text.contains("ann@example.com") && page.text.contains("b␀o@example.com"))
    }
  }
}
