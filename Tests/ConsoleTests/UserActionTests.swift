import HTTP
import Identity
import Testing

@testable import Console

/// Actions on users in the console.
@Suite struct UserActionTests {
  private static let jo = "u77TnC0aPzQ4hW1sGv9M"

  /// The audit rows of a user, newest first.
  private func history(_ world: World, _ uid: String) async throws -> [AuditRow] {
    try await world.identity.audit.list(
      AuditFilter(pool: try await world.euPool, object: .account, objectID: uid)
    ).items
  }

  private func account(_ world: World, _ uid: String) async throws -> Account? {
    try await world.identity.accounts.find(try await world.euPool, ID(uid))
  }

  @Test func `an email address is marked as verified once`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let user = try await world.eu + "/users/\(Self.jo)"
      let rows = try await history(world, Self.jo).count
      let address = user + "/verification"
      for form in [["reason": ""], ["reason": "other"]] as [Form] {
        #expect(try await ada.submit(address, form).status == .unprocessableContent)
      }
      #expect(try await account(world, Self.jo)?.emailVerified == false)
      let form: Form = ["reason": "confirmed", "note": "Seen on the identity card."]
      for _ in 0..<2 {
        let answer = try await ada.submit(user, form, to: address)
        #expect(answer.location == user)
      }
      #expect(try await ada.get(user).says("No changes made."))
      let after = try await ada.get(user)
      #expect(!after.says("Mark email as verified"))
      let now = try await history(world, Self.jo)
      #expect(now.count == rows + 1)
      #expect(now.first.map { AuditFormatter.english.change($0) } == "email verified no → yes")
      #expect(now.first?.note == "Seen on the identity card.")
      let guest = try await world.eu + "/users/zX3eR5tY7uI9oP1aS2dF"
      let page = try await ada.get(guest + "/verification")
      #expect(page.says("No changes to make.") && !page.says("<select"))
    }
  }

  @Test func `each form offers exactly the reasons of its action`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let eu = try await world.eu
      func check(_ page: Answer, _ action: ConsoleAction) {
        let reasons = page.values(of: "value").compactMap { SupportReason(rawValue: $0) }
        #expect(reasons == action.reasons, "\(action)")
      }
      for (path, action) in [
        ("factors/removal", .removeAllFactors), ("sessions/end", .endSessions),
        ("exemption", .exemptUser), ("protection", .protectUser), ("disabling", .disableUser),
        ("deletion", .deleteUser), ("data", .exportUserData), ("erasure", .eraseUser),
      ] as [(String, ConsoleAction)] {
        check(try await ada.get(eu + "/users/\(World.chiara)/\(path)"), action)
      }
      check(try await ada.get(eu + "/users/\(Self.jo)/verification"), .verifyEmail)
      let draft = try await ada.submit(eu + "/bulk-removals", ["list": World.chiara])
      check(try await ada.get(try #require(draft.location)), .removeAllFactors)
    }
  }

  @Test func `disabling a user ends their sessions, and enabling undoes it`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let user = try await world.eu + "/users/\(World.chiara)"
      _ = try await ada.submit(user + "/disabling", ["reason": "left"])
      let off = try await ada.get(user)
      #expect(off.says("User disabled. 1 session ended."))
      #expect(off.says("Enable user") && !off.says("End all sessions…"))
      let row = try #require(try await history(world, World.chiara).first)
      #expect(
        AuditFormatter.english.change(row).hasPrefix("disabled no → yes;"))
      #expect(
        AuditFormatter.english.change(row).hasSuffix("1 session ended"))
      #expect(row.reason == "left")
      let enabling = user + "/enabling"
      #expect(try await ada.submit(enabling, [:]).status == .unprocessableContent)
      _ = try await ada.submit(enabling, ["reason": "mistake"])
      #expect(try await ada.get(user).says("User enabled."))
      #expect(try await account(world, World.chiara)?.disabled == false)
      let again = try await ada.submit(user + "/disabling", ["reason": ""])
      #expect(again.status == .unprocessableContent)
    }
  }

  @Test func `support can end sessions and rename or remove factors, and nothing else`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let page = try await nadia.get(user)
      for button in [
        "End all sessions", "Rename <bdi>Pixel 9</bdi>…", "Remove <bdi>Pixel 9</bdi>…",
        "Remove all factors…",
      ] {
        #expect(page.says(button))
      }
      for button in ["Disable", "Delete", "Mark email"] { #expect(!page.says(button)) }
      let answer = try await nadia.submit(user + "/sessions/end", ["reason": "lost"])
      #expect(answer.location == user)
      #expect(try await nadia.get(user).says("1 session ended."))
      #expect(try await history(world, World.chiara).first?.action == .sessionsEnd)
      let token = try await nadia.get(user).csrf
      for path in ["/disabling", "/enabling", "/verification", "/deletion", "/protection"] {
        #expect(try await nadia.post(user + path, ["csrf": token]).status == .forbidden)
      }
      let new = try await world.eu + "/new-user"
      #expect(try await nadia.get(new).status == .forbidden)
      #expect(try await nadia.post(new, ["csrf": token]).status == .forbidden)
      let iris = try await Browser.signedIn(world, as: World.iris)
      let read = try await iris.get(user)
      #expect(
        !read.says("End all sessions") && !read.says("Rename") && !read.says("Remove <bdi>"))
      let other = try await iris.get(user).csrf
      #expect(try await iris.post(user + "/sessions/end", ["csrf": other]).status == .forbidden)
    }
  }

  @Test func `a factor enrolled since the page was opened isn't removed with the others`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let removal = user + "/factors/removal"
      let page = try await nadia.get(removal)
      var form: Form = ["csrf": try page.csrf, "reason": "lost"]
      for id in page.allValues(of: "enrollment") { form.add("enrollment", id) }
      var change = AccountChange()
      change.factors = .replace([FactorEntry(displayName: "Work", phoneNumber: "+15555550100")])
      try await world.identity.accounts.update(
        try await world.euPool, ID(World.chiara), change, by: Author(actor: .commandLine))
      let refused = try await nadia.post(removal, form)
      #expect(refused.status == .unprocessableContent)
      #expect(refused.says("has enrolled another factor") && refused.says("Work"))
      #expect(try await account(world, World.chiara)?.factors.count == 2)
      // A form that says nothing of factors doesn't remove any.
      let silent = try await nadia.submit(user, ["reason": "lost"], to: removal)
      #expect(silent.status == .unprocessableContent)
      #expect(try await nadia.submit(removal, ["reason": "lost"]).location == user)
      #expect(try await account(world, World.chiara)?.factors.isEmpty == true)
    }
  }

  @Test func `all factors are removed in one step, with a reason and one audit row`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let user = try await world.eu + "/users/\(World.chiara)"
      let removal = user + "/factors/removal"
      for (reason, note) in [
        ("", ""), ("other", " "), ("lost", String(repeating: "n", count: 1001)),
      ] {
        let answer = try await nadia.submit(removal, ["reason": reason, "note": note])
        #expect(answer.status == .unprocessableContent)
      }
      let rows = try await history(world, World.chiara).count
      let answer = try await nadia.submit(removal, ["reason": "stolen", "note": "HD-2"])
      #expect(answer.location == user)
      #expect(try await nadia.get(user).says("Removed 1 factor. 1 session ended."))
      let now = try await history(world, World.chiara)
      #expect(now.count == rows + 1 && now.first?.action == .factorRemoveAll)
      #expect(now.first?.reason == "stolen" && now.first?.note == "HD-2")
      #expect(
        now.first.map {
          AuditFormatter.english.change($0).contains("0 second factors left")
        } == true)
      #expect(try await account(world, World.chiara)?.factors.isEmpty == true)
      #expect(try await nadia.get(removal).status == .notFound)
    }
  }

  @Test func `a removal that nobody else can undo says so before, and not the opposite after`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let user = try await world.eu + "/users/\(World.chiara)"
      let removal = user + "/factors/removal"
      #expect(try await ada.get(removal).says("Another administrator can undo the removal"))
      try await world.identity.administrators.remove(
        ID(try await world.id(of: World.nadia)), by: .program(Author(actor: .commandLine)))
      let alone = try await ada.get(removal)
      #expect(alone.says("Nobody else can undo this") && !alone.says("Another administrator can"))
      _ = try await ada.submit(removal, ["reason": "lost"])
      let after = try await ada.get(user)
      #expect(after.says("Removed 1 factor.") && !after.says("can undo it until"))
    }
  }

  @Test func `deleting a user requires typing their email address or UID`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let user = try await world.eu + "/users/\(World.chiara)"
      let page = try await ada.get(user + "/deletion")
      #expect(page.says("1 second factor is deleted: “Pixel 9”."))
      #expect(page.says("1 session ends immediately."))
      for typed in ["", "chiara", "jo@example.com", "yes"] {
        let answer = try await ada.submit(
          user + "/deletion", ["confirmation": typed, "reason": "left"])
        #expect(answer.status == .unprocessableContent)
        #expect(answer.values(of: "href").contains("#confirmation"))
      }
      #expect(try await account(world, World.chiara) != nil)
      let typed = " CHIARA.bianchi@example.com "
      let answer = try await ada.submit(
        user + "/deletion", ["confirmation": typed, "reason": "left"])
      #expect(answer.location == (try await world.eu + "/users"))
      #expect(try await account(world, World.chiara) == nil)
      #expect(try await ada.get(user).status == .notFound)
      let row = try await history(world, World.chiara).first
      #expect(
        row?.action == .accountDelete
          && row.map { AuditFormatter.english.to($0) } == "1 session ended")
      let guest = try await world.eu + "/users/zX3eR5tY7uI9oP1aS2dF/deletion"
      let gone = try await ada.submit(
        guest, ["confirmation": "zX3eR5tY7uI9oP1aS2dF", "reason": "mistake"])
      #expect(gone.status == .seeOther)
    }
  }

  @Test func `a user is created, and errors are shown next to their fields`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let new = try await world.eu + "/new-user"
      let wrong: [(Form, String, String)] = [
        (["email": "", "name": ""], "email", "or a name"),
        (["email": "nobody"], "email", "such as jo@example.com"),
        (["email": "JO@example.com", "name": "Other"], "email", "Another user already has this"),
        (["email": "n@example.com", "password": "12345"], "password", "six characters"),
        (["name": "N", "password": "123456"], "email", "A password requires one"),
        (["name": String(repeating: "é", count: 257)], "name", "Shorten the name to 256"),
      ]
      for (form, field, text) in wrong {
        let answer = try await ada.submit(new, form)
        #expect(answer.status == .unprocessableContent && answer.says(text))
        #expect(answer.values(of: "href").contains("#\(field)"))
        #expect(!answer.says("12345"))
        Markup.check(answer)
      }
      let answer = try await ada.submit(
        new,
        [
          "email": "New.User@Example.com", "name": "प्रिया शर्मा", "verified": "yes",
          "password": "a good password",
        ])
      let page = try await ada.get(try #require(answer.location))
      #expect(page.says("User created.") && page.says("प्रिया शर्मा"))
      let pool = try await world.euPool
      let created = try await world.identity.accounts.search(pool, "शर्मा").only?.account
      #expect(created?.email == "new.user@example.com" && created?.emailVerified == true)
      #expect(created?.hasPassword == true)
      #expect(try await history(world, created?.id.text ?? "").map(\.action) == [.accountCreate])
    }
  }

  @Test func `a new user's password isn't dropped by another error`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let new = try await world.eu + "/new-user"
      let taken = try await ada.submit(
        new, ["email": "jo@example.com", "password": "a good password"])
      Markup.check(taken)
      #expect(taken.says("Another user already has this"))
      #expect(taken.says("Enter the password again.") && !taken.says("a good password"))
      let marker = "password-entered"
      let value = try #require(taken.value(of: marker))
      let email = "jo.two@example.com"
      let refused = try await ada.submit(new, ["email": email, "password": "", marker: value])
      Markup.check(refused)
      #expect(refused.status == .unprocessableContent)
      #expect(refused.says("id=\"password-error\"") && refused.value(of: marker) == value)
      let without = try await ada.submit(
        new, ["email": email, "password": "", marker: value, "password-omitted": "yes"])
      #expect(without.status == .seeOther)
      let with = try await ada.submit(
        new, ["email": "jo.three@example.com", "password": "a good password", marker: value])
      #expect(with.status == .seeOther)
      let pool = try await world.euPool
      for (email, hasPassword) in [(email, false), ("jo.three@example.com", true)] {
        let user = try await world.identity.accounts.search(pool, email).only?.account
        #expect(user?.hasPassword == hasPassword)
      }
      // The error of the password itself says what to enter.
      let weak = try await ada.submit(new, ["email": "n@example.com", "password": "12345"])
      #expect(weak.value(of: marker) == nil && !weak.says("Enter the password again."))
      let long = try await ada.submit(
        new, ["email": "n@example.com", "password": String(repeating: "a", count: 20_000)])
      #expect(long.status == .unprocessableContent && !long.says("Enter the password again."))
      #expect(long.says("id=\"password-error\""))
    }
  }
}
