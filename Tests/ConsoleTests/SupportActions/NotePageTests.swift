import HTTP
import Identity
import Testing

@testable import Console

/// The pages that add and delete a note.
@Suite struct NotePageTests {
  private func user(_ world: World) async throws -> String {
    try await world.eu + "/users/\(World.chiara)"
  }

  private func log(_ world: World) async throws -> [AuditRow] {
    let filter = AuditFilter(
      scope: try await world.euScope, object: .account, objectID: World.chiara)
    return try await world.identity.audit.list(filter).items
  }

  @Test func `a note is saved with its reason, and the flash message links to its deletion`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await user(world)
      let new = user + "/notes/new"
      #expect(try await nadia.get(user).values(of: "href").contains(new))
      let rows = try await log(world).count
      let form: Form = ["reason": "locked", "note": "Calls <b>again</b> at 9.", "ticket": "HD-3"]
      #expect(try await nadia.submit(new, form).location == user)
      let after = try await nadia.get(user)
      #expect(after.says("Note saved.") && after.says("Calls &lt;b&gt;again&lt;/b&gt; at 9."))
      Markup.check(after)
      let row = try #require(try await log(world).first)
      #expect((row.action, row.reason) == (.accountNote, "locked"))
      #expect((row.note, row.ticket) == ("Calls <b>again</b> at 9.", "HD-3"))
      #expect(try await log(world).count == rows + 1)

      let back = try #require(
        after.values(of: "href").first { $0.hasSuffix("/removal") && $0.contains("/notes/") })
      let asked = try await nadia.get(back)
      try Snapshot.check(asked.text, named: "note-removal.html")
      let empty = try await nadia.submit(back, [:])
      #expect(empty.status == .unprocessableContent && empty.values(of: "href").contains("#reason"))
      #expect(try await nadia.submit(back, ["reason": "mistake"]).location == user)
      let without = try await nadia.get(user)
      #expect(without.says("Note deleted. The audit log keeps its text."))
      #expect(without.says("Add what the next agent should know about this user."))
      let last = try #require(try await log(world).first)
      #expect((last.action, last.reason) == (.accountDeleteNote, "mistake"))
      #expect(last.note == nil)

      // A second submission, and invalid note IDs.
      #expect(try await nadia.submit(user, ["reason": "mistake"], to: back).location == user)
      #expect(try await nadia.get(user).says("The note was already deleted."))
      #expect(try await log(world).count == rows + 2)
      for gone in [back, user + "/notes/x/removal", user + "/notes/0/removal"] {
        #expect(try await nadia.get(gone).status == .notFound)
      }
    }
  }

  @Test func `an invalid note stays in the form, with an error for each field`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let new = try await user(world) + "/notes/new"
      for name in HostileTests.names {
        let answer = try await nadia.submit(new, ["note": name, "reason": "asked"])
        if answer.status != .seeOther {
          #expect(answer.status == .unprocessableContent && answer.says("Shorten the note"))
          #expect(answer.says("WWWW") || answer.says("long name"))
          Markup.check(answer)
        }
        Markup.check(try await nadia.get(try await user(world)))
      }
      let missing = try await nadia.submit(new, ["note": "typed already"])
      #expect(missing.status == .unprocessableContent && missing.says("typed already</textarea>"))
      #expect(missing.values(of: "href").contains("#reason"))
      let blank = try await nadia.submit(new, ["note": " ", "reason": "asked"])
      #expect(blank.status == .unprocessableContent && blank.values(of: "href").contains("#note"))
    }
  }

  @Test
  func `agents can add notes to protected users without re-authentication; auditors can't`()
    async throws
  {
    try await World.withSampleData { world in
      let scope = try await world.euScope
      var settings = SupportRules()
      (settings.actionsPerHour, settings.identityProof) = (1, ["Called back"])
      try await world.identity.support.change(scope, to: settings, by: Author(actor: .commandLine))
      let user = try await user(world)
      let new = user + "/notes/new"
      let ada = try await Browser.signedIn(world)
      _ = try await ada.submit(user + "/protection", ["reason": "asked", "proof": "Called back"])
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      world.clock.advance(seconds: 1_000)
      let page = try await nadia.get(new)
      #expect(page.says("<textarea") && !page.says("name=\"proof\"") && !page.says("name=\"code\""))
      let done = try await nadia.submit(new, ["reason": "asked", "note": "Wants a call on Monday"])
      #expect(done.location == user)
      let iris = try await Browser.signedIn(world, as: World.iris)
      let read = try await iris.get(user)
      #expect(read.says("Wants a call on Monday"))
      #expect(!read.says("Add note") && !read.says("Delete…"))
      #expect(try await iris.get(new).status == .forbidden)
    }
  }

  @Test func `agents can't add notes to their own account`() async throws {
    try await World.withSampleData { world in
      var account = NewAccount()
      account.localID = "own"
      account.email = World.nadia
      _ = try await world.identity.accounts.create(
        try await world.euScope, account, by: Author(actor: .commandLine))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let own = try await world.eu + "/users/own"
      #expect(!(try await nadia.get(own).says("Add note")))
      let page = try await nadia.get(own + "/notes/new")
      #expect(page.says("This account has your email address.") && !page.says("<textarea"))
    }
  }
}
