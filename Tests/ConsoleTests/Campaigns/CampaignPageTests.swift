import HTTP
import Identity
import Testing

@testable import Console

/// Enrollment campaigns in a browser, from the list of users to the funnel.
@Suite struct CampaignPageTests {
  private static let form: Form = ["days": "7", "reminders": "on", "sentence": ""]

  /// Adds users without a second factor whose emails begin with `crowd`.
  private func add(
    _ count: Int, _ world: World, named name: String = "crowd", verified: Bool = true,
    displayName: String? = nil
  ) async throws {
    for number in 0..<count {
      var new = NewAccount()
      new.localID = "\(name)-\(number)"
      new.email = "\(name)-\(number)@example.com"
      (new.emailVerified, new.displayName) = (verified, displayName)
      _ = try await world.identity.accounts.create(
        try await world.euPool, new, by: .program(Author(actor: .commandLine)))
    }
  }

  /// Creates a draft for all users without a second factor whom a search finds.
  private func draft(_ browser: Browser, _ search: String = "crowd") async throws -> String {
    let eu = try await browser.world.eu
    let answer = try await browser.submit(
      eu + "/users", [:], to: eu + "/enrollment-links?factor=none&q=\(search)&all=1")
    return try #require(answer.location)
  }

  private func run(_ world: World) async throws {
    while try await world.identity.bulkRemovals.step() {}
  }

  private func enroll(_ uid: String, _ world: World) async throws {
    let account = try #require(
      try await world.identity.accounts.find(try await world.euPool, ID(uid)))
    try await world.enroll(account, "Phone")
  }

  @Test func `a draft shows who gets a link, and who doesn't for which reason`() async throws {
    try await World.withSampleData(carriesMail: true) { world in
      try await add(2, world)
      try await add(1, world, named: "crowd-unverified", verified: false)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let address = try await draft(nadia)
      let page = try await nadia.get(address)
      Markup.check(page)
      #expect(page.says("2 of 3 users get a link") && page.says("Email not verified"))
      #expect(page.says("<option value=\"7\" selected>7 days</option>"))
      #expect(page.says("Send 2 links") && !page.says("Lost device"))
      #expect(!page.says("crowd-unverified-0@example.com"))
      let group = try await nadia.get(address + "?show=unverified")
      Markup.check(group)
      #expect(group.says("crowd-unverified-0@example.com") && !group.says("/users/crowd-1\""))
      let number = try #require(address.split(separator: "/").last)
      let old = try await nadia.get(try await world.eu + "/bulk-removals/\(number)")
      #expect(old.location == address)
    }
  }

  @Test func `a list without such users leads back to it`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let eu = try await world.eu
      let answer = try await nadia.submit(
        eu + "/users", [:], to: eu + "/enrollment-links?q=nobody-has-this&all=1")
      #expect(answer.location == eu + "/users?factor=none&q=nobody-has-this")
      #expect(
        try await nadia.get(eu + "/users").says("There are no users without a second factor."))
      let none = try await nadia.submit(eu + "/users", [:], to: eu + "/enrollment-links")
      #expect(none.location == eu + "/users")
    }
  }

  @Test func `a draft without anyone who gets a link has no form`() async throws {
    try await World.withSampleData(carriesMail: true) { world in
      try await add(1, world, verified: false)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let page = try await nadia.get(try await draft(nadia))
      Markup.check(page)
      #expect(page.says("0 of 1 users get a link") && !page.says("name=\"days\""))
    }
  }

  @Test func `the preview shows the sentence as it's sent, without links`() async throws {
    try await World.withSampleData(carriesMail: true) { world in
      try await add(1, world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let address = try await draft(nadia)
      let page = try await nadia.submit(
        address + "?preview=1",
        ["days": "3", "reminders": "off", "sentence": "Go to https://evil.example.com <now>."])
      Markup.check(page)
      #expect(page.status == .ok && page.says("<option value=\"3\" selected>"))
      let letter = try #require(page.text.split(separator: "<pre class=\"letter\"").last)
      let body = String(letter.prefix { $0 != "<" })
      #expect(body.contains("&lt;now") && !body.contains("evil.example.com"))
      #expect(page.says("links end on Nov 23") && !page.says("reminder on"))
      #expect(try await nadia.get(address).says("New enrollment campaign"))
    }
  }

  @Test func `invalid terms keep all fields`() async throws {
    try await World.withSampleData(carriesMail: true) { world in
      try await add(1, world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let address = try await draft(nadia)
      let long = String(repeating: "x", count: 301)
      let wrong = try await nadia.submit(
        address, ["days": "10", "reminders": "off", "sentence": long])
      Markup.check(wrong)
      #expect(wrong.status == .unprocessableContent && wrong.says("Shorten the sentence to 300"))
      #expect(wrong.says(long) && wrong.says("<option value=\"10\" selected>"))
      let days = try await nadia.submit(
        address, ["days": "15", "reminders": "on", "sentence": "Hello."])
      #expect(days.status == .badRequest)
    }
  }

  @Test func `a campaign shows its funnel, and is sent again to those who haven't enrolled`()
    async throws
  {
    try await World.withSampleData(carriesMail: true) { world in
      try await add(3, world, displayName: "<b>Eve")
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let address = try await draft(nadia)
      #expect(try await nadia.submit(address, Self.form).location == address)
      let sending = try await nadia.get(address)
      Markup.check(sending)
      #expect(sending.says("0 of 3 sent so far") && sending.response.fields["Refresh"] == "3")
      try await run(world)
      try await enroll("crowd-0", world)
      let page = try await nadia.get(address)
      Markup.check(page)
      #expect(page.response.fields["Refresh"] == nil)
      #expect(page.says("1 of 3 enrolled") && page.says("links for 7 days"))
      #expect(page.says("2 reminders") && page.says("33%") && page.says("until Nov 27"))
      #expect(page.says("Not enrolled (2)") && page.says("Not opened (2)"))
      #expect(page.says("&lt;b") && !page.says("<b>Eve"))
      let enrolled = try await nadia.get(address + "?show=enrolled")
      #expect(enrolled.says("/users/crowd-0\"") && !enrolled.says("/users/crowd-1\""))
      let file = try await nadia.get(address + "/result.csv")
      #expect(file.text.contains("\"User\",\"Sent\",\"Opened\",\"Enrolled\",\"State\""))
      #expect(file.text.contains("\"crowd-1@example.com\",\"2026-11-20T08:00:00.000Z\",\"\",\"\""))
      let number = try #require(address.split(separator: "/").last)
      let eu = try await world.eu
      let again = try await nadia.submit(
        address, [:], to: eu + "/enrollment-links?campaign=\(number)")
      let rest = try await nadia.get(try #require(again.location))
      #expect(again.location != address && rest.says("2 of 2 users get a link"))
      let one = try await nadia.submit(
        address, ["user": eu + "/users/crowd-2"],
        to: eu + "/enrollment-links?campaign=\(number)")
      #expect(try await nadia.get(try #require(one.location)).says("1 of 1 users gets a link"))
    }
  }

  @Test func `a stopped campaign says that its links no longer work`() async throws {
    try await World.withSampleData(carriesMail: true) { world in
      try await add(1, world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let address = try await draft(nadia)
      _ = try await nadia.submit(address, Self.form)
      try await run(world)
      #expect(try await nadia.get(address).says("Its links stop working."))
      let stop = address.replacing("enrollment-campaigns", with: "bulk-removals")
      #expect(try await nadia.submit(address, [:], to: stop + "/end").location == stop)
      let page = try await nadia.get(address)
      Markup.check(page)
      #expect(page.says("Stopped by") && page.says("Its links no longer work."))
      #expect(page.says("Expired (1)") && !page.says(stop + "/end"))
    }
  }

  @Test func `a campaign above the threshold is approved with its terms`() async throws {
    try await World.withSampleData(carriesMail: true) { world in
      try await add(2, world)
      let pool = try await world.euPool
      var rules = try await world.identity.support.settings(pool)
      rules.approvalOverUsers = 1
      try await world.identity.support.change(
        pool, to: rules, by: .program(Author(actor: .commandLine)))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let address = try await draft(nadia)
      #expect(try await nadia.get(address).says("Request approval"))
      _ = try await nadia.submit(
        address, ["days": "2", "reminders": "on", "sentence": "From May on."])
      let waiting = try await nadia.get(address)
      Markup.check(waiting)
      #expect(waiting.says("Nothing is sent until a second administrator approves."))
      #expect(try await !nadia.get(address + "/result.csv").says("crowd"))
      let link = try #require(waiting.text.firstMatch(of: /href="([^"]+\/approvals\/[0-9]+)"/))
      let ada = try await Browser.signedIn(world)
      let request = try await ada.get(String(link.1))
      Markup.check(request)
      #expect(request.says("links for 2 days") && request.says("1 reminder"))
      #expect(request.says("From May on.") && request.says("View campaign"))
      #expect(!request.says("<dt>Reason</dt>"))
      _ = try await ada.submit(String(link.1), [:], to: String(link.1) + "/approval")
      try await run(world)
      #expect(try await nadia.get(address).says("approved by"))
    }
  }

  @Test func `other roles see no campaign, and start none`() async throws {
    try await World.withSampleData(carriesMail: true) { world in
      try await add(1, world)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let address = try await draft(nadia)
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      #expect(try await tomas.get(address).status == .forbidden)
      #expect(try await tomas.get(address + "/result.csv").status == .forbidden)
      let ada = try await Browser.signedIn(world)
      #expect(try await ada.get(address).status == .notFound, "a draft is its creator's")
      #expect(try await nadia.get(address + "/result.csv").status == .notFound)
      let eu = try await world.eu
      let list = try await nadia.submit(
        eu + "/users", ["list": World.chiara], to: eu + "/bulk-removals")
      let number = try #require(list.location?.split(separator: "/").last)
      #expect(try await nadia.get(eu + "/enrollment-campaigns/\(number)").status == .notFound)
    }
  }
}
