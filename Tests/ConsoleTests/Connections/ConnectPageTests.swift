import HTTP
import Identity
import IdentityToolkitClient
import JSON
import Synchronization
import Testing

@testable import Console

/// Connecting a project, step by step.
@Suite struct ConnectPageTests {
  private static let start = "/projects/new/connection"
  private static let project: Form = [
    "kind": "countersign", "id": "remote-app", "url": "https://remote.example.com",
    "access": "read",
  ]
  private static let token = "cst_0123456789secret"

  /// Answers the first steps, and returns the page of the checks.
  private func checked(_ ada: Browser) async throws -> Answer {
    _ = try await ada.submit(Self.start, Self.project)
    let page = Self.start + "/credential"
    return try await ada.submit(page, ["remote-credential": Self.token])
  }

  private func confirm(_ ada: Browser, _ fields: Form = [:]) async throws -> Answer {
    var form: Form = ["name": "Alder Transit", "note": "Agreed with its owners"]
    for entry in fields.entries { form.add(entry) }
    return try await ada.submit(Self.start + "/confirmation", form)
  }

  @Test func `a project is connected step by step, and its credential is never shown`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      #expect(try await ada.get("/projects/new").says("href=\"\(Self.start)\""))
      let first = try await ada.get(Self.start)
      Markup.check(first)
      try Snapshot.check(first.settled, named: "connect-project.html")
      #expect(
        try await ada.submit(Self.start, Self.project).location == Self.start + "/commands")

      let commands = try await ada.get(Self.start + "/commands")
      Markup.check(commands)
      try Snapshot.check(commands.settled, named: "connect-commands.html")
      #expect(commands.says("--project remote-app --role connection-read"))

      let credential = try await ada.get(Self.start + "/credential")
      Markup.check(credential)
      try Snapshot.check(credential.settled, named: "connect-credential.html")
      let checks = try await checked(ada)
      Markup.check(checks)
      try Snapshot.check(checks.settled, named: "connect-checks.html")
      #expect(checks.status == .ok && checks.says("All checks passed"))
      #expect(!checks.text.contains(Self.token))
      // What's kept is checked again.
      let again = try await ada.submit(
        Self.start + "/credential", ["remote-credential": ""])
      #expect(again.says("All checks passed"))

      let confirmation = try await ada.get(Self.start + "/confirmation")
      Markup.check(confirmation)
      try Snapshot.check(confirmation.settled, named: "connect-confirmation.html")
      #expect(!confirmation.text.contains(Self.token) && !confirmation.says("keep-roles"))
      #expect(try await confirm(ada).location == World.connection)
      let connection = try await ada.get(World.connection)
      Markup.check(connection)
      #expect(connection.says("Project connected.") && connection.says("being read"))
      #expect(connection.response.fields["Refresh"] == "3")
      #expect(try await world.auditedActions().contains(.connectionCreate))
      // The draft has been used.
      #expect(try await ada.get(Self.start + "/confirmation").location == Self.start)
    }
  }

  @Test func `Google's commands have the role and the permissions of the access level`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      for (access, role, count) in [
        ("read", "countersignRead", 4), ("support", "countersignSupport", 6),
        ("policy", "countersignPolicy", 7),
      ] {
        _ = try await ada.submit(
          Self.start, ["kind": "identity-platform", "id": "alder-transit", "access": access])
        let page = try await ada.get(Self.start + "/commands")
        Markup.check(page)
        #expect(page.says("gcloud iam roles create \(role) --project=alder-transit"))
        let permissions = try #require(page.text.firstMatch(of: /--permissions=([\w.,]+)/)).1
        #expect(permissions.split(separator: ",").count == count)
        let back = try await ada.get(Self.start)
        #expect(back.says("value=\"\(access)\" checked"))
      }
    }
  }

  @Test(
    arguments: [
      (["kind": "countersign", "id": "remote-app"], "url"),
      (["kind": "countersign", "id": "remote-app", "url": "remote"], "url"),
      (["kind": "identity-platform", "id": "A"], "id"),
      (["kind": "elsewhere", "id": ""], "id"), ([:], "id"),
    ] as [(Form, String)])
  func `an answer that names no project is refused`(_ form: Form, _ field: String) async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let answer = try await ada.submit(Self.start, form)
      #expect(answer.status == .unprocessableContent && answer.says("id=\"\(field)-error\""))
      Markup.check(answer)
      #expect(try await ada.get(Self.start + "/commands").location == Self.start)
      let hosted = try await ada.submit(Self.start, ["kind": "hosted", "id": ""])
      #expect(hosted.location == "/projects/new")
    }
  }

  @Test func `an invalid credential and a failed check are said, and nothing is connected`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      _ = try await ada.submit(Self.start, Self.project)
      for wrong in ["", "not a token", "{\"type\": \"authorized_user\"}"] {
        let answer = try await ada.submit(
          Self.start + "/credential", ["remote-credential": wrong])
        #expect(answer.status == .unprocessableContent)
        #expect(answer.says("A service token of Countersign begins with cst_."))
        if !wrong.isEmpty { #expect(!answer.text.contains(wrong)) }
        Markup.check(answer)
      }
      world.remote.state.withLock {
        $0.faults["/config"] = RemoteDouble.fault(403, "PERMISSION_DENIED : <b>no</b>")
      }
      let failed = try await checked(ada)
      Markup.check(failed)
      try Snapshot.check(failed.settled, named: "connect-failed.html")
      #expect(failed.says("A check failed") && failed.says("lacks the role connection-read"))
      #expect(failed.says("&lt;b>no") || failed.says("&lt;b&gt;no"))
      #expect(!failed.says(Self.start + "/confirmation"))
      let refused = try await confirm(ada)
      #expect(refused.status == .unprocessableContent && refused.says("lacks the role"))
      #expect(try await world.identity.connections.list().isEmpty)
    }
  }

  @Test func `a reason and an ID that's free are asked for`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      _ = try await checked(ada)
      let bare = try await ada.submit(Self.start + "/confirmation", ["name": "Alder"])
      #expect(bare.status == .unprocessableContent && bare.says("id=\"note-error\""))
      let taken = try await confirm(ada, ["id": "acme-retail"])
      #expect(taken.says("The project ID acme-retail is already in use."))
      Markup.check(taken)
      let free = try await confirm(ada, ["id": "alder-here"])
      #expect(free.location == "/projects/alder-here/settings/connection")
      _ = try await checked(ada)
      #expect(try await confirm(ada).says("already connected, as alder-here"))
    }
  }

  @Test func `former roles are restored all or not at all`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let line = Caller.program(Author(actor: .commandLine), because: "A test")
      for keeps in [true, false] {
        if try await world.identity.connections.list().isEmpty {
          _ = try await world.connectRemote()
        }
        let pool = try await world.identity.pools.existing(project: World.remoteApp)
        let iris = try await world.id(of: World.iris)
        _ = try await world.identity.administrators.grant(
          Grant(role: .support, project: pool.project), to: ID(iris), by: line)
        _ = try await world.identity.connections.end(pool, by: line)
        try await world.identity.purgeExpired()
        _ = try await checked(ada)
        let page = try await ada.get(Self.start + "/confirmation")
        Markup.check(page)
        #expect(page.says("keep-roles") && page.says("Iris W."))
        let done = try await confirm(ada, keeps ? ["keep-roles": "on"] : [:])
        #expect(done.location == World.connection)
        let browser = try await Browser.signedIn(world, as: World.iris)
        _ = try await browser.get("/projects/remote-app/users")
        let roles = try await world.identity.administrators.records().first {
          $0.administrator.email == World.iris
        }?.administrator.grants
        #expect(roles?.contains { $0.project == pool.project } == keeps)
      }
    }
  }

  @Test func `only owners of the instance connect, and a draft is theirs alone`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      _ = try await checked(ada)
      for email in [World.tomas, World.iris, World.nadia] {
        let other = try await Browser.signedIn(world, as: email)
        for page in ["", "/commands", "/credential", "/confirmation"] {
          #expect(try await other.get(Self.start + page).status == .forbidden, "\(page)")
        }
        #expect(try await !other.get("/projects/new").says(Self.start))
      }
      let second = try await TestRole(role: .owner, reach: .instance).browser(in: world)
      #expect(try await second.get(Self.start + "/confirmation").location == Self.start)
      // Another session of the same owner continues.
      let again = try await Browser.signedIn(world)
      #expect(try await again.get(Self.start + "/confirmation").status == .ok)
    }
  }

  @Test func `answers are kept while the session expires, without the credential`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      _ = try await ada.submit(Self.start, Self.project)
      let csrf = try await ada.get(Self.start + "/credential").csrf
      world.clock.advance(seconds: SessionLimits.standard.idle + 61)
      let late = try await ada.post(
        Self.start + "/credential", ["csrf": csrf, "remote-credential": Self.token])
      #expect(late.location?.hasSuffix("&kept=1") == true)
      _ = try await ada.givePassword(next: Self.start + "/credential")
      let kept = try await ada.get(Drafts.address(Drafts.mark(of: Self.start + "/credential")))
      Markup.check(kept)
      #expect(kept.says("not saved") && !kept.text.contains(Self.token))
      // An hour later, nothing is kept.
      world.clock.advance(seconds: 3_600)
      let later = try await Browser.signedIn(world)
      #expect(try await later.get(Self.start + "/commands").location == Self.start)
    }
  }

  @Test func `texts of the other server are shown as texts`() async throws {
    try await World.withSampleData { world in
      let hostile = "<script>\u{202E}x</script>"
      world.remote.state.withLock {
        $0.tenants = [
          ["name": "projects/remote-app/tenants/shop-ab123", "displayName": .string(hostile)]
        ]
      }
      let ada = try await Browser.signedIn(world)
      let page = try await checked(ada)
      Markup.check(page)
      #expect(page.status == .ok && !page.text.contains("<script>x"))
      #expect(page.text.contains("&lt;script&gt;x"))
    }
  }
}
