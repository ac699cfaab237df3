import HTTP
import Identity
import Testing

@testable import Console

/// The review page of a policy change: what it keeps, and what leads to it.
@Suite struct PolicyReviewTests {
  @Test(arguments: ["edit", "conflict"])
  func `going back to the values keeps the reason`(way: String) async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let address = try await world.eu + "/policy"
      let note = "Clocks are off."
      if way == "conflict" {
        #expect(try await tomas.save(address, .policy(intervals: "2")).status == .seeOther)
      }
      let back = try await tomas.submit(
        address, .policy(intervals: "9"), to: address + (way == "edit" ? "/edit" : "/changes"))
      #expect(back.status == (way == "edit" ? .ok : .conflict))
      #expect(back.says("<input type=\"hidden\" name=\"note\" value=\"\(note)\">"))
      Markup.check(back)
      // Widening the window requires a reason.
      let form = Form.policy(intervals: "9", version: way == "edit" ? 2 : 3)
      #expect(try await tomas.submit(address, form).says(note))
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
        try await world.identity.policies.restorable(try await world.euPool).dropFirst().first)
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
