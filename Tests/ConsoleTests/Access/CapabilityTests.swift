import HTTP
import Identity
import IdentityToolkitClient
import MailText
import Testing
import Text

@testable import Console

/// Pages and forms of connected pools are those that their kind offers.
@Suite struct CapabilityTests {
  private static let acme = ID<Project>("acme-retail")

  @Test func `a route needs no less than its actions, and a permission that the pool has`()
    async throws
  {
    try await World.empty { world in
      let routes = world.console.routes.filter { $0.access.permissionInPool != nil }
      #expect(routes.count > 100)
      for route in routes {
        let permission = try #require(route.access.permissionInPool)
        for (kind, access) in PoolKind.allCases.flatMap({ kind in
          AccessLevel.allCases.map { (kind, $0) }
        }) where kind.offers(at: access).contains(route.needs) {
          let name = "\(route.route) \(kind) \(access)"
          #expect(permission.isOffered(by: kind, at: access), "\(name)")
          for action in route.actions + route.preparedActions {
            #expect(kind.offers(at: access).contains(action.requirements.needs), "\(name)")
          }
        }
      }
      #expect(Set(routes.map(\.needs)).isSuperset(of: PoolKind.hosted.offers(at: .read)))
    }
  }

  /// What a page of a project needs is decided by hand, and what a form needs by its action.
  @Test func `pages that need nothing but what's stored here are these`() async throws {
    let pages = [
      "", "/activity/enrollment.csv", "/audit", "/audit.csv", "/guidance", "/policy",
      "/policy/comparison", "/policy/versions", "/reports", "/reports/enrollment",
      "/reports/enrollment.csv", "/reports/exemptions", "/reports/factors", "/review",
      "/review.csv", "/review/evidence", "/review/evidence.json", "/tenants", "/users",
      "/users/{String}",
    ]
    try await World.empty { world in
      let routes = world.console.routes.filter {
        $0.access.permissionInPool != nil && $0.needs == .bookkeeping && !$0.route.isOfTenant
      }
      func patterns(_ method: Method) -> Set<String> {
        Set(routes.filter { $0.route.method == method }.map(\.route.pattern))
      }
      let found = patterns(.get).subtracting(patterns(.post))
      #expect(found == Set(pages.map { "/projects/{String}" + $0 }))
    }
  }

  @Test(arguments: Role.allCases)
  func `what a connected pool doesn't offer isn't found, with the reason, in any role`(role: Role)
    async throws
  {
    try await World.withSampleData { world in
      let testRole = TestRole(role: role, reach: .project)
      let grant = try await testRole.grant(in: world)
      let (ofProject, ofTenant) = (
        try await Samples(world, ofTenant: false), try await Samples(world, ofTenant: true)
      )
      let browser = try await testRole.browser(in: world)
      let csrf = try await browser.get("/projects").csrf
      let kind: PoolKind = role == .auditor ? .countersign : .identityPlatform
      try await world.mirror(Self.acme, as: kind, readAt: world.clock.now)
      try await world.addSampleChanges()
      var (refused, shown) = (0, 0)
      for route in world.console.routes where route.access.permissionInPool != nil {
        let samples = route.route.isOfTenant ? ofTenant : ofProject
        let address = try #require(samples.address(of: route.route), "\(route.route)")
        let isReading = route.route.method == .get
        let name = "\(route.route.method) \(address)"
        guard kind.offers(at: .read).contains(route.needs) else {
          let answer =
            isReading
            ? try await browser.get(address) : try await browser.post(address, ["csrf": csrf])
          #expect(answer.status == .notFound, "\(name)")
          #expect(answer.says(route.needs.refusal.english), "\(name)")
          refused += 1
          continue
        }
        // Forms that are offered could take effect.
        guard isReading else { continue }
        let segments = (Target(address)?.segments.map(\.text) ?? []) + ["", "", "", ""]
        let expected = ExpectedAccess(
          route.access, grant, project: segments[1],
          tenant: route.route.isOfTenant ? segments[3] : nil)
        let status = try await browser.get(address).status
        switch expected {
        case .passes: #expect([200, 303].contains(status.code), "\(name)")
        case .notAllowed: #expect(status == .forbidden, "\(name)")
        case .notFound: #expect(status == .notFound, "\(name)")
        }
        shown += 1
      }
      #expect(refused > 60 && shown > 20)
    }
  }

  @Test func `a pool that the administrator can't see says nothing about its kind`() async throws {
    try await World.withSampleData { world in
      let browser = try await TestRole(role: .owner, reach: .otherProject).browser(in: world)
      try await world.connect(Self.acme)
      let answer = try await browser.get("/projects/acme-retail/settings/keys")
      #expect(answer.status == .notFound && !answer.says("connected"))
    }
  }

  @Test func `pages of a connected project link only to what it offers`() async throws {
    try await World.withSampleData { world in
      let (id, line) = (ID<Project>("remote-app"), Caller.program(Author(actor: .commandLine)))
      let pool = try await world.identity.pools.createProject(
        id: id.text, displayName: "Remote app", by: line
      ).value.pool
      _ = try await world.identity.policies.change(pool, by: line) {
        $0.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 1)
      }
      var new = NewAccount()
      (new.email, new.emailVerified) = ("pat@example.com", true)
      let user = try await world.identity.accounts.create(pool, new, by: line).value
      try await world.mirror(id, readAt: world.clock.now)
      let ada = try await Browser.signedIn(world)
      let start = "/projects/remote-app"
      var (waiting, known, visits) = ([start], Set([start]), [String: Int]())
      while let address = waiting.popLast() {
        let answer = try await ada.get(address)
        #expect([200, 303].contains(answer.status.code), "\(address)")
        guard answer.status == .ok, answer.isPage else { continue }
        for link in answer.values(of: "href") {
          let plain = String(link.prefix { $0 != "#" })
          let path = String(plain.prefix { $0 != "?" })
          guard path == start || path.hasPrefix(start + "/"), known.insert(plain).inserted else {
            continue
          }
          visits[path, default: 0] += 1
          if visits[path, default: 0] <= 2 { waiting.append(plain) }
        }
      }
      let pages = ["/policy", "/users", "/users/\(user.id.text)", "/review", "/audit"]
      for shown in pages + ["/settings/connection"] {
        #expect(visits[start + shown] != nil, "\(shown)")
      }
      let factors = try await ada.get(start + "/reports/factors")
      #expect(factors.says("Over 1 year old") && !factors.says("Never used"))
      let guide = try await ada.get("/guides/common/build?project=remote-app")
      #expect(guide.says("remote-app") && !guide.says("This project has no API key"))
      let policy = try await ada.get(start + "/policy")
      #expect(policy.says("The connection of this project cannot change policies"))
      #expect(!policy.says("Compare all 11 windows"))
    }
  }

  @Test func `intervals that the other server doesn't tell are shown as such`() async throws {
    try await World.withSampleData { world in
      let line = Caller.program(Author(actor: .commandLine))
      let pool = try await world.identity.pools.existing(project: Self.acme)
      _ = try await world.identity.policies.change(pool, by: line) {
        $0.configuration.totp = TOTPConfiguration(state: .enabled, intervals: .unsaid)
      }
      let ada = try await Browser.signedIn(world)
      for (kind, reason) in [
        (PoolKind.identityPlatform, "0 or default (5): Google doesn’t say."),
        (.countersign, "0 or default (5): the other server doesn’t say."),
      ] {
        try await world.connect(Self.acme, as: kind)
        for page in ["", "/policy"] {
          let answer = try await ada.get("/projects/acme-retail" + page)
          #expect(answer.says(reason), "\(page)")
          #expect(answer.says(#"aria-label="Unknown""#), "\(page)")
        }
      }
      let policy = try await ada.get("/projects/acme-retail/policy")
      #expect(policy.says("TOTP is on, intervals 0 or default"))
      let comparison = try await world.eu + "/policy/comparison?with=acme-retail"
      for page in ["/projects", "/review", "/projects/acme-retail/review/evidence", comparison] {
        #expect(try await ada.get(page).says("<span>0 or default</span>"), "\(page)")
      }
      let file = try await ada.get("/projects/acme-retail/review.csv")
      #expect(file.says(#","0 or default","","#))
    }
  }
}

extension ConsoleRoute.Access {
  /// The permission of a page of a project or pool; nil for another page.
  fileprivate var permissionInPool: Permission? {
    switch self {
    case .project(let permission), .projectOfTenant(let permission), .pool(let permission):
      permission
    case .open, .settingUp, .signedIn, .somewhere: nil
    }
  }
}
