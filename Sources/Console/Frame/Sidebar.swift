import HTTP
import Identity
import Localization
import Synchronization
import Templating

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
