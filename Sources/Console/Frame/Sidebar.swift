import HTTP
import Identity
import Localization
import Synchronization
import Templating
import Text

/// Draws the navigation of pages: the entries that a reader may open, with the current one marked.
final class Sidebar: Sendable {
  /// An entry and what its page requires; a class, because each page goes through all of them.
  private final class Item: Sendable {
    let entry: PageEntry
    let access: ConsoleRoute.Access

    init(entry: PageEntry, access: ConsoleRoute.Access) {
      self.entry = entry
      self.access = access
    }
  }

  private let template: Template<SidebarView>
  private let drawn = MarkupCache<SidebarView>()
  private let items = Mutex<(ofInstance: [Item?], ofPool: [Item?])>(([], []))

  init(_ template: Template<SidebarView>) {
    self.template = template
  }

  /// Takes over what the pages of the entries require from their routes.
  func declare(_ routes: [ConsoleRoute]) {
    func access(_ entry: PageEntry) -> ConsoleRoute.Access? {
      routes.first { $0.route.method == .get && $0.route.components == entry.components }?.access
    }
    let ofInstance = PageEntry.ofInstance.map { entry in
      access(entry).map { Item(entry: entry, access: $0) }
    }
    let ofPool = PageEntry.ofPool.map { entry in
      access(entry).map {
        // A page of the instance shows a pool's values to those who can see the pool.
        Item(entry: entry, access: entry.isInPool ? $0 : .pool(.seePool))
      }
    }
    items.withLock { $0 = (ofInstance, ofPool) }
  }

  func markup(
    at place: PageEntry.Place, in pool: Pool?, for administrator: Administrator, users: Int?
  ) -> Markup {
    let items = items.withLock { pool == nil ? $0.ofInstance : $0.ofPool }
    var shown: UInt64 = 0
    var current: (index: Int, length: Int)?
    for (index, item) in items.enumerated() {
      guard let item, pool?.tenant == nil || !item.entry.isOnlyOfProjects,
        item.access.admits(administrator, in: pool)
      else { continue }
      shown |= 1 << index
      if let length = item.entry.length(at: place), length >= current?.length ?? 0 {
        current = (index, length)
      }
    }
    let view = SidebarView(pool: pool, shown: shown, current: current?.index, users: users)
    return drawn.joined([view]) { template.render($0) }
  }
}

extension ConsoleRoute.Access {
  /// Whether an administrator meets the requirements in a pool or, without one, on the instance.
  func admits(_ administrator: Administrator, in pool: Pool?) -> Bool {
    switch self {
    case .open, .settingUp, .signedIn(nil): return true
    case .signedIn(let permission?): return administrator.may(permission, in: nil)
    case .somewhere(let permission): return administrator.maySomewhere(permission)
    case .project(let permission), .projectOfTenant(let permission):
      guard let project = pool?.project, administrator.maySee(project) else { return false }
      return permission == .seePool
        || administrator.may(permission, project: project, tenant: nil)
    case .pool(let permission):
      guard let pool else { return false }
      return administrator.may(.seePool, in: pool) && administrator.may(permission, in: pool)
    }
  }
}

struct SidebarView: ViewModel, Hashable {
  let pool: Pool?
  /// The entries to show, as bits by their position.
  let shown: UInt64
  /// The position of the entry that the page belongs to; nil for an error page.
  let current: Int?
  /// The number of the pool's users; nil if it isn't shown.
  let users: Int?

  private var groups: [SidebarGroup] {
    let entries = pool == nil ? PageEntry.ofInstance : PageEntry.ofPool
    return PageEntry.Group.allCases.compactMap { group in
      let links = entries.indices.compactMap { index -> SidebarLink? in
        let entry = entries[index]
        guard entry.group == group, shown & 1 << index != 0 else { return nil }
        return SidebarLink(
          text: entry.text, href: entry.address(pool), isCurrent: index == current,
          count: entry.countsUsers ? users : nil)
      }
      return links.isEmpty ? nil : SidebarGroup(group: group, links: links)
    }
  }

  static let keys: Keys<Self> = [
    .text("label") {
      guard let pool = $0.pool else { return Message("All projects") }
      return pool.tenant == nil ? Message("Project") : Message("Tenant")
    },
    .list("groups") { $0.groups },
  ]

  /// Hashes only what nearly always differs between sidebars.
  func hash(into hasher: inout Hasher) {
    hasher.combine(pool?.key)
    hasher.combine(current)
  }
}

struct SidebarGroup: ViewModel {
  let group: PageEntry.Group
  let links: [SidebarLink]

  static let keys: Keys<Self> = [
    .text("id") { "nav-\($0.group.rawValue)" },
    .text("name") { $0.group.name },
    .list(\.links),
  ]
}

struct SidebarLink: ViewModel {
  let text: Message
  let href: String
  let isCurrent: Bool
  let count: Int?

  static let keys: Keys<Self> = [
    .text(\.text),
    .text(\.href),
    .flag(\.isCurrent),
    .text("count") { $0.count.map { Message.value(.number($0)) } },
  ]
}

/// An entry of the navigation: the page that it leads to, and the pages that belong to it.
///
/// Who may open it is what the page's route declares. An entry whose page has no route isn't shown.
struct PageEntry: Sendable {
  enum Group: Int, CaseIterable, Sendable {
    case people, configure, develop, records

    var name: Message {
      switch self {
      case .people: Message("People")
      case .configure: Message("Configure")
      case .develop: Message("Develop")
      case .records: Message("Records")
      }
    }
  }

  /// The first segments of the addresses that belong to an entry.
  struct Section: Sendable {
    /// Whether the segments follow the address of a pool.
    let isInPool: Bool
    let words: [UntrustedText]

    fileprivate init(pool words: [String]) {
      isInPool = true
      self.words = words.map { UntrustedText($0) }
    }

    fileprivate init(_ components: [PathComponent]) {
      isInPool = components.starts(with: ["projects", nil])
      words = components.dropFirst(isInPool ? 2 : 0).compactMap {
        guard case .literal(let text) = $0 else { return nil }
        return UntrustedText(text)
      }
    }
  }

  /// A place in the console: an address relative to its pool, if it has one.
  struct Place: Sendable {
    fileprivate let isInPool: Bool
    fileprivate let segments: ArraySlice<UntrustedText>

    init(_ target: Target, in pool: Pool?) {
      guard let pool, target.segments.first == "projects" else {
        (isInPool, segments) = (false, target.segments[...])
        return
      }
      (isInPool, segments) = (true, target.segments.dropFirst(pool.tenant == nil ? 2 : 4))
    }

    /// Whether the place is in a section; a section without words is only its own page.
    fileprivate func isIn(_ section: Section) -> Bool {
      section.isInPool == isInPool
        && (section.words.isEmpty ? segments.isEmpty : segments.starts(with: section.words))
    }
  }

  let group: Group
  let text: Message
  /// The segments of the page's route; of a page of every pool, those of a project's own page.
  let components: [PathComponent]
  let sections: [Section]
  /// Whether tenants don't have the entry.
  let isOnlyOfProjects: Bool
  /// Whether the entry shows the number of the pool's users.
  let countsUsers: Bool
  private let place: @Sendable (Pool?) -> String

  var isInPool: Bool { sections.first?.isInPool ?? false }

  /// The address of the page, for the pages of a pool or, without one, of the instance.
  func address(_ pool: Pool?) -> String { place(pool) }

  private init(
    _ group: Group, _ text: Message, _ components: [PathComponent], and others: [Section] = [],
    isOnlyOfProjects: Bool = false, countsUsers: Bool = false,
    _ place: @escaping @Sendable (Pool?) -> String
  ) {
    self.group = group
    self.text = text
    self.components = components
    sections = [Section(components)] + others
    self.isOnlyOfProjects = isOnlyOfProjects
    self.countsUsers = countsUsers
    self.place = place
  }

  private static func instance(
    _ group: Group, _ text: Message, _ path: Path<>, and others: [[PathComponent]] = []
  ) -> PageEntry {
    PageEntry(group, text, path.components, and: others.map { Section($0) }) { _ in path() }
  }

  private static func pool(
    _ group: Group, _ text: Message, _ path: PoolPath0, and others: [[String]] = [],
    countsUsers: Bool = false
  ) -> PageEntry {
    PageEntry(
      group, text, path.ofProject.components, and: others.map { Section(pool: $0) },
      countsUsers: countsUsers
    ) { pool in pool.map { path($0) } ?? "" }
  }

  private static func project(
    _ group: Group, _ text: Message, _ path: Path<String>, isOnlyOfProjects: Bool = false
  ) -> PageEntry {
    PageEntry(
      group, text, path.components, isOnlyOfProjects: isOnlyOfProjects
    ) { pool in pool.map { path($0.project.text) } ?? "" }
  }

  static let ofInstance: [PageEntry] = [
    .instance(
      .people, Message("Projects"), ConsolePaths.projects,
      and: [ConsolePaths.newProject.components]),
    .instance(.people, Message("Users"), ConsolePaths.findUsers),
    .instance(
      .people, Message("Administrators"), ConsolePaths.administrators,
      and: [["invitations"]]),
    .instance(.configure, Message("Server clock"), ConsolePaths.clock),
    .instance(
      .develop, Message("Sign-in simulator"), ConsolePaths.signInSimulator),
    .instance(.develop, Message("Guides"), ConsolePaths.guidance),
    .instance(
      .records, Message("Policy review"), ConsolePaths.reviews,
      and: [ConsolePaths.exemptions.components]),
    .instance(.records, Message("Reports"), ConsolePaths.allReports),
    .instance(.records, Message("Audit log"), ConsolePaths.instanceAudit),
  ]

  static let ofPool: [PageEntry] = [
    .pool(.people, Message("Overview"), ConsolePaths.overview),
    .project(
      .people, Message("Tenants"), ConsolePaths.tenants, isOnlyOfProjects: true),
    .pool(
      .people, Message("Users"), ConsolePaths.users,
      and: [["new-user"], ["bulk-removals"], ["erasure"]], countsUsers: true),
    .pool(.people, Message("Sign-in activity"), ConsolePaths.activity),
    .pool(.configure, Message("MFA policy"), ConsolePaths.policy),
    .pool(
      .configure, Message("Sign-in methods"), ConsolePaths.signInMethods,
      and: [["settings", "sign-in"]]),
    .pool(
      .configure, Message("Support rules"), ConsolePaths.supportRules, and: [["support"]]),
    .pool(.configure, Message("Support playbook"), ConsolePaths.poolGuidance),
    .pool(
      .configure, Message("Settings"), ConsolePaths.settings),
    .pool(
      .develop, Message("API keys and tokens"), ConsolePaths.keys,
      and: [["settings", "tokens"]]),
    .pool(.develop, Message("Identity providers"), ConsolePaths.providers),
    .project(.develop, Message("Custom token keys"), ConsolePaths.trustedTokenKeys),
    PageEntry(
      .develop, Message("Guides"), ConsolePaths.guidance.components
    ) { $0?.guidance() ?? ConsolePaths.guidance() },
    .project(.records, Message("Policy review"), ConsolePaths.review),
    .pool(.records, Message("Reports"), ConsolePaths.reports),
    .pool(.records, Message("Messages"), ConsolePaths.messages),
    .pool(.records, Message("Audit log"), ConsolePaths.audit),
  ]

  static let approvals = PageEntry(
    .records, Message("Approvals"), ConsolePaths.approvals.components,
    and: [Section(pool: ["approvals"]), Section(pool: ["policy-approvals"])]
  ) { _ in ConsolePaths.approvals() }

  static let account = PageEntry(
    .people, Message("Your account"), ConsolePaths.account.components,
    and: [Section(["sign-out"]), Section(["sign-in", "answers"])]
  ) { _ in ConsolePaths.account() }

  /// Returns the length of the longest section that a place is in; nil if it's in none.
  func length(at place: Place) -> Int? {
    var longest: Int?
    for section in sections where place.isIn(section) {
      longest = max(longest ?? 0, section.words.count)
    }
    return longest
  }
}
