import Crypto
import HTTP
import Identity
import Testing

@testable import Console

/// Tests the pages that export and erase a user's data.
@Suite struct UserDataPageTests {
  @Test func `a user's data is downloaded as a file after a reason is chosen`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let page = try await world.eu + "/users/\(World.chiara)/data"
      #expect(try await ada.get(page).text.contains("data-action") == false)
      #expect(try await ada.submit(page, [:]).status == .unprocessableContent)
      let file = try await ada.submit(page, ["reason": "data-request"])
      #expect(file.status == .ok)
      #expect(
        file.response.fields.all("Content-Disposition") == [
          "attachment; filename=\"user-data.json\""
        ])
      #expect(file.response.fields.all("Content-Type") == ["application/json"])
      #expect(file.text.contains("\"\(World.chiara)\""))
      let row = try await world.newest()
      #expect(row?.action == .accountExportData && row?.reason == "data-request")
    }
  }

  @Test func `erasing a user requires typing their email address or UID`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let eu = try await world.eu
      let page = eu + "/users/\(World.chiara)/erasure"
      for typed in ["", "chiara"] {
        let answer = try await ada.submit(page, ["confirmation": typed, "reason": "data-request"])
        #expect(answer.status == .unprocessableContent)
        #expect(answer.values(of: "href").contains("#confirmation"))
      }
      let answer = try await ada.submit(
        page, ["confirmation": World.chiara, "reason": "data-request"])
      #expect(answer.location == eu + "/users")
      #expect(try await ada.get(eu + "/users").says("User data erased as erasure 1."))
      #expect(try await ada.get(eu + "/users/\(World.chiara)").status == .notFound)
      #expect(try await world.newest()?.action == .accountErase)
      while try await world.identity.auditChain.seal() {}
      while try await world.identity.userData.continueErasures() {}
      let log = try await ada.get(eu + "/audit")
      #expect(log.says("Erased user") && log.says("Erasure 1"))
      #expect(!log.text.contains("chiara.bianchi@example.com"))
      let again = try await ada.submit(
        eu + "/erasure", ["uid": World.chiara, "note": "asked by email"])
      #expect(again.status == .unprocessableContent)
      #expect(again.says("Nothing is stored about a user with this UID."))
    }
  }

  @Test func `a deleted user is erased by UID, with a reason`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let eu = try await world.eu
      let form: Form = ["uid": World.chiara, "note": "asked by email"]
      let existing = try await ada.submit(eu + "/erasure", form)
      #expect(existing.status == .unprocessableContent)
      #expect(existing.says("This user isn’t deleted. Erase the data on the user’s page."))
      #expect(existing.values(of: "value").contains(World.chiara))
      _ = try await ada.submit(
        eu + "/users/\(World.chiara)/deletion",
        ["confirmation": World.chiara, "reason": "left"])
      let silent = try await ada.submit(eu + "/erasure", ["uid": World.chiara])
      #expect(silent.status == .unprocessableContent)
      #expect(try await ada.submit(eu + "/erasure", ["note": "n"]).says("Enter the UID."))
      #expect(try await ada.submit(eu + "/erasure", form).location == eu + "/users")
    }
  }

  @Test func `agents don't see the actions`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let page = try await nadia.get(user)
      #expect(!page.says("Export user data…") && !page.says("Erase user data…"))
      for path in ["/data", "/erasure"] {
        #expect(try await nadia.get(user + path).status == .forbidden)
      }
      #expect(try await nadia.get(try await world.eu + "/users").text.contains("/erasure") == false)
    }
  }
}

extension World {
  fileprivate func newest() async throws -> AuditRow? {
    try await identity.audit.list(limit: 1).items.first
  }
}
