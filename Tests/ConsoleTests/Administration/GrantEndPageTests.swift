import HTTP
import Identity
import Testing
import Text

@testable import Console

/// Roles with an end date, in forms, lists, and files.
@Suite struct GrantEndPageTests {
  @Test func `a role is granted until the end of a day, which every list shows`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let address = "/administrators/\(try await world.id(of: World.iris))"
      let page = try await ada.get(address)
      Markup.check(page)
      #expect(page.says("no end date") && page.says("name=\"last\""))
      let granted = try await ada.submit(
        address, ["role": "support", "place": "acme-retail", "last": "2026-12-31"],
        to: address + "/grants")
      #expect(granted.location == address)
      let end = "Dec 31, 2026 (UTC)"
      let roles = try await ada.get(address)
      #expect(roles.says("Dec 31, 2026</time> (UTC)"))
      #expect(roles.says("<span class=\"sub long\">acme-retail</span>"))
      #expect(try await ada.get("/administrators").says("through \(end)"))
      let file = try await ada.get("/administrators.csv")
      let headings = #""Administrator","Email","Role","Project or tenant""#
      #expect(file.says(headings) && file.says("\",\"\(World.iris)\",\""))
      #expect(file.says("2027-01-01T00:00:00.000Z"))
      let iris = try await Browser.signedIn(world, as: World.iris)
      #expect(try await iris.get("/account").says("through \(end)"))
    }
  }

  @Test func `the end is changed and removed on a page of its own`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let address = "/administrators/\(try await world.id(of: World.iris))"
      let form = try #require(
        try await ada.get(address).values(of: "href").first { $0.contains("/grants/end?") })
      let fields: Form = ["role": "auditor", "project": "*", "tenant": ""]
      func send(_ last: String) async throws -> Answer {
        var sent = fields
        sent.add("last", last)
        return try await ada.submit(form, sent, to: address + "/grants/end")
      }
      Markup.check(try await ada.get(form))
      #expect(try await send("2026-12-31").location == address)
      #expect(try await ada.get(address).says("The role ends on Dec 31, 2026 (UTC)."))
      #expect(try await ada.get(form).says("value=\"2026-12-31\""))
      for wrong in ["2026-02-30", "2026-01-01", "2030-01-01", "\u{202E}"] {
        let answer = try await send(wrong)
        #expect(answer.status == .unprocessableContent)
        #expect(answer.says("id=\"last-error\""))
        Markup.check(answer)
      }
      #expect(try await send("").location == address)
      #expect(try await ada.get(address).says("End date removed."))
    }
  }

  @Test func `an invitation shows when its role ends`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let fields: Form = [
        "email": "new@example.com", "name": "Newman", "role": "support", "place": "acme-retail",
        "last": "2026-12-31",
      ]
      let created = try await ada.submit("/administrators/new", fields)
      #expect(created.says("through Dec 31, 2026 (UTC)"))
      let start = try #require(
        created.text.firstRange(of: "https://mfa.example.com/invitation?token="))
      let link = "/invitation?token=" + created.text[start.upperBound...].prefix { $0 != "<" }
      let page = try await Browser(world).get(link)
      Markup.check(page)
      #expect(page.says("Your role ends on"))
      var wrong = Form(fields.entries.filter { $0.name != "last" })
      wrong.add("last", "2020-01-01")
      let answer = try await ada.submit("/administrators/new", wrong)
      #expect(answer.status == .unprocessableContent && answer.says("id=\"last-error\""))
      #expect(answer.says("value=\"2020-01-01\""))
    }
  }
}
