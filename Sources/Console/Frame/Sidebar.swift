import HTTP
import Identity
import Localization
import Synchronization
import Templating

/// What leads from a page to the others of its pool, or of the instance.
struct Navigation {
  let sidebar: Markup
  /// The pages of the sidebar's current entry; empty if it has only one for the reader.
  let tabs: [Link]
}

/// Draws the navigation of pages: the entries that a reader may open, with the current one marked.
final class Sidebar: Sendable {
  /// An entry and its pages; a class, because each page goes through all of them.
  private final class Item: Sendable {
    let entry: PageEntry
    /// What each tab's page requires; nil for one without a route.
    let requirements: [(needs: Capability, access: ConsoleRoute.Access)?]

    init(entry: PageEntry, routes: [ConsoleRoute?]) {
      self.entry = entry
      requirements = routes.map { route in route.map { ($0.needs, $0.access) } }
    }
  }

  private let template: Template<SidebarView>
  private let drawn = MarkupCache<SidebarView>()
  private let items = Mutex<(ofInstance: [Item], ofPool: [Item])>(([], []))

  init(_ template: Template<SidebarView>) {
    self.template = template
  }

  /// Takes over what the pages of the entries require from their routes.
  func declare(_ routes: [ConsoleRoute]) {
    func item(_ entry: PageEntry) -> Item {
      let pages = entry.tabs.map { tab in
        routes.first { $0.route.method == .get && $0.route.components == tab.components }
      }
      return Item(entry: entry, routes: pages)
    }
    let ofInstance = PageEntry.ofInstance.map(item)
    let ofPool = PageEntry.ofPool.map(item)
    items.withLock { $0 = (ofInstance, ofPool) }
  }

  /// `users` is the number of the pool's users, and `approvals` that of the requests that the
  /// reader can decide; nil if it isn't shown.
  func navigation(
    at place: PageEntry.Place, in pool: Pool?, for administrator: Administrator, users: Int?,
    approvals: Int?
  ) -> Navigation {
    let items = items.withLock { pool == nil ? $0.ofInstance : $0.ofPool }
    let offers = pool?.offers
    var shown = [UInt8](repeating: 0, count: items.count)
    var current: (entry: Int, tab: Int, length: Int)?
    for (index, item) in items.enumerated() {
      for (number, tab) in item.entry.tabs.enumerated() {
        guard pool?.tenant == nil || !tab.isOnlyOfProjects, let page = item.requirements[number],
          offers?.contains(page.needs) ?? true,
          page.access.admits(administrator, in: pool)
        else { continue }
        if tab.isFor(administrator, in: pool) { shown[index] |= 1 << number }
        if let length = tab.length(at: place), length >= current?.length ?? 0 {
          current = (index, number, length)
        }
      }
    }
    // A page that someone else linked to is shown among its tabs, too.
    if let current { shown[current.entry] |= 1 << current.tab }
    let view = SidebarView(
      pool: pool, shown: shown, current: current?.entry, users: users, approvals: approvals)
    return Navigation(
      sidebar: drawn.joined([view]) { template.render($0) },
      tabs: current.map { tabs(items[$0.entry].entry, shown[$0.entry], $0.tab, in: pool) } ?? [])
  }

  private func tabs(
    _ entry: PageEntry, _ shown: UInt8, _ current: Int, in pool: Pool?
  ) -> [Link] {
    let links = entry.tabs.indices.filter { shown & 1 << $0 != 0 }.map { number in
      Link(
        text: entry.tabs[number].text, href: entry.tabs[number].address(pool),
        isCurrent: number == current)
    }
    return links.count > 1 ? links : []
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
  /// The tabs to show of each entry, as bits by their position.
  let shown: [UInt8]
  /// The position of the entry that the page belongs to; nil for an error page.
  let current: Int?
  /// The number of the pool's users; nil if it isn't shown.
  let users: Int?
  /// The number of requests that the reader can decide; nil if it isn't shown.
  let approvals: Int?

  private var links: [SidebarLink] {
    let entries = pool == nil ? PageEntry.ofInstance : PageEntry.ofPool
    return zip(shown.indices, entries).compactMap { index, entry in
      guard let first = entry.tabs.indices.first(where: { shown[index] & 1 << $0 != 0 }) else {
        return nil
      }
      return SidebarLink(
        text: entry.text, href: entry.tabs[first].address(pool), isCurrent: index == current,
        count: count(entry))
    }
  }

  private func count(_ entry: PageEntry) -> Message? {
    switch entry.count {
    case .users: users.map { Message.value(.number($0)) }
    case .approvals:
      approvals.flatMap { count -> Message? in
        guard count > 0 else { return nil }
        return count < Approvals.mostWaiting
          ? .value(.number(count)) : Message("{count}+", ["count": .number(count)])
      }
    case nil: nil
    }
  }

  static let keys: Keys<Self> = [
    .text("label") {
      guard let pool = $0.pool else { return Message("All projects") }
      return pool.tenant == nil ? Message("Project") : Message("Tenant")
    },
    .list("links") { $0.links },
  ]

  /// Hashes only what nearly always differs between sidebars.
  func hash(into hasher: inout Hasher) {
    hasher.combine(pool?.key)
    hasher.combine(current)
  }
}

struct SidebarLink: ViewModel {
  let text: Message
  let href: String
  let isCurrent: Bool
  let count: Message?

  static let keys: Keys<Self> = [
    .text(\.text),
    .text(\.href),
    .flag(\.isCurrent),
    .text(\.count),
  ]
}
