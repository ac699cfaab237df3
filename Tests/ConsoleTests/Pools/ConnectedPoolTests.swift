import Database
import HTTP
import Testing

@testable import Console
@testable import Identity

/// Pools whose users are at another server, beside hosted ones.
@Suite struct ConnectedPoolTests {
  private static let acme = ID<Project>("acme-retail")
  private static let google = #"<span class="chip plain">Google</span>"#
  /// Two minutes ago.
  private static let readAt = FixedClock.start.advanced(bySeconds: -120)
  private static let time = #"as of <time datetime="2026-11-20T07:58:00Z""#

  /// Changes the rows of a table.
  private func set(_ change: SQL, in world: World) async throws {
    try await world.database.write { connection in
      _ = try connection.run("UPDATE /* test */ \(change)")
    }
  }

  @Test func `lists name the server of each project, and a page says once when it was read`()
    async throws
  {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let hosted = try await ada.get("/projects")
      #expect(!hosted.text.contains("chip plain") && !hosted.text.contains("as of <time"))
      try await world.mirror(Self.acme, readAt: Self.readAt)

      let projects = try await ada.get("/projects")
      #expect(projects.text.ranges(of: Self.google).count == 1)
      #expect(projects.text.ranges(of: Self.time).count == 1)
      #expect(projects.says("1 hosted, 1 connected"))
      let review = try await ada.get("/review")
      #expect(review.text.ranges(of: Self.google).count == 4)
      #expect(review.text.contains("Connected projects \(Self.time)"))
      for address in ["/users?q=chiara", "/users?q=acme-retail", "/reports"] {
        let page = try await ada.get(address)
        #expect(page.text.contains("Connected projects \(Self.time)"), "\(address)")
        #expect(page.text.contains(Self.google) == (address != "/reports"), "\(address)")
      }
      for page in ["", "/users", "/policy", "/review", "/reports", "/tenants"] {
        let inside = try await ada.get("/projects/acme-retail\(page)").text
        #expect(inside.ranges(of: Self.google).count == 1, "\(page)")
        #expect(inside.ranges(of: "as of <time").count == 1, "\(page)")
      }
      let globex = try await ada.get("/projects/globex").text
      #expect(!globex.contains(Self.google) && !globex.contains("as of <time"))
    }
  }

  @Test func `a project whose own pool wasn't read yet says so, and not for a new tenant`()
    async throws
  {
    try await World.withSampleData { world in
      try await world.mirror(Self.acme, as: .countersign, readAt: Self.readAt)
      let ada = try await Browser.signedIn(world)
      let (tenant, pool) = (
        try await world.euPool, try await world.identity.pools.existing(project: Self.acme)
      )
      try await set("mirror SET walked_at = NULL WHERE scope_key = \(tenant.key)", in: world)
      #expect(try await ada.get("/projects").text.contains(Self.time))
      try await set("mirror SET walked_at = NULL WHERE scope_key = \(pool.key)", in: world)
      for address in ["/projects", "/projects/acme-retail/users"] {
        let page = try await ada.get(address)
        #expect(page.says("not read yet") && page.text.contains(">Countersign</span>"))
      }
      #expect(try await !ada.get("/review").says("Connected projects as of"))
    }
  }

  @Test func `TOTP is unclear while Google's two switches disagree, and only there`() async throws {
    try await World.withSampleData { world in
      try await set(
        """
        scope SET mfa_state = 1, totp_state = 2
        WHERE project_id = \(Self.acme) AND tenant_id = ''
        """, in: world)
      let ada = try await Browser.signedIn(world)
      let pages = ["/projects", "/review", "/projects/acme-retail", "/projects/acme-retail/policy"]
      for (kind, isUnclear) in [
        (PoolKind.hosted, false), (.countersign, false), (.identityPlatform, true),
      ] {
        try await world.connect(Self.acme, as: kind)
        for page in pages {
          let text = try await ada.get(page).text
          #expect(text.contains(">unclear</span>") == isUnclear, "\(kind) \(page)")
          #expect(text.contains("TOTP on, MFA off") == isUnclear, "\(kind) \(page)")
        }
      }
    }
  }

  @Test func `a user's page has what the other server tells, and says that a user is gone`()
    async throws
  {
    try await World.withSampleData { world in
      let (ada, users) = (try await Browser.signedIn(world), try await world.eu + "/users")
      let address = "\(users)/\(World.chiara)"
      let here = ["Diagnosis", "active session", "Password set", "Incorrect codes"]
      let hosted = try await ada.get(address).text
      for text in here { #expect(hosted.contains(text), "\(text)") }
      try await world.mirror(Self.acme, readAt: Self.readAt)
      let there = try await ada.get(address)
      for text in here { #expect(!there.text.contains(text), "\(text)") }
      #expect(there.says("Sign-in methods") && there.says("1 factor"))
      // Only the other server knows.
      #expect(there.text.contains(#"data-label="Last used"><span class="soft">–</span>"#))
      #expect(try await !ada.get(users).text.contains(">gone<"))

      let now = world.clock.now
      try await set("account SET disabled = 1 WHERE uid = \(World.chiara)", in: world)
      #expect(try await ada.get(address).says("The user is disabled"))
      try await set("account SET gone_at = \(now) WHERE uid = \(World.chiara)", in: world)
      let gone = try await ada.get(address)
      #expect(gone.text.contains(#"<span class="chip">gone</span>"#) && gone.says("Gone since"))
      #expect(try await ada.get(users).text.ranges(of: ">gone</span>").count == 1)
    }
  }
}
