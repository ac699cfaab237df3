import HTTP
import Identity
import IdentityToolkitClient
import JSON
import Synchronization
import Testing

@testable import Console

/// The page of a connected project's user, which asks the other server first.
@Suite struct UserReadTests {
  private static let user = "/projects/remote-app/users/user-100"

  private func lookups(_ world: World) -> Int {
    world.remote.calls.count { $0.contains("accounts:lookup") }
  }

  /// Changes the user a second after the last read.
  private func set(_ user: JSON?, in world: World) {
    world.clock.advance(seconds: 1)
    world.remote.state.withLock { $0.users["user-100"] = user }
  }

  @Test func `a user's page has what the other server says now, asked once in five seconds`()
    async throws
  {
    try await World.withSampleData { world in
      _ = try await world.connectRemote()
      set(RemoteDouble.user("user-100", name: "Bea"), in: world)
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(Self.user)
      #expect(page.says("Bea") && page.says("as of 0\u{A0}s ago"))
      Markup.check(page)
      set(RemoteDouble.user("user-100", name: "Cleo"), in: world)
      world.clock.advance(seconds: 2)
      #expect(try await ada.get(Self.user).says("as of 3\u{A0}s ago"))
      #expect(lookups(world) == 1)
      world.clock.advance(seconds: 3)
      #expect(try await ada.get(Self.user).says("Cleo"))
      #expect(lookups(world) == 2)
      // Other pages of the project, and those of hosted ones, ask no one.
      for page in ["/projects/remote-app/users", "/projects", try await world.eu + "/users"] {
        #expect(try await ada.get(page).status == .ok)
      }
      world.clock.advance(seconds: 6)
      let hosted = try await world.eu + "/users/\(World.chiara)"
      #expect(try await ada.get(hosted).status == .ok)
      #expect(lookups(world) == 2)
    }
  }

  @Test func `a page says why the other server wasn't read, and shows what's known`() async throws {
    try await World.withSampleData { world in
      _ = try await world.connectRemote()
      let ada = try await Browser.signedIn(world)
      set(nil, in: world)
      let missing = try await ada.get(Self.user)
      #expect(missing.status == .ok && missing.says("has no such user."))
      world.clock.advance(seconds: 6)
      world.remote.state.withLock {
        $0.faults["accounts:lookup"] = RemoteDouble.fault(401, "UNAUTHENTICATED")
      }
      let refused = try await ada.get(Self.user)
      #expect(refused.status == .ok && refused.says("rejects the service token"))
      Markup.check(refused)
    }
  }

  @Test func `a page waits two seconds at most, and what comes later is there then`() async throws {
    try await World.withSampleData { world in
      _ = try await world.connectRemote()
      set(RemoteDouble.user("user-100", name: "Late"), in: world)
      world.remote.state.withLock { $0.isHeld = true }
      let ada = try await Browser.signedIn(world)
      let page = try await ada.get(Self.user)
      #expect(page.status == .ok && page.says("hasn’t answered yet.") && !page.says("Late"))
      world.remote.state.withLock { $0.isHeld = false }
      var isThere = false
      for _ in 0..<1_000 where !isThere { isThere = try await ada.get(Self.user).says("Late") }
      #expect(isThere)
    }
  }

  @Test func `no one who may not see a user has the other server asked`() async throws {
    try await World.withSampleData { world in
      _ = try await world.connectRemote()
      for email in [World.tomas, World.nadia] {
        let other = try await Browser.signedIn(world, as: email)
        #expect([.forbidden, .notFound].contains(try await other.get(Self.user).status))
      }
      #expect(try await Browser(world).get(Self.user).status == .seeOther)
      let pool = try await world.identity.pools.existing(project: World.remoteApp)
      _ = try await world.identity.connections.pause(
        pool, by: .program(Author(actor: .commandLine), because: "A test"))
      _ = try await world.identity.connections.due()
      let ada = try await Browser.signedIn(world)
      #expect(try await ada.get(Self.user).says("An administrator paused it."))
      #expect(lookups(world) == 0)
    }
  }
}
