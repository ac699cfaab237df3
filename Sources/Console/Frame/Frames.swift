import HTTP
import Identity
import Localization
import Templating

/// Creates the frames of pages: bar, tabs, and footer.
struct Frames: Sendable {
  let assets: ConsoleAssets
  let publicURL: PublicURL
  let identity: Identity
  let catalog: Catalog
  let menu: Template<ScopeMenu>
  let flashes = Flashes()
  private let menus = MarkupCache<ScopeMenu>()

  /// The maximum number of projects or tenants in a menu; the rest are on the list page.
  private static let menuLength = 10

  var clock: WallClock { identity.clock }

  /// Stores a message for the session's next page.
  func leave(_ text: some MessageConvertible, for signedIn: SignedIn) {
    flashes.leave(Flash(text: text), for: signedIn.session, at: clock.now())
  }

  /// Stores a flash for the next page of a session whose token may just have been renewed.
  func leave(_ flash: Flash, for session: ConsoleSession) {
    flashes.leave(flash, for: session, at: clock.now())
  }

  /// The frame for visitors who aren't signed in, and for error pages.
  func bare(
    _ title: some MessageConvertible, path: String = "/", times: Times? = nil
  ) -> Frame {
    let times = times ?? Times(catalog)
    return Frame(
      title: title.message, stylesheet: assets.stylesheet, script: assets.script, icon: assets.icon,
      home: ConsolePaths.projects(), guidance: ConsolePaths.guidance(),
      address: publicURL.origin + path, times: times, asOf: times.moment(clock.now()),
      isNarrow: true, catalog: catalog)
  }

  /// The frame for end users of an application, with its name and without links into the console.
  func outside(_ title: some MessageConvertible, path: String, of scope: Scope?) -> Frame {
    var frame = bare(title, path: path)
    frame.brand = scope.map { Words.short($0.projectName) } ?? publicURL.host
    frame.home = nil
    return frame
  }

  /// The frame of pages that belong to no project.
  func frame(
    _ title: some MessageConvertible, for signedIn: SignedIn, tab: InstanceTab?
  ) -> Frame {
    var frame = unflashed(title, for: signedIn, tab: tab, path: signedIn.request.target.rawPath)
    frame.flash = flashes.take(for: signedIn.session, at: clock.now())
    return frame
  }

  /// The same frame without the session's flash, which stays stored for its next page.
  func unflashed(
    _ title: some MessageConvertible, for signedIn: SignedIn, tab: InstanceTab?,
    path: String = "/"
  ) -> Frame {
    var frame = bare(title, path: path, times: signedIn.times)
    frame.isNarrow = false
    frame.theme = signedIn.theme
    frame.account = account(signedIn, in: nil)
    frame.tabsLabel = .verbatim("Countersign")
    frame.tabs = InstanceTab.allCases.filter { $0.isShown(to: signedIn.administrator) }.map {
      Tab(text: $0.text, href: $0.address, isCurrent: $0 == tab)
    }
    frame.find = find(signedIn)
    frame.clock = clock(for: signedIn)
    return frame
  }

  /// The frame of a pool's pages.
  func frame(
    _ title: some MessageConvertible, in context: ScopeContext, tab: ScopeTab
  ) async throws(Refusal) -> Frame {
    try await frame(title.message, context.signedIn, scope: context.scope, tab: tab)
  }

  /// The frame of a project's pages.
  func frame(
    _ title: some MessageConvertible, in context: ProjectContext, tab: ScopeTab
  ) async throws(Refusal) -> Frame {
    try await frame(title.message, context.signedIn, scope: context.scope, tab: tab)
  }

  private func frame(
    _ title: Message, _ signedIn: SignedIn, scope: Scope, tab: ScopeTab
  ) async throws(Refusal) -> Frame {
    let administrator = signedIn.administrator
    let project = Message.Value.name(Words.short(scope.projectName))
    let whole =
      scope.tenant == nil
      ? Message("parts.title-in-project", ["title": .message(title), "project": project])
      : Message(
        "parts.title-in-tenant",
        [
          "title": .message(title), "tenant": .name(Words.short(scope.name)), "project": project,
        ])
    var frame = bare(
      whole, path: signedIn.request.target.rawPath, times: signedIn.times)
    frame.isNarrow = false
    frame.theme = signedIn.theme
    frame.account = account(signedIn, in: scope)
    frame.flash = flashes.take(for: signedIn.session, at: clock.now())
    frame.project = try await projectMenu(scope, administrator)
    frame.tenant = try await tenantMenu(scope, administrator)
    frame.find = find(signedIn)
    frame.clock = clock(for: signedIn)
    frame.tabsLabel =
      scope.tenant == nil ? Message("parts.project") : Message("parts.tenant")
    frame.tabs = ScopeTab.allCases.compactMap { each in
      guard each.isShown(in: scope, to: administrator) else { return nil }
      return Tab(text: each.text, href: each.address(scope), isCurrent: each == tab)
    }
    return frame
  }

  /// The search across all pools that the administrator can access; nil when there are none.
  private func find(_ signedIn: SignedIn) -> FindForm? {
    signedIn.administrator.maySomewhere(.findUsers)
      ? FindForm(action: ConsolePaths.findUsers()) : nil
  }

  /// The banner about the server's clock; nil while the clock is trusted.
  func clock(for signedIn: SignedIn) -> ClockBanner? {
    identity.clockGuard.doubt.map {
      ClockBanner(
        $0, mayConfirm: signedIn.administrator.may(.protectUsers, in: nil), signedIn.times)
    }
  }

  private func account(_ signedIn: SignedIn, in scope: Scope?) -> AccountMenu {
    let administrator = signedIn.administrator
    return AccountMenu(
      name: administrator.displayName,
      role: administrator.role(in: scope)?.name ?? Message("parts.no-role"),
      email: administrator.email, href: ConsolePaths.account(), signOut: ConsolePaths.signOut(),
      csrf: signedIn.session.csrfToken)
  }

  private func projectMenu(
    _ scope: Scope, _ administrator: Administrator
  ) async throws(Refusal) -> Markup {
    let names = try await refusing {
      try await identity.pools.projectNames(visibleTo: administrator, limit: Self.menuLength)
    }
    let places = names.map { id, name in
      ScopeMenu.Place(
        id: id.text, name: name, isOpen: administrator.may(.seeScope, project: id, tenant: nil))
    }
    return drawn(
      ScopeMenu(
        name: .verbatim(scope.projectName), places: places, current: scope.project.text,
        project: nil))
  }

  private func tenantMenu(
    _ scope: Scope, _ administrator: Administrator
  ) async throws(Refusal) -> Markup? {
    let names = try await refusing {
      try await identity.pools.tenantNames(
        project: scope.project, visibleTo: administrator, limit: Self.menuLength)
    }
    guard scope.tenant != nil || !names.isEmpty else { return nil }
    let places = names.map { id, name in
      ScopeMenu.Place(id: id.text, name: name, isOpen: true)
    }
    return drawn(
      ScopeMenu(
        name: scope.tenant == nil ? Message("parts.choose-tenant") : .verbatim(scope.name),
        places: places,
        current: scope.tenant?.text, project: scope.project.text))
  }

  private func drawn(_ menu: ScopeMenu) -> Markup {
    menus.joined([menu]) { self.menu.render($0) }
  }
}

/// The tabs of pages that belong to no project.
enum InstanceTab: CaseIterable {
  case projects, users, approvals, review, whatIf, administrators, audit, guidance

  var text: Message {
    switch self {
    case .projects: Message("parts.projects")
    case .users: Message("parts.users")
    case .approvals: Message("parts.approvals")
    case .review: Message("parts.review")
    case .whatIf: Message("parts.what-if")
    case .administrators: Message("parts.administrators")
    case .audit: Message("parts.audit")
    case .guidance: Message("parts.guidance")
    }
  }

  var address: String {
    switch self {
    case .projects: ConsolePaths.projects()
    case .users: ConsolePaths.findUsers()
    case .approvals: ConsolePaths.approvals()
    case .review: ConsolePaths.reviews()
    case .whatIf: ConsolePaths.whatIf()
    case .administrators: ConsolePaths.administrators()
    case .audit: ConsolePaths.instanceAudit()
    case .guidance: ConsolePaths.guidance()
    }
  }

  /// Whether the administrator has a permission that the tab requires.
  func isShown(to administrator: Administrator) -> Bool {
    switch self {
    case .projects, .guidance: true
    case .users, .whatIf: administrator.maySomewhere(.findUsers)
    case .approvals: administrator.maySomewhere(.seeApprovals)
    case .review: administrator.maySomewhere(.readPolicy)
    case .administrators: administrator.may(.seeAdministrators, in: nil)
    case .audit: administrator.may(.readAudit, in: nil)
    }
  }
}

/// The tabs of a pool.
enum ScopeTab: CaseIterable {
  case overview, tenants, review, users, policy, settings, audit

  var text: Message {
    switch self {
    case .overview: Message("parts.overview")
    case .tenants: Message("parts.tenants")
    case .review: Message("parts.review")
    case .users: Message("parts.users")
    case .policy: Message("parts.policy")
    case .settings: Message("parts.settings")
    case .audit: Message("parts.audit")
    }
  }

  func address(_ scope: Scope) -> String {
    switch self {
    case .overview: ConsolePaths.overview(scope)
    case .tenants: ConsolePaths.tenants(scope.project.text)
    case .review: ConsolePaths.review(scope.project.text)
    case .users: ConsolePaths.users(scope)
    case .policy: ConsolePaths.policy(scope)
    case .settings: ConsolePaths.settings(scope)
    case .audit: ConsolePaths.audit(scope)
    }
  }

  /// Whether the administrator has a permission that the tab requires.
  func isShown(in scope: Scope, to administrator: Administrator) -> Bool {
    switch self {
    case .overview: administrator.may(.seeScope, in: scope)
    case .tenants, .review: scope.tenant == nil
    case .users: administrator.may(.findUsers, in: scope)
    case .policy: administrator.may(.readPolicy, in: scope)
    case .settings: administrator.may(.seeScope, in: scope)
    case .audit: administrator.may(.readAudit, in: scope)
    }
  }
}
