import HTTP
import Identity
import Testing

@testable import Console

/// The administrator pages.
@Suite struct AdministratorPageTests {
  static let hostile = [
    "<script>alert(1)</script>", "\u{202E}moc.elpmaxe", "👩‍👩‍👧‍👦 नमस्ते", String(repeating: "x", count: 100),
  ]

  @Test func `an invitation is linked from the list and creates one administrator`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      #expect(
        try await ada.get("/administrators").values(of: "href").contains("/administrators/new"))
      let eu = try await world.euShop.text
      let created = try await ada.submit(
        "/administrators/new",
        [
          "email": "new@example.com", "name": "Newman", "role": "support",
          "place": "acme-retail/\(eu)",
        ])
      #expect(created.status == .ok)
      Markup.check(created)
      let start = try #require(
        created.text.firstRange(of: "https://mfa.example.com/invitation?token="))
      let link = "/invitation?token=" + created.text[start.upperBound...].prefix { $0 != "<" }
      let token = link.dropFirst("/invitation?token=".count)
      #expect(token.utf8.count == 43)
      let list = try await ada.get("/administrators")
      Markup.check(list)
      #expect(list.says(">invited</span>") && !list.says(String(token)))

      let stranger = Browser(world)
      let page = try await stranger.get(link)
      Markup.check(page)
      #expect(page.says("support (<span class=\"mono\">acme-retail / \(eu)</span>)"))
      #expect(!page.says("\(world.origin)/invitation?"))
      #expect(try await stranger.accept(link).location == "/")
      #expect(try await stranger.get("/projects/acme-retail/tenants/\(eu)/users").status == .ok)
      #expect(try await stranger.get("/projects/acme-retail/users").status == .notFound)
      let used = try await Browser(world).get(link)
      #expect(used.status == .notFound)
      #expect(used.says("This invitation is invalid or expired"))
    }
  }

  @Test func `an invitation is revoked from the list`() async throws {
    try await World.withSampleData { world in
      let link = try await world.invitation("new@example.com", Grant(role: .auditor))
      let ada = try await Browser.signedIn(world)
      let list = try await ada.get("/administrators")
      let action = try #require(list.values(of: "href").first { $0.hasPrefix("/invitations/") })
      #expect(try await ada.post(action, ["csrf": try list.csrf]).location == "/administrators")
      #expect(try await ada.get("/administrators").says("Invitation revoked."))
      #expect(try await Browser(world).get(link).status == .notFound)
      #expect(try await ada.post(action, ["csrf": try list.csrf]).status == .seeOther)
    }
  }

  @Test func `errors are shown next to their fields, and values stay in the form`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let empty = try await ada.submit("/administrators/new", [:])
      #expect(empty.status == .unprocessableContent)
      #expect(empty.says("There are 3 problems"))
      for (field, form) in [
        ("email", ["email": World.ada, "name": "N", "role": "owner", "place": "*"] as Form),
        ("email", ["email": "x", "name": "N", "role": "owner", "place": "*"]),
        ("place", ["email": "n@x", "name": "N", "role": "owner", "place": "nowhere"]),
        ("place", ["email": "n@x", "name": "N", "role": "owner", "tenant": "t"]),
        ("role", ["email": "n@x", "name": "N", "role": "king", "place": "*"]),
      ] {
        let answer = try await ada.submit("/administrators/new", form)
        #expect(answer.status == .unprocessableContent)
        #expect(answer.says("id=\"\(field)-error\""))
        #expect(answer.says("value=\"N\""))
        Markup.check(answer)
      }
    }
  }

  @Test func `roles are granted and revoked with immediate effect`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let iris = try await Browser.signedIn(world, as: World.iris)
      let address = "/administrators/\(try await world.id(of: World.iris))"
      #expect(try await iris.get("/projects/new").status == .forbidden)
      let given = try await ada.submit(
        address, ["role": "policy", "place": "*"], to: address + "/grants")
      #expect(given.location == address)
      let page = try await ada.get(address)
      Markup.check(page)
      #expect(page.says("Granted: policy admin (the instance)."))
      #expect(try await iris.get("/projects/new").status == .ok)
      for role in ["policy", "auditor"] {
        let revoked = try await ada.submit(
          address, ["role": role, "project": "*", "tenant": ""], to: address + "/grants/removal")
        #expect(revoked.location == address)
      }
      #expect(try await iris.get("/projects/new").status == .forbidden)
      let empty = try await ada.get(address)
      #expect(empty.says("No role"))
      Markup.check(try await iris.get("/projects"))
    }
  }

  @Test func `administrators can't change themselves, and the page doesn't offer it`() async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let address = "/administrators/\(try await world.id(of: World.ada))"
      let page = try await ada.get(address)
      Markup.check(page)
      #expect(page.says("This is you."))
      #expect(
        !page.says("Grant role") && !page.says("Revoke") && !page.says("Remove administrator…"))
      let own = try await ada.submit(
        "/sign-out", ["role": "owner", "project": "*", "tenant": ""],
        to: address + "/grants/removal"
      )
      #expect(own.status == .unprocessableContent)
      #expect(own.says("You can’t change your own roles."))
      for form in ["/factor-reset", "/removal"] {
        #expect(try await ada.get(address + form).location == address)
        let sent = try await ada.submit(
          "/sign-out", ["confirmation": World.ada], to: address + form)
        #expect(sent.status != .ok)
      }
      #expect(try await world.identity.administrators.records().count == 4)
    }
  }

  @Test func `auditors can read the pages; policy admins and project owners can't`() async throws {
    try await World.withSampleData { world in
      let id = try await world.id(of: World.nadia)
      let iris = try await Browser.signedIn(world, as: World.iris)
      let list = try await iris.get("/administrators")
      #expect(list.status == .ok && !list.says("New administrator"))
      let one = try await iris.get("/administrators/\(id)")
      #expect(one.status == .ok && !one.says("Grant a role") && !one.says("Revoke"))
      #expect(try await iris.get("/administrators/new").status == .forbidden)
      #expect(try await iris.get("/administrators/\(id)/removal").status == .forbidden)
      let link = try await world.invitation(
        "o@example.com", Grant(role: .owner, project: ID("acme-retail")))
      let owner = Browser(world)
      _ = try await owner.accept(link)
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      for browser in [owner, tomas] {
        let projects = try await browser.get("/projects")
        #expect(!projects.values(of: "href").contains("/administrators"))
        for page in ["/administrators", "/administrators/new", "/administrators/\(id)"] {
          #expect(try await browser.get(page).status == .forbidden, "\(page)")
        }
      }
    }
  }

  @Test func `the file has a row for each role and each invitation`() async throws {
    try await World.withSampleData { world in
      _ = try await world.invitation("new@example.com", Grant(role: .auditor))
      let iris = try await Browser.signedIn(world, as: World.iris)
      let list = try await iris.get("/administrators")
      #expect(list.values(of: "href").contains("/administrators.csv"))
      let file = try await iris.get("/administrators.csv")
      let rows = file.text.split(separator: "\r\n").dropFirst()
      let records = try await world.identity.administrators.records()
      let roles = records.reduce(0) { $0 + max(1, $1.administrator.grants.count) }
      #expect(rows.count == roles + 1 && rows.last?.contains("\"new@example.com\"") == true)
      #expect(rows.last?.hasSuffix("\"invited\"") == true)
      let tomas = try await Browser.signedIn(world, as: World.tomas)
      #expect(try await tomas.get("/administrators.csv").status == .forbidden)
    }
  }

  @Test func `revoking a role or removing an administrator says how many tokens are revoked`()
    async throws
  {
    try await World.withSampleData { world in
      let iris = try await Browser.signedIn(world, as: World.iris)
      let ada = try await Browser.signedIn(world)
      let id = try await world.id(of: World.iris)
      let address = "/administrators/\(id)"
      let acme = ID<Project>("acme-retail")
      let boss = try await world.identity.administrators.record(email: World.ada).administrator
      for role in [Role.policy, .owner] {
        _ = try await world.identity.administrators.grant(
          Grant(role: role, project: acme), to: ID(id),
          by: .program(boss.author(address: "a", requestID: "r")))
      }
      let maker = try await world.identity.administrators.record(ID(id)).administrator
      for role in [ServiceTokenRole.owner, .policy] {
        _ = try await world.identity.serviceTokens.create(
          project: acme, tenant: nil, role: role, name: "backend",
          by: .program(maker.author(address: "a", requestID: "r")))
      }
      let asked = try await ada.get(address + "/removal")
      #expect(asked.says("2 service tokens they created are revoked"))
      Markup.check(asked)
      _ = try await ada.submit(
        address, ["role": "owner", "project": "acme-retail", "tenant": ""],
        to: address + "/grants/removal")
      #expect(try await ada.get(address).says("1 service token they created was revoked."))
      #expect(try await ada.get(address + "/removal").says("1 service token they created is"))
      let done = try await ada.submit(address + "/removal", ["confirmation": World.iris])
      let list = try await ada.get(try #require(done.location))
      #expect(list.says("is no longer an administrator. 1 service token they created was revoked."))
      #expect(try await iris.get("/").location == "/sign-in")
    }
  }

  @Test func `resetting a factor and removing an administrator require typing the address`()
    async throws
  {
    try await World.withSampleData { world in
      let (_, codes) = try await world.authenticator(of: World.nadia)
      let nadia = Browser(world)
      _ = try await nadia.givePassword(World.nadia)
      _ = try await nadia.submit("/sign-in/code", ["recovery": codes[0]])
      #expect(try await nadia.get("/projects").status == .ok)
      let ada = try await Browser.signedIn(world)
      let address = "/administrators/\(try await world.id(of: World.nadia))"
      for (form, flash) in [
        ("/factor-reset", "was reset"), ("/removal", "no longer an administrator"),
      ] {
        let page = try await ada.get(address + form)
        Markup.check(page)
        let wrong = try await ada.submit(address + form, ["confirmation": "nadia"])
        #expect(wrong.status == .unprocessableContent)
        #expect(wrong.says("value=\"nadia\""))
        let done = try await ada.submit(
          address + form, ["confirmation": " NADIA@example.com", "note": "Lost phone"])
        #expect(try await ada.get(try #require(done.location)).says(flash))
        #expect(try await nadia.get("/").location == "/sign-in")
      }
      #expect(try await ada.get(address).status == .notFound)
      #expect(try await ada.get("/administrators/nobody").text == ada.get(address).text)
    }
  }

  @Test func `hostile names are escaped`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      for (number, name) in Self.hostile.enumerated() {
        let link = try await world.invitation(
          "x\(number)@example.com", Grant(role: .auditor), name: name)
        Markup.check(try await ada.get("/administrators"))
        let browser = Browser(world)
        Markup.check(try await browser.get(link))
        _ = try await browser.accept(link, name: name)
        let id = try await world.id(of: "x\(number)@example.com")
        for page in ["", "/removal"] {
          let answer = try await ada.get("/administrators/\(id)\(page)")
          Markup.check(answer)
          #expect(!answer.says("<script>alert"))
        }
        Markup.check(try await browser.get("/account"))
      }
      for value in Self.hostile + [String(repeating: "y", count: 4_000)] {
        let answer = try await ada.submit(
          "/administrators/new", ["email": value, "name": value, "role": value, "place": value])
        #expect(answer.status == .unprocessableContent)
        Markup.check(answer)
      }
    }
  }
}
