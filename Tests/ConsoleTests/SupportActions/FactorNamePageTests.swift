import HTTP
import Identity
import Testing
import Text

@testable import Console

/// The page that renames a factor.
@Suite struct FactorNamePageTests {
  private func address(_ world: World) async throws -> (user: String, name: String, id: String) {
    let user = try await world.eu + "/users/\(World.chiara)"
    let id = try await world.factor(of: World.chiara).text
    return (user, "\(user)/factors/\(id)/name", id)
  }

  private func log(_ world: World) async throws -> [AuditRow] {
    let filter = AuditFilter(
      pool: try await world.euPool, object: .account, objectID: World.chiara)
    return try await world.identity.audit.list(filter).items
  }

  @Test func `a factor is renamed, and the flash message links to undoing it`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (user, name, id) = try await address(world)
      let rows = try await log(world).count
      for (form, field, text) in [
        (["name": "Tablet"] as Form, "reason", "Choose a reason"),
        (["name": ""], "name", "Choose a reason"),
        (["name": "", "reason": "asked"], "name", "Enter a name"),
        (
          ["name": String(repeating: "x", count: 101), "reason": "asked"], "name",
          "Shorten the name"
        ),
        (["name": "Tablet", "reason": "other"], "note", "Enter a note"),
      ] {
        let answer = try await nadia.submit(name, form)
        #expect(answer.status == .unprocessableContent && answer.says(text))
        #expect(answer.values(of: "href").contains("#\(field)"))
        #expect(answer.says("value=\"\(form["name"] ?? "")\""))
      }
      #expect(try await log(world).count == rows)
      let new = "گوشی <b> 👩‍👩‍👧"
      let done = try await nadia.submit(
        name, ["name": "  \(new) ", "reason": "asked", "ticket": "HD-7"])
      #expect(done.location == user)
      let after = try await nadia.get(user)
      Markup.check(after)
      #expect(after.says("Renamed factor “Pixel 9” to “\u{2068}گوشی &lt;b&gt; "))
      let row = try #require(try await log(world).first)
      #expect(row.action == .factorRename)
      #expect(AuditFormatter.english.to(row) == "second factors: TOTP “\(new)” (\(id))")
      #expect((row.reason, row.ticket) == ("asked", "HD-7"))

      // Undo leads to the same page, with the previous name in the field.
      let undo = try #require(after.values(of: "href").first { $0.hasPrefix(name + "?name=") })
      let back = try await nadia.get(undo)
      #expect(back.says("id=\"name\"") && back.says("value=\"Pixel 9\""))
      let restored = try await nadia.submit(
        undo, ["name": "Pixel 9", "reason": "mistake"], to: name)
      #expect(restored.location == user)
      #expect(try await nadia.get(user).says("Pixel 9"))
      #expect(try await log(world).count == rows + 2)

      let same = try await nadia.submit(name, ["name": "Pixel 9", "reason": "asked"])
      #expect(same.location == user)
      #expect(try await nadia.get(user).says("No changes made."))
      #expect(try await log(world).count == rows + 2)
      for gone in [user + "/factors/none/name", user + "x/factors/\(id)/name"] {
        #expect(try await nadia.get(gone).status == .notFound)
        let answer = try await nadia.submit(user, ["name": "x", "reason": "asked"], to: gone)
        #expect(answer.status == .notFound)
      }
    }
  }

  @Test func `renaming requires the pool's identity checks and a recent re-authentication`()
    async throws
  {
    try await World.withSampleData { world in
      var settings = SupportRules()
      settings.identityProof = ["Called back"]
      try await world.identity.support.change(
        try await world.euPool, to: settings, by: .program(Author(actor: .commandLine)))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let (_, name, _) = try await address(world)
      let page = try await nadia.get(name)
      #expect(page.says("Called back") && page.says("Email isn’t set up"))
      let answer = try await nadia.submit(name, ["name": "Tablet", "reason": "asked"])
      #expect(answer.status == .unprocessableContent)
      #expect(answer.values(of: "href").contains("#proof"))
      world.clock.advance(seconds: 900)
      #expect(try await nadia.get(name).says("You don’t have a second factor."))
    }
  }
}
