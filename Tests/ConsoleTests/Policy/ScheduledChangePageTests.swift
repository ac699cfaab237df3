import HTTP
import Identity
import Localization
import Testing

@testable import Console

/// Scheduling a change on the review page, and canceling it.
@Suite struct ScheduledChangePageTests {
  private func time(_ world: World, in seconds: Int64) -> String {
    let instant = world.identity.clock.now().advanced(bySeconds: seconds)
    return String(instant.rfc3339Milliseconds.prefix(16))
  }

  @Test func `a change with a time is scheduled, listed, and canceled`() async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let list = address + "/scheduled"
      let empty = try await tomas.get(list)
      #expect(empty.says("No scheduled changes"))
      Markup.check(empty)
      let form = Form.policy(intervals: "1", more: ["apply-at": time(world, in: 86_400)])
      #expect(try await tomas.save(address, form).location == list)
      #expect(try await world.policy.version == 2)
      let page = try await tomas.get(list)
      #expect(page.says("Scheduled for") && page.says("Cancel change"))
      Markup.check(page)
      #expect(try await tomas.get(address).says("A change takes effect on"))
      let review = try await tomas.submit(address, .policy(intervals: "2"))
      #expect(review.says("won’t be applied once this change is saved."))
      let change = try #require(
        try await world.identity.policies.scheduled(try await world.euScope).first)
      let iris = try await Browser.signedIn(world, as: World.iris)
      #expect(!(try await iris.get(list).says("Cancel change")))
      let cancellation = list + "/\(change.id)/cancellation"
      #expect(try await tomas.submit(list, [:], to: cancellation).location == list)
      #expect(try await tomas.get(list).says("Scheduled change canceled."))
      _ = try await tomas.submit(list, [:], to: cancellation)
      #expect(try await tomas.get(list).says("The change is no longer pending."))
    }
  }

  @Test func `a scheduled change that needs approval is announced with its time`() async throws {
    try await World.withSampleData { world in
      try await world.setSupportRules { $0.policyApprovalOverUsers = 0 }
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let list = address + "/scheduled"
      let form = Form.policy(
        intervals: "9", more: ["note": "Clocks are off.", "apply-at": time(world, in: 172_800)])
      #expect(try await tomas.save(address, form).location == list)
      let page = try await tomas.get(list)
      Markup.check(page)
      #expect(page.says("is pending approval. A second administrator must approve it by"))
      #expect(!page.says("No scheduled changes"))
      #expect(page.values(of: "href").contains { $0.contains("/policy-approvals/") })
      let iris = try await Browser.signedIn(world, as: World.iris)
      let read = try await iris.get(list)
      #expect(read.says("is pending approval."))
      #expect(!read.values(of: "href").contains { $0.contains("/policy-approvals/") })
    }
  }

  @Test func `deleting a tenant says that its scheduled change won't be applied`() async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let form = Form.policy(intervals: "1", more: ["apply-at": time(world, in: 86_400)])
      #expect(try await tomas.save(address, form).status == .seeOther)
      let ada = try await Browser.signedIn(world)
      for place in [try await world.eu, "/projects/acme-retail"] {
        let page = try await ada.get(place + "/settings/deletion")
        Markup.check(page)
        #expect(page.says("1 scheduled policy change, which won’t be applied."), "\(place)")
      }
    }
  }

  @Test(arguments: ["soon", "2026-13-01T00:00", "2020-01-01T00:00", "2099-01-01T00:00"])
  func `a time that isn't allowed keeps the form and changes nothing`(text: String) async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let answer = try await tomas.save(
        address, .policy(intervals: "1", more: ["apply-at": text]))
      #expect(answer.status == .unprocessableContent)
      #expect(answer.says("Enter a time from one minute to one year from now."))
      #expect(answer.says("name=\"apply-at\" class=\"medium\" value=\"\(text)\""))
      Markup.check(answer)
      #expect(try await world.policy.version == 2)
    }
  }

  @Test func `a start date before the change takes effect is confirmed by saving again`()
    async throws
  {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let day = String(time(world, in: 2 * 86_400).prefix(10))
      func form(_ days: Int64, warned: Int64? = nil) -> Form {
        var more: Form = ["apply-at": time(world, in: days * 86_400)]
        if let warned { more.add("warned-at", time(world, in: warned * 86_400)) }
        return .policy(pattern: "mandatory", from: day, more: more)
      }
      let warning = "enrollment is mandatory as soon as it does."
      #expect(!(try await tomas.submit(address, form(1)).says(warning)))
      #expect(try await tomas.submit(address, form(7)).says(warning))
      for (days, warned) in [(7, nil), (8, 7)] as [(Int64, Int64?)] {
        let asked = try await tomas.save(address, form(days, warned: warned))
        #expect(asked.status == .unprocessableContent)
        #expect(asked.says("<a href=\"#apply-at\">This is after the start date, "))
        #expect(asked.says(warning) && asked.says("must enroll at the next sign-in."))
        #expect(asked.value(of: "warned-at") == time(world, in: days * 86_400))
        Markup.check(asked)
      }
      #expect(try await world.identity.policies.scheduled(try await world.euScope).isEmpty)
      let saved = try await tomas.save(address, form(8, warned: 8))
      #expect(saved.location == address + "/scheduled")
    }
  }

  @Test func `a time before the start date, and one after a date in the past, aren't confirmed`()
    async throws
  {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      for day in ["2020-02-29", "2099-01-01"] {
        let form = Form.policy(
          pattern: "mandatory", from: day, more: ["apply-at": time(world, in: 86_400)])
        #expect(try await tomas.save(address, form).location == address + "/scheduled")
        let change = try #require(
          try await world.identity.policies.scheduled(try await world.euScope).first)
        _ = try await tomas.submit(
          address + "/scheduled", [:], to: address + "/scheduled/\(change.id)/cancellation")
      }
    }
  }

  @Test func `a scheduled change that won't be made isn't announced as one that will`()
    async throws
  {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let form = Form.policy(intervals: "1", more: ["apply-at": time(world, in: 86_400)])
      #expect(try await tomas.save(address, form).status == .seeOther)
      #expect(try await tomas.get("/").says("A policy change takes effect"))
      #expect(try await tomas.save(address, .policy(intervals: "2")).status == .seeOther)
      let page = try await tomas.get(address)
      #expect(page.says("A scheduled change won’t be applied"))
      #expect(!page.says("A change takes effect on"))
      Markup.check(page)
      let list = try await tomas.get(address + "/scheduled")
      #expect(list.says(": 5 → <strong>1</strong>"), "as scheduled")
      #expect(!(try await tomas.get("/").says("A policy change takes effect")))
    }
  }

  @Test func `a change whose author lost the permission isn't announced, and its end shows it`()
    async throws
  {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let ada = try await Browser.signedIn(world)
      let address = try await world.eu + "/policy"
      let list = address + "/scheduled"
      let form = Form.policy(intervals: "1", more: ["apply-at": time(world, in: 86_400)])
      #expect(try await tomas.save(address, form).status == .seeOther)
      let administrators = world.identity.administrators
      let author = try await administrators.record(email: World.tomas).administrator
      for grant in author.grants {
        _ = try await administrators.revoke(
          grant, from: author.id, by: Author(actor: .commandLine))
      }
      let page = try await ada.get(address)
      #expect(
        page.says("A scheduled change won’t be applied. The administrator who scheduled it"))
      #expect(!page.says("A change takes effect on"))
      Markup.check(page)
      #expect(!(try await ada.get("/").says("A policy change takes effect")))
      let pending = try await ada.get(list)
      #expect(pending.says("This change won’t be applied."))
      Markup.check(pending)
      world.clock.advance(seconds: 86_400)
      try await world.identity.makeScheduledChanges()
      let again = try await Browser.signedIn(world)
      let ended = try await again.get(list)
      #expect(ended.says("not applied") && ended.says(": 5 → <strong>1</strong>"))
      Markup.check(ended)
    }
  }

  @Test(arguments: ["edit", "conflict"])
  func `going back to the values keeps the time and the reason`(way: String) async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let (time, note) = (self.time(world, in: 86_400), "Clocks are off.")
      let answers: Form = ["apply-at": time]
      var form = Form.policy(intervals: "9", more: answers)
      if way == "conflict" {
        #expect(try await tomas.save(address, .policy(intervals: "2")).status == .seeOther)
      }
      let back = try await tomas.submit(
        address, form, to: address + (way == "edit" ? "/edit" : "/changes"))
      #expect(back.status == (way == "edit" ? .ok : .conflict))
      for (name, value) in [("apply-at", time), ("note", note)] {
        #expect(back.says("<input type=\"hidden\" name=\"\(name)\" value=\"\(value)\">"))
      }
      Markup.check(back)
      form = Form.policy(intervals: "9", version: way == "edit" ? 2 : 3, more: answers)
      let review = try await tomas.submit(address, form)
      #expect(review.says("name=\"apply-at\" class=\"medium\" value=\"\(time)\""))
      // Widening the window requires a reason.
      #expect(review.says(note))
    }
  }

  @Test func `a local time is read in the administrator's zone, across a clock change`() throws {
    let catalog = try World.catalog.get()
    let berlin = Times(catalog, zone: "Europe/Berlin")
    func text(_ local: String, _ times: Times) -> String? {
      times.instant(ofLocal: local).map { String($0.rfc3339Milliseconds.prefix(16)) }
    }
    #expect(text("2026-01-05T09:30", berlin) == "2026-01-05T08:30")
    #expect(text("2026-07-05T09:30:59", berlin) == "2026-07-05T07:30")
    #expect(text("2026-03-29T03:30", berlin) == "2026-03-29T01:30")
    #expect(text("2026-01-05T09:30", Times(catalog)) == "2026-01-05T09:30")
    let newYork = Times(catalog, zone: "America/New_York")
    let lordHowe = Times(catalog, zone: "Australia/Lord_Howe")
    // Times that a clock change skips are later by the change.
    #expect(text("2027-03-14T02:30", newYork) == "2027-03-14T07:30")
    #expect(text("2027-03-28T02:30", berlin) == "2027-03-28T01:30")
    #expect(text("2026-10-04T02:15", lordHowe) == "2026-10-03T15:45")
    // Those that occur twice are the first of both.
    #expect(text("2026-11-01T01:30", newYork) == "2026-11-01T05:30")
    #expect(text("2026-10-25T02:30", berlin) == "2026-10-25T00:30")
    #expect(text("2026-11-01T12:00", newYork) == "2026-11-01T17:00")
    for wrong in ["", "2026-01-05", "2026-01-05T24:00", "2026-01-05T9:30", "2026-02-30T09:30"] {
      #expect(text(wrong, berlin) == nil, "\(wrong)")
    }
  }

  @Test func `a version is restored through the review page`() async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let before = try await world.policy.edit
      #expect(try await tomas.save(address, .policy(intervals: "1")).status == .seeOther)
      let versions = try await tomas.get(address + "/versions")
      Markup.check(versions)
      let row = try #require(
        try await world.identity.policies.restorable(try await world.euScope).dropFirst().first)
      #expect(versions.says("change=version&amp;row=\(row.row.id)"))
      let check = try await tomas.get(address + "?change=version&row=\(row.row.id)")
      #expect(check.says("Review changes"))
      let form: Form = [
        "csrf": try check.csrf, "version": "3", "change": "version", "row": String(row.row.id),
        "note": "Too strict.",
      ]
      #expect(try await tomas.post(address + "/changes", form).location == address)
      #expect(try await world.policy.edit == before)
      #expect(
        try await tomas.get(address + "?change=version&row=1").says("<h1>MFA policy</h1>"),
        "an entry that isn't a version of this policy opens the form")
    }
  }
}
