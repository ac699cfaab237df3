import HTTP
import Identity
import Localization
import Templating
import Testing

@testable import Console

/// The navigation of the console: which page belongs to which entry, and who sees an entry.
@Suite struct SidebarTests {
  @Test func `every page belongs to exactly one entry`() async throws {
    try await World.withSampleData { world in
      let pools = [try await world.projectPool, try await world.euPool]
      for route in world.console.routes where route.route.method == .get && route.access != .open {
        let components = route.route.components
        guard !components.contains(where: \.isFile) else { continue }
        let isOfTenant = components.starts(with: ["projects", nil, "tenants", nil])
        let pool = components.starts(with: ["projects", nil]) ? pools[isOfTenant ? 1 : 0] : nil
        let names = Self.entries(of: try Self.target(components), in: pool)
        #expect(names.count == 1, "\(route.route): \(names)")
      }
    }
  }

  @Test(arguments: [false, true])
  func `every page below that of an entry has breadcrumbs`(ofTenant: Bool) async throws {
    let entries = (PageEntry.ofInstance + PageEntry.ofPool + [.account]).flatMap(\.tabs)
      .map(\.components)
    try await World.withSampleData { world in
      let samples = try await Samples(world, ofTenant: ofTenant)
      let ada = try await Browser.signedIn(world)
      var count = 0
      for route in world.console.routes where route.route.isOfTenant == ofTenant {
        let components = route.route.components
        let isBelow = !entries.contains(components.withoutTenant) && !components.isKeptAnswers
        // Before their second factor is set up, readers have no page to return to.
        guard route.route.method == .get, route.access != .open, route.access != .settingUp,
          isBelow, let address = samples.address(of: route.route)
        else { continue }
        let page = try await ada.get(address)
        guard page.status == .ok,
          page.response.fields[.contentType]?.hasPrefix("text/html") == true
        else { continue }
        count += 1
        #expect(page.says("<ol class=\"crumbs\">"), "\(address)")
      }
      #expect(count > 40)
    }
  }

  @Test(
    arguments: [
      ("", "Overview"), ("/users/u1/factors/removal", "Users"), ("/bulk-removals/7", "Users"),
      ("/new-user", "Users"), ("/policy/changes", "MFA policy"),
      ("/settings/sign-in/disabling", "Settings"), ("/settings/support", "Settings"),
      ("/support/blocked-agents/7", "Settings"), ("/guidance/edit", "Settings"),
      ("/settings/deletion", "Settings"), ("/settings/tokens/new", "Settings"),
      ("/settings/providers/oidc.staff", "Settings"), ("/messages/3", "Records"),
      ("/approvals/7", "Approvals"), ("/policy-approvals/7", "Approvals"),
    ])
  func `a page of a pool belongs to the entry that leads to it`(path: String, name: String)
    async throws
  {
    try await World.withSampleData { world in
      for pool in [try await world.projectPool, try await world.euPool] {
        let target = try #require(Target(ConsolePaths.overview(pool) + path))
        #expect(Self.entries(of: target, in: pool) == [name])
      }
    }
  }

  @Test func `a page whose name only begins like that of an entry doesn't belong to it`()
    async throws
  {
    try await World.withSampleData { world in
      let pool = try await world.euPool
      let target = try #require(Target(ConsolePaths.overview(pool) + "/users-of-others"))
      #expect(Self.entries(of: target, in: pool).isEmpty)
    }
  }

  @Test func `an entry is shown only where its page is declared and open to the reader`()
    async throws
  {
    try await World.withSampleData { world in
      let nadia = try await Browser.signedIn(world, as: World.nadia)
      let page = try await nadia.get(try await world.eu)
      #expect(
        page.entries == [
          "Overview", "Users", "Sign-in activity", "MFA policy", "Approvals", "Settings", "Records",
        ])
      let records = try await nadia.get(try await world.eu + "/messages")
      #expect(records.tabs == ["Reports", "Messages"])
      let rules = try await nadia.get(try await world.eu + "/settings/support")
      #expect(rules.tabs == ["Support rules", "Support playbook"])
      let ada = try await Browser.signedIn(world)
      let settings = try await ada.get(try await world.eu + "/settings")
      #expect(settings.tabs.last == "API keys and tokens" && settings.tabs.count == 6)
      #expect(try await ada.get("/projects/acme-retail/settings").tabs.count == 7)
      #expect(try await ada.get("/projects").entries.count == 8)
      #expect(try await ada.get("/projects/acme-retail").entries.count == 10)
      #expect(!(try await ada.get(try await world.eu).entries.contains("Tenants")))
      #expect(try await ada.get("/projects/acme-retail").entries.contains("Tenants"))

      let library = try TemplateLibrary(
        folder: Checkout.folder("Templates"))
      let sidebar = Sidebar(try library.template("parts/sidebar", for: SidebarView.self))
      let session = try #require(
        try await world.identity.administrators.records().map(\.administrator).first {
          $0.email == World.ada
        })
      let place = PageEntry.Place(try #require(Target("/projects")), in: nil)
      func text() -> String {
        String(
          decoding: sidebar.navigation(
            at: place, in: nil, for: session, users: nil, approvals: nil
          ).sidebar.bytes, as: UTF8.self)
      }
      #expect(!text().contains("href"))
      sidebar.declare(world.console.routes.filter { $0.route.pattern == "/projects" })
      #expect(text().contains(#"<a href="/projects" aria-current="page">Projects</a>"#))
      #expect(text().split(separator: "href").count == 2)
    }
  }

  @Test func `the sidebar counts the pool's users`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      #expect(try await ada.get(try await world.eu).says("Users <small>4</small>"))
      let email: Form = ["email": "new@example.com"]
      _ = try await ada.submit(try await world.eu + "/new-user", email)
      #expect(try await ada.get(try await world.eu).says("Users <small>5</small>"))
    }
  }

  @Test func `every page starts with the pool switcher, which leads to all projects from no pool`()
    async throws
  {
    try await World.withSampleData { world in
      let link = #"<a class="button quiet" href="/projects">All projects</a>"#
      let menu = #"<a href="/projects">All projects</a>"#
      let ada = try await Browser.signedIn(world)
      for path in [
        "/projects", "/users", "/audit", "/projects/new", "/projects/acme-retail/nothing",
      ] {
        #expect(try await ada.get(path).switcher.contains(link), "\(path)")
      }
      for path in ["/projects/acme-retail", try await world.eu + "/users"] {
        let switcher = try await ada.get(path).switcher
        #expect(switcher.contains(menu) && !switcher.contains(link), "\(path)")
      }
      #expect(try await Browser(world).get("/sign-in").switcher.isEmpty)
    }
  }

  @Test func `an error page belongs to no entry`() async throws {
    try await World.withSampleData { world in
      let ada = try await Browser.signedIn(world)
      let missing = try await ada.get("/projects/acme-retail/nothing")
      #expect(missing.status == .notFound && missing.currentEntries == 0)
      #expect(missing.entries.contains("Projects"))
    }
  }

  /// The names of the entries that an address belongs to most specifically.
  private static func entries(of target: Target, in pool: Pool?) -> [String] {
    let entries =
      (pool == nil ? PageEntry.ofInstance : PageEntry.ofPool) + [.account]
    let place = PageEntry.Place(target, in: pool)
    let lengths = entries.map { $0.length(at: place) }
    guard let longest = lengths.compactMap({ $0 }).max() else { return [] }
    return zip(entries, lengths).filter { $0.1 == longest }.map { $0.0.text.english }
  }

  /// An address that matches the segments of a route.
  private static func target(_ components: [PathComponent]) throws -> Target {
    let path = components.map { component in
      switch component {
      case .literal(let text): "/" + text
      case .parameter(let suffix): "/x" + suffix
      }
    }
    return try #require(Target(path.isEmpty ? "/" : path.joined()))
  }
}

extension PathComponent {
  fileprivate var isFile: Bool {
    if case .literal(let text) = self { text.hasSuffix(".csv") } else { false }
  }
}

extension [PathComponent] {
  /// The segments of the page that a project's own pool has in place of a tenant's.
  fileprivate var withoutTenant: [PathComponent] {
    starts(with: ["projects", nil, "tenants", nil]) ? Array(prefix(2) + dropFirst(4)) : self
  }

  /// Whether it's the page that continues where a session expired.
  fileprivate var isKeptAnswers: Bool { self == ["sign-in", "answers"] }
}

extension Answer {
  /// The page's bar and sidebar.
  private var header: Substring {
    guard let start = text.firstRange(of: "<header class=\"bar\">"),
      let end = text.firstRange(of: "</header>")
    else { return "" }
    return text[start.upperBound..<end.lowerBound]
  }

  /// The pool switcher, which follows the brand.
  fileprivate var switcher: Substring {
    guard let start = header.firstRange(of: "<nav class=\"scope\""),
      let end = header.firstRange(of: "</nav>"),
      !header[..<start.lowerBound].contains("<form")
    else { return "" }
    return header[start.upperBound..<end.lowerBound]
  }

  /// The number of entries of the bar and the sidebar that are marked as the current page.
  var currentEntries: Int {
    header.split(separator: "aria-current=\"page\"", omittingEmptySubsequences: false).count - 1
  }

  /// The names of the page's tabs.
  fileprivate var tabs: [String] {
    guard let start = text.firstRange(of: "<nav class=\"seg tabs\""),
      let end = text[start.upperBound...].firstRange(of: "</nav>")
    else { return [] }
    return text[start.upperBound..<end.lowerBound].split(separator: "<a href=\"").dropFirst()
      .compactMap { part in
        part.firstIndex(of: ">").map { String(part[part.index(after: $0)...].prefix { $0 != "<" }) }
      }
  }

  /// The names of the entries in the sidebar.
  fileprivate var entries: [String] {
    between("<nav class=\"side\"", "</nav>").joined().split(separator: "<li><a href=\"").dropFirst()
      .compactMap { part in
        guard let start = part.firstIndex(of: ">") else { return nil }
        let name = part[part.index(after: start)...].prefix { $0 != "<" }
        return name.trimmingPrefix { $0 == " " }.split(separator: " ").joined(separator: " ")
      }
  }
}
