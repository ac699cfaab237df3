import HTTP
import Identity
import Localization
import Text

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
