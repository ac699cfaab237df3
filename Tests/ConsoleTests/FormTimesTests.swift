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

  @Test func `the time of a scheduled change is read in the zone that the form named`()
    async throws
  {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let review = try await tomas.submit(address, .policy(intervals: "1"))
      #expect(review.says("Times are in UTC"))
      #expect(review.value(of: "time-zone") == "UTC")
      try await choose("America/New_York", tomas)
      let wrong = try await tomas.save(
        address, .policy(intervals: "1", more: ["apply-at": "soon", "time-zone": "UTC"]))
      #expect(wrong.status == .unprocessableContent)
      #expect(wrong.says("Times are in UTC") && wrong.value(of: "time-zone") == "UTC")
      Markup.check(wrong)
      let form = Form.policy(
        intervals: "1", more: ["apply-at": "2026-11-21T09:00", "time-zone": "UTC"])
      #expect(try await tomas.save(address, form).status == .seeOther)
      let change = try #require(
        try await world.identity.policies.scheduled(try await world.euScope).first)
      #expect(change.applyAt.rfc3339Milliseconds == "2026-11-21T09:00:00.000Z")
    }
  }

  @Test func `going back to the values of a policy keeps the zone of the time`() async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      try await choose("America/New_York", tomas)
      let form = Form.policy(
        intervals: "1", more: ["apply-at": "2026-11-21T09:00", "time-zone": "UTC"])
      let back = try await tomas.submit(address, form, to: address + "/edit")
      #expect(back.value(of: "time-zone") == "UTC")
      #expect(try await tomas.submit(address, form).says("Times are in UTC"))
    }
  }

  @Test(arguments: ["Mars/Base", "GMT+3", "../UTC"])
  func `a zone that can't be selected isn't read`(zone: String) async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let form = Form.policy(
        intervals: "1", more: ["apply-at": "2026-11-21T09:00", "time-zone": zone])
      let answer = try await tomas.save(try await world.eu + "/policy", form)
      #expect(answer.status == .badRequest)
      #expect(
        try await world.identity.policies.scheduled(try await world.euScope).isEmpty)
    }
  }

  @Test func `a saved zone that the system no longer knows is UTC, and is kept`() async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let id = try await world.id(of: World.tomas)
      try await world.database.write { connection in
        _ = try connection.run(
          "UPDATE administrator SET time_zone = 'Mars/Base' WHERE administrator_id = \(id)")
      }
      let address = try await world.eu + "/policy"
      #expect(try await tomas.submit(address, .policy(intervals: "1")).says("Times are in UTC"))
      // A form that was opened while the system knew the zone.
      let form = Form.policy(
        intervals: "1", more: ["apply-at": "2026-11-21T09:00", "time-zone": "Mars/Base"])
      #expect(try await tomas.save(address, form).status == .seeOther)
      let change = try #require(
        try await world.identity.policies.scheduled(try await world.euScope).first)
      #expect(change.applyAt.rfc3339Milliseconds == "2026-11-21T09:00:00.000Z")
      let note = "Mars/Base (unknown to this server, which shows times in UTC)"
      #expect(try await tomas.get("/account").says(note))
      let preferences = try await tomas.get("/account/preferences")
      #expect(preferences.says("<option value=\"Mars/Base\" selected>\(note)</option>"))
      let dark: Form = ["zone": "Mars/Base", "theme": "dark"]
      #expect(try await tomas.submit("/account/preferences", dark).location == "/account")
      #expect(try await tomas.get("/account").says(note))
    }
  }

  @Test func `the last day of a role ends in the zone that the form named`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let address = "/administrators/\(try await world.id(of: World.iris))"
      #expect(try await ada.get(address).value(of: "time-zone") == "UTC")
      try await choose("America/New_York", ada)
      let fields: Form = [
        "role": "support", "place": "acme-retail", "last": "2026-12-31", "time-zone": "UTC",
      ]
      #expect(try await ada.submit(address, fields, to: address + "/grants").location == address)
      try await choose("UTC", ada)
      #expect(try await ada.get(address).says("Jan 1, 2027, 00:00\u{00A0}UTC"))
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
      #expect(try await ada.get(user).says("until Dec 1, 2026, 19:00\u{00A0}UTC−5"))
    }
  }
}
