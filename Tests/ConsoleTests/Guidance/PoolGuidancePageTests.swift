import HTTP
import Identity
import Testing

@testable import Console

extension Browser {
  /// Sends the editor's form with its save button.
  fileprivate func saveGuidance(_ guidance: String, _ form: Form) async throws -> Answer {
    try await submit(guidance + "/edit", form, to: guidance + "/versions")
  }
}

@Suite struct PoolGuidancePageTests {
  private func write(_ text: String, _ version: Int) -> Form {
    ["text": text, "version": String(version)]
  }

  @Test func `guidance is previewed, saved as versions, and readable by support`() async throws {
    try await World.withSampleData { world in
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let guidance = try await world.eu + "/guidance"
      let empty = try await nadia.get(guidance)
      #expect(empty.says("No support playbook yet") && !empty.says("Write playbook"))
      #expect(try await tomas.get(guidance).values(of: "href").contains(guidance + "/edit"))
      let text = "# Who is calling?\n\nCall back on the number in the *contract*."
      let preview = try await tomas.submit(guidance + "/edit", write(text, 0))
      #expect(preview.status == .ok)
      #expect(preview.says("<h3 id=\"guidance-who-is-calling\">"))
      #expect(preview.says("\n# Who is calling?\n\nCall back"))
      Markup.check(preview)
      #expect(try await nadia.get(guidance).says("No support playbook yet"))
      let saved = try await tomas.saveGuidance(guidance, write(text, 0))
      #expect(saved.location == guidance)
      let flash = try await tomas.get(guidance)
      #expect(flash.says("Saved as version 1, effective immediately."))
      let read = try await nadia.get(guidance)
      #expect(read.says("<h2 id=\"guidance-who-is-calling\">") && read.says("<em>contract</em>"))
      #expect(!read.values(of: "href").contains(guidance + "/edit"))
      Markup.check(read)

      _ = try await tomas.saveGuidance(guidance, write("New words.", 1))
      let old = try await tomas.get(guidance + "?version=1")
      #expect(old.says("This is version 1.") && old.says("Who is calling?"))
      let restore = try #require(
        old.values(of: "href").first { $0 == guidance + "/edit?version=1" })
      let again = try await tomas.get(restore)
      #expect(again.says("This is the text of version 1.") && again.value(of: "version") == "2")
      Markup.check(again)
      for number in ["3", "0", "x", "-1", "99999999999999999999"] {
        #expect(try await tomas.get("\(guidance)?version=\(number)").status == .notFound)
        #expect(try await tomas.get("\(guidance)/edit?version=\(number)").status == .notFound)
      }
    }
  }

  @Test func `a conflicting save shows both texts and loses neither`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      let guidance = try await world.eu + "/guidance"
      _ = try await tomas.saveGuidance(guidance, write("NewerVersion </textarea><b>", 0))
      let late = try await ada.saveGuidance(guidance, write("Mine", 0))
      #expect(late.status == .conflict)
      #expect(late.says("This playbook changed while you were editing."))
      #expect(late.says("NewerVersion &lt;/textarea&gt;"))
      #expect(late.says("\nMine</textarea>") && late.value(of: "version") == "1")
      Markup.check(late)
      let saved = try await ada.saveGuidance(guidance, write("Mine", 1))
      #expect(saved.status == .seeOther)
    }
  }

  @Test func `text that is too long or too deeply nested stays in the form`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let edit = try await world.eu + "/guidance/edit"
      let long = try await ada.submit(
        edit, write(String(repeating: "a", count: PoolGuidance.longest + 3), 0))
      #expect(long.status == .unprocessableContent)
      #expect(long.says("Shorten it by at least 3 bytes. Nothing was saved."))
      #expect(long.says(String(repeating: "a", count: PoolGuidance.longest + 3)))
      Markup.check(long)
      let deep = try await ada.submit(
        edit, write("fine\n" + String(repeating: ">", count: 300) + " end", 0))
      #expect(deep.status == .unprocessableContent)
      #expect(deep.says("Line 2 is nested more than 100 levels deep."))
      #expect(deep.says(String(repeating: "&gt;", count: 300)))
      #expect(try await ada.get(edit).value(of: "version") == "0")
    }
  }

  @Test(
    .serialized, .timeLimit(.minutes(10)),
    arguments: ["[", "*_", "`a``", "[a](", "&#x", "# a\n", "<", "> a\n\n", "**x*"])
  func `64 KiB of pathological Markdown is rendered in time`(piece: String) async throws {
    let text = String(repeating: piece, count: PoolGuidance.longest / piece.utf8.count)
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let edit = try await world.eu + "/guidance/edit"
      let time = try await ContinuousClock().measure {
        let answer = try await ada.submit(edit, write(text, 0))
        #expect(answer.status == .ok)
      }
      #expect(time < .seconds(30), "\(time)")
    }
  }

  @Test(arguments: HostileTests.names.indices)
  func `hostile guidance is escaped`(index: Int) async throws {
    let name = HostileTests.names[index]
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let guidance = try await world.eu + "/guidance"
      let text =
        "# \(name)\n\n\(name)\n\n[a](javascript:alert(1)) ![b](https://x.example/c.png)\n\n# main\n"
      let saved = try await ada.saveGuidance(guidance, write(text, 0))
      #expect(saved.status == .seeOther)
      for address in [guidance, guidance + "/edit", try await world.eu + "/users/\(World.chiara)"] {
        Markup.check(try await ada.get(address))
      }
      #expect(!(try await ada.get(guidance).text.contains("href=\"javascript")))
    }
  }

  @Test func `every user's page shows the beginning of the guidance`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let guidance = try await world.eu + "/guidance"
      let user = try await world.eu + "/users/\(World.chiara)"
      #expect(!(try await ada.get(user).says("Call back first.")))
      let rest = String(repeating: "More words. ", count: 80)
      _ = try await ada.saveGuidance(
        guidance, write("# Calls\n\nCall back first.\n\n\(rest)", 0))
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let page = try await nadia.get(user)
      #expect(page.says("Call back first.") && !page.says("More words."))
      #expect(page.says("Read more"))
      #expect(page.values(of: "href").contains(guidance))
      Markup.check(page)
    }
  }
}
