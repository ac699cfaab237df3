import Database
import HTTP
import Identity
import IdentityToolkitClient
import Synchronization
import Testing

@testable import Console

/// The connection of a project, as a tab of its settings.
@Suite struct ConnectionPageTests {
  private static let changes = World.connection + "/changes"
  private static let note: Form = ["note": "Agreed with its owners"]

  private func state(_ world: World) async throws -> ConnectionState {
    try await world.identity.connections.find(World.remoteApp).state
  }

  @Test func `the page shows the last walk and the credential, and is read from time to time`()
    async throws
  {
    try await World.withSampleData { world in
      _ = try await world.connectRemote()
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(World.connection)
      Markup.check(page)
      try Snapshot.check(page.settled, named: "connection.html")
      #expect(page.says("working") && page.says("3 users") && !page.text.contains("cst_first"))
      #expect(page.response.fields["Refresh"] == nil)
      #expect(page.says("aria-current=\"page\">Connection</a>"))
      world.remote.state.withLock { $0.users["new"] = RemoteDouble.user("new") }
      let synced = try await ada.submit(World.connection, [:], to: World.connection + "/sync")
      #expect(synced.location == World.connection)
      try await world.readRemote()
      #expect(try await ada.get(World.connection).says("4 users"))
    }
  }

  @Test func `users who can't be stored are listed with the reason, for those who may see users`()
    async throws
  {
    try await World.withSampleData { world in
      let long = String(repeating: "u", count: 600)
      func add(_ uids: [String]) {
        world.remote.state.withLock { state in
          for uid in uids { state.users[uid] = RemoteDouble.user(uid) }
        }
      }
      add(["", long, "<script>\0"])
      _ = try await world.connectRemote()
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(World.connection)
      Markup.check(page)
      try Snapshot.check(page.settled, named: "connection-faults.html")
      #expect(page.says("Users who can’t be stored") && page.says(long))
      #expect(page.says("&lt;script") && !page.says("<script>\u{FFFD}"))
      for reason in ["UID is missing.", "more than 512 bytes.", "has a NUL character."] {
        #expect(page.says(reason), "\(reason)")
      }
      let tomas = try await world.policyAdmin()
      let short = try await tomas.get(World.connection)
      #expect(short.status == .ok && !short.says("can’t be stored") && !short.says(long))

      add((100..<160).map { "\(long)\($0)" })
      try await world.readRemote()
      let many = try await ada.get(World.connection)
      #expect(many.says("63 users"))
      #expect(many.text.ranges(of: "<th scope=\"row\"><bdi class=\"mono\">").count == 50)
    }
  }

  @Test func `pausing takes nothing, and resuming a reason`() async throws {
    try await World.withSampleData { world in
      _ = try await world.connectRemote()
      let ada = try await Browser.signedIn(world)
      let pause = try await ada.submit(World.connection, [:], to: World.connection + "/pause")
      #expect(pause.location == World.connection)
      #expect(try await state(world) == .paused)
      let page = try await ada.get(World.connection)
      Markup.check(page)
      #expect(page.says("An administrator paused it.") && !page.says("Sync now"))
      let again = try await ada.submit("/projects", [:], to: World.connection + "/sync")
      #expect(again.location == World.connection)
      #expect(try await ada.get(World.connection).says("Resume it first."))
      let form = Self.changes + "/resume"
      Markup.check(try await ada.get(form))
      #expect(try await ada.submit(form, [:]).says("id=\"note-error\""))
      #expect(try await state(world) == .paused)
      #expect(try await ada.submit(form, Self.note).location == World.connection)
      #expect(try await state(world) == .working)
    }
  }

  @Test(arguments: [false, true])
  func `a walk whose numbers don't fit is decided by an owner`(accepts: Bool) async throws {
    try await World.withSampleData { world in
      let pool = try await world.connectRemote(users: 60)
      world.remote.state.withLock { $0.users = ["user-100": RemoteDouble.user("user-100")] }
      try await world.readRemote()
      #expect(try await state(world) == .paused)
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(World.connection)
      Markup.check(page)
      if accepts { try Snapshot.check(page.settled, named: "connection-paused.html") }
      #expect(page.says("returned 1 of 60 users"))
      let form = Self.changes + "/gone"
      let asked = try await ada.get(form)
      Markup.check(asked)
      let walk = try #require(asked.value(of: "walk"))
      guard accepts else {
        let kept = try await ada.submit(World.connection, [:], to: World.connection + "/sync")
        #expect(kept.location == World.connection)
        #expect(try await state(world) == .working)
        #expect(try await world.identity.policies.read(pool).users == 60)
        return
      }
      var other = Self.note
      other.add("walk", walk + "1")
      #expect(try await ada.submit(form, other).says("id=\"note-error\""))
      var fields = Self.note
      fields.add("walk", walk)
      #expect(try await ada.submit(form, fields).location == World.connection)
      try await world.readRemote()
      #expect(try await world.identity.policies.read(pool).users == 1)
      #expect(try await ada.get(form).location == World.connection)
    }
  }

  @Test func `a credential is replaced after a check, by one for the same project`() async throws {
    try await World.withSampleData { world in
      _ = try await world.connectRemote()
      // An address with a path comes from the command line.
      try await world.database.write { connection in
        _ = try connection.run("UPDATE /* test */ connection SET url = url || '/mfa'")
      }
      let ada = try await Browser.signedIn(world)
      let form = Self.changes + "/replace"
      Markup.check(try await ada.get(form))
      func submit(_ token: String) async throws -> Answer {
        var fields = Self.note
        fields.add("access", "support")
        fields.add("remote-credential", token)
        return try await ada.submit(form, fields)
      }
      let invalid = try await submit("<b>secret</b>")
      #expect(invalid.says("begins with cst_.") && !invalid.text.contains("secret"))
      Markup.check(invalid)
      world.remote.state.withLock { $0.number = 1 }
      let other = try await submit("cst_second")
      #expect(other.status == .unprocessableContent && other.says("for another project"))
      world.remote.state.withLock { $0.number = 4_711 }
      let first = try await world.identity.connections.find(World.remoteApp)
      #expect(try await submit("cst_second").location == World.connection)
      let second = try await world.identity.connections.find(World.remoteApp)
      #expect(first.credentialKey != second.credentialKey && second.access == .support)
    }
  }

  @Test func `a disconnected project is gone, and its credential with it`() async throws {
    try await World.withSampleData { world in
      _ = try await world.connectRemote()
      let ada = try await Browser.signedIn(world)
      let form = Self.changes + "/end"
      Markup.check(try await ada.get(form))
      #expect(try await ada.submit(form, [:]).status == .unprocessableContent)
      #expect(try await ada.submit(form, Self.note).location == "/projects")
      #expect(try await state(world) == .disconnected)
      #expect(try await ada.get(World.connection).status == .notFound)
    }
  }

  @Test func `readers see the connection, and only owners change it`() async throws {
    try await World.withSampleData { world in
      _ = try await world.connectRemote()
      let forms = ["replace", "resume", "gone", "end"].map { Self.changes + "/" + $0 }
      let iris = try await Browser.signedIn(world, as: World.iris)
      let seen = try await iris.get(World.connection)
      #expect(seen.status == .ok && !seen.says("<form method=\"post\" action=\"/projects/remote"))
      for form in forms { #expect(!seen.says("href=\"\(form)\"")) }
      let tomas = try await world.policyAdmin()
      #expect(try await tomas.get(World.connection).says("Sync now"))
      for browser in [iris, tomas] {
        let csrf = try await browser.get("/projects").csrf
        for form in forms {
          #expect(try await browser.get(form).status == .forbidden)
          #expect(try await browser.post(form, ["csrf": csrf]).status == .forbidden)
        }
      }
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      #expect(try await nadia.get(World.connection).status == .notFound)
      let ada = try await Browser.signedIn(world)
      #expect(try await ada.get(Self.changes + "/other").status == .notFound)
      let hosted = try await ada.get("/projects/acme-retail/settings/connection")
      #expect(hosted.status == .notFound && hosted.says("This project is hosted"))
      let settings = try await ada.get("/projects/acme-retail/settings")
      #expect(!settings.says("/settings/connection"))
    }
  }

  @Test(arguments: ["/projects?attention=all", "/projects/remote-app"])
  func `what stopped, and what was changed there, needs attention`(page: String) async throws {
    try await World.withSampleData { world in
      let pool = try await world.connectRemote()
      let ada = try await Browser.signedIn(world)
      #expect(try await !ada.get(page).says("View connection"))
      world.remote.state.withLock {
        $0.faults["/config"] = RemoteDouble.fault(401, "UNAUTHENTICATED")
      }
      try await world.readRemote()
      #expect(try await state(world) == .failing)
      #expect(try await !ada.get(page).says("View connection"))
      world.clock.advance(seconds: 3_700)
      let later = try await Browser.signedIn(world)
      let failing = try await later.get(page)
      #expect(failing.says("View connection") && failing.says("rejects the service token"))
      _ = try await world.identity.connections.pause(
        pool, by: .program(Author(actor: .commandLine), because: "A test"))
      let paused = try await later.get(page)
      Markup.check(paused)
      #expect(paused.says("An administrator paused it."))
      #expect(!paused.says("connectionPaused/"), "what's critical isn't dismissed")
      let (now, key) = (world.clock.now, pool.key)
      try await world.database.write { connection in
        _ = try connection.run(
          "UPDATE /* test */ mirror SET changed_at = \(now) WHERE scope_key = \(key)")
      }
      #expect(try await later.get(page).says("changed at the server"))
      world.clock.advance(seconds: 8 * 86_400)
      let last = try await Browser.signedIn(world)
      #expect(try await !last.get(page).says("changed at the server"))
    }
  }
}
