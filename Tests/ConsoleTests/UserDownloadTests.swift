import Crypto
import HTTP
import Identity
import Testing

@testable import Console

/// Files about users, other than the list of users: of exemptions, and of the codes of one user.
@Suite struct UserDownloadTests {
  /// Exempts a user of the tenant and one of the project's own, and writes codes.
  private func prepare(_ world: World) async throws {
    let (agent, author) = try await world.inSupport()
    let own = try await world.projectPool
    let pat = try #require(try await world.identity.accounts.list(own).items.first)
    for (pool, uid) in [(try await world.euPool, ID<Account>(World.chiara)), (own, pat.id)] {
      _ = try await world.identity.exemptions.grant(
        pool, uid, until: world.clock.now.advanced(bySeconds: 86_400),
        ActionRequest(agent: agent, author: author, reason: .other, note: "Key on order"))
    }
    try await world.write(
      [
        CodeFinding(.accepted, distance: 0, step: 90),
        CodeFinding(.late, distance: -8, step: 100), CodeFinding(.wrong),
      ], of: World.chiara)
  }

  private func files(_ world: World) async throws -> [(page: String, file: String)] {
    let eu = try await world.eu
    return [
      ("/exemptions", "/exemptions.csv"),
      (eu + "/reports/exemptions", eu + "/reports/exemptions.csv?period=90"),
      (eu + "/users/\(World.chiara)", eu + "/users/\(World.chiara)/code-attempts.csv"),
    ]
  }

  private func downloads(_ world: World, _ pool: Pool) async throws -> [AuditRow] {
    try await world.identity.audit.list(AuditFilter(pool: pool)).items.filter {
      $0.action == .accountDownload
    }
  }

  @Test func `only those who can export users are offered the files, and get them`() async throws {
    try await World.withSampleData { world in
      try await prepare(world)
      let ada = try await Browser.signedIn(world)
      for (page, file) in try await files(world) {
        let shown = try await ada.get(page)
        #expect(shown.values(of: "action").contains(file), "\(page)")
        Markup.check(shown)
        let answer = try await ada.download(file)
        #expect(answer.response.fields[.contentType]?.hasPrefix("text/csv") == true, "\(file)")
        #expect(answer.text.split(separator: "\r\n").count > 1, "\(file)")
        #expect(try await ada.get(file).status == .methodNotAllowed, "\(file)")
      }
      for who in [World.nadia, World.iris] {
        let browser = try await Browser.signedIn(world, as: who)
        for (page, file) in try await files(world) {
          let shown = try await browser.get(page)
          #expect(shown.status == .ok && !shown.says(".csv"), "\(who): \(page)")
          #expect(try await browser.download(file).status == .forbidden, "\(who): \(file)")
        }
      }
    }
  }

  @Test func `a download is recorded in each pool whose users the file has`() async throws {
    try await World.withSampleData { world in
      try await prepare(world)
      let (eu, own) = (try await world.euPool, try await world.projectPool)
      let ada = try await Browser.signedIn(world)
      _ = try await ada.download("/exemptions.csv?project=globex")
      #expect(try await downloads(world, eu).isEmpty)
      _ = try await ada.download("/exemptions.csv")
      for pool in [eu, own] {
        let rows = try await downloads(world, pool)
        #expect(rows.map { AuditFormatter.english.to($0) } == ["1 user; filters: Exemptions"])
        #expect(rows.first?.actorName == "Ada M." && rows.first?.objectID == pool.objectID)
      }
      _ = try await ada.download("/projects/acme-retail/reports/exemptions.csv?tenants=all")
      #expect(try await downloads(world, eu).count == 2)
      #expect(try await downloads(world, own).count == 2)
      _ = try await ada.download(world.eu + "/users/\(World.chiara)/code-attempts.csv")
      let codes = try await downloads(world, eu).first
      #expect(codes?.objectID == World.chiara)
      #expect(
        codes.map { AuditFormatter.english.to($0) }
          == "filters: TOTP codes by time, newest first")
      #expect(try await downloads(world, own).count == 2)
    }
  }

  @Test func `a download asks for a code unless the re-authentication is recent`() async throws {
    try await World.withSampleData { world in
      try await prepare(world)
      let (ada, app) = try await Browser.withApp(world, as: World.ada)
      let (eu, csrf) = (try await world.euPool, try await ada.get("/projects").csrf)
      for (index, (page, file)) in try await files(world).enumerated() {
        world.clock.advance(seconds: 900)
        let asked = try await ada.post(file, ["csrf": csrf])
        #expect(asked.status == .ok && asked.says("Code from your authenticator app"), "\(file)")
        #expect(asked.values(of: "action").contains(file), "\(file)")
        #expect(asked.values(of: "href").contains { $0.hasPrefix(page) }, "\(file)")
        Markup.check(asked)
        let without = try await ada.post(file, ["csrf": csrf, "confirmed": "yes"])
        #expect(without.status == .unprocessableContent, "\(file)")
        #expect(try await downloads(world, eu).count == index, "\(file)")
        let done = try await ada.post(
          file, ["csrf": csrf, "confirmed": "yes", "code": try world.code(of: app)])
        #expect(done.response.fields[.contentType]?.hasPrefix("text/csv") == true, "\(file)")
        #expect(try await downloads(world, eu).count == index + 1, "\(file)")
      }
    }
  }

  @Test func `the file of exemptions has only users of pools whose users one can export`()
    async throws
  {
    try await World.withSampleData { world in
      try await prepare(world)
      let (eu, own) = (try await world.euPool, try await world.projectPool)
      let line = Author(actor: .commandLine)
      let olga = try await world.identity.administrators.create(
        email: "olga@example.com", displayName: "Olga", password: Secret(World.password),
        grant: Grant(role: .owner, project: eu.project, tenant: eu.tenant), by: line)
      try await world.identity.administrators.grant(
        Grant(role: .auditor), to: olga.id, by: .program(line))
      let browser = try await Browser.signedIn(world, as: "olga@example.com")
      let page = try await browser.get("/exemptions")
      #expect(page.says("chiara.bianchi@example.com") && page.says("pat@example.com"))
      #expect(page.values(of: "action").contains("/exemptions.csv"))
      let file = try await browser.download("/exemptions.csv").text
      #expect(file.contains("chiara.bianchi@example.com") && !file.contains("pat@example.com"))
      let denied = try await browser.download("/projects/acme-retail/reports/exemptions.csv")
      #expect(denied.status == .forbidden)
      #expect(try await downloads(world, eu).count == 1)
      #expect(try await downloads(world, own).isEmpty)
    }
  }

  @Test func `the draft of a bulk removal isn't a list of users to download`() async throws {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let removals = try await world.eu + "/bulk-removals"
      let draft = try await nadia.submit(removals, ["list": "chiara.bianchi@example.com"])
      let address = try #require(draft.location)
      #expect(try await nadia.get(address).status == .ok)
      #expect(try await nadia.get(address + "/result.csv").status == .notFound)
    }
  }
}
