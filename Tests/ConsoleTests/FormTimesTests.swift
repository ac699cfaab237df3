import Database
import HTTP
import Identity
import Testing

@testable import Console

/// Local dates and times in forms, which are read in the time zone that the form named.
@Suite struct FormTimesTests {
  private func choose(_ zone: String, _ browser: Browser) async throws {
    let form: Form = ["zone": zone, "theme": "system"]
    #expect(try await browser.submit("/account/preferences", form).location == "/account")
  }

  /// The form that gives Iris another role until a day.
  private func role(_ world: World, zone: String) async throws -> (address: String, form: Form) {
    let address = "/administrators/\(try await world.id(of: World.iris))"
    return (
      address,
      ["role": "support", "place": "acme-retail", "last": "2026-12-31", "time-zone": zone]
    )
  }

  @Test(arguments: ["Mars/Base", "GMT+3", "../UTC"])
  func `a zone that can't be selected isn't read`(zone: String) async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let (address, form) = try await role(world, zone: zone)
      let answer = try await ada.submit(address, form, to: address + "/grants")
      #expect(answer.status == .badRequest)
      #expect(!(try await ada.get(address).says("Dec 31, 2026")))
    }
  }

  @Test func `a saved zone that the system no longer knows is UTC, and is kept`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let id = try await world.id(of: World.ada)
      try await world.database.write { connection in
        _ = try connection.run(
          "UPDATE administrator SET time_zone = 'Mars/Base' WHERE administrator_id = \(id)")
      }
      // A form that was opened while the system knew the zone.
      let (address, form) = try await role(world, zone: "Mars/Base")
      #expect(try await ada.submit(address, form, to: address + "/grants").location == address)
      #expect(try await ada.get(address).says("Dec 31, 2026</time> (UTC)"))
      let note = "Mars/Base (unknown to this server, which shows times in UTC)"
      #expect(try await ada.get("/account").says(note))
      let preferences = try await ada.get("/account/preferences")
      #expect(preferences.says("<option value=\"Mars/Base\" selected>\(note)</option>"))
      let dark: Form = ["zone": "Mars/Base", "theme": "dark"]
      #expect(try await ada.submit("/account/preferences", dark).location == "/account")
      #expect(try await ada.get("/account").says(note))
    }
  }

  @Test func `the last day of a role ends in the zone that the form named`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let (address, fields) = try await role(world, zone: "UTC")
      #expect(try await ada.get(address).value(of: "time-zone") == "UTC")
      try await choose("America/New_York", ada)
      #expect(try await ada.submit(address, fields, to: address + "/grants").location == address)
      try await choose("UTC", ada)
      #expect(try await ada.get(address).says("Dec 31, 2026</time> (UTC)"))
      let form: Form = [
        "role": "support", "project": "acme-retail", "tenant": "", "last": "2026-12-30",
        "time-zone": "Asia/Kolkata",
      ]
      let end = try #require(
        try await ada.get(address).values(of: "href").first {
          $0.contains("/grants/end?") && $0.contains("support")
        })
      #expect(try await ada.submit(end, form, to: address + "/grants/end").location == address)
      #expect(try await ada.get(address).says("The role ends on Dec 30, 2026, 18:30\u{00A0}UTC."))
    }
  }

  @Test(arguments: ["suspension", "exemption"])
  func `the day of a suspension or exemption ends in the zone that the form named`(kind: String)
    async throws
  {
    try await World.withSampleData { world in
      let (ada, _) = try await Browser.withApp(world, as: World.ada)
      let user = try await world.eu + "/users/\(World.chiara)"
      let factor = try await world.factor(of: World.chiara).text
      let address = user + (kind == "exemption" ? "/exemption" : "/factors/\(factor)/suspension")
      #expect(try await ada.get(address).value(of: "time-zone") == "UTC")
      try await choose("America/New_York", ada)
      let wrong = try await ada.submit(
        address, ["reason": "other", "note": "x", "day": "soon", "time-zone": "UTC"])
      #expect(wrong.status == .unprocessableContent && wrong.value(of: "time-zone") == "UTC")
      let form: Form = [
        "reason": "other", "note": "Key on order", "day": "2026-12-01", "time-zone": "UTC",
      ]
      #expect(try await ada.submit(address, form).location == user)
      #expect(try await ada.get(user).says("through Dec 1, 2026, 19:00\u{00A0}UTC−5"))
    }
  }
}
