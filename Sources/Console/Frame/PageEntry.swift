import HTTP
import Identity
import Localization
import Text

/// An entry of the navigation, with one page or several, which are tabs of each other.
///
/// Who may open a page is what its route declares. A page without a route isn't shown.
struct PageEntry: Sendable {
  enum Count: Sendable {
    case users, approvals
  }

  let text: Message
  let tabs: [Tab]
  let count: Count?

  init(_ text: Message, count: Count? = nil, _ tabs: [Tab]) {
    self.text = text
    self.tabs = tabs
    self.count = count
  }

  private init(_ tab: Tab, count: Count? = nil) {
    self.init(tab.text, count: count, [tab])
  }

  /// Returns the length of the longest section that a place is in; nil if it's in none.
  func length(at place: Place) -> Int? { tabs.compactMap { $0.length(at: place) }.max() }

  /// The first segments of the addresses that belong to a page.
  struct Section: Sendable {
    /// Whether the segments follow the address of a pool.
    let isInPool: Bool
    let words: [UntrustedText]
    /// Whether only the page itself belongs to it, and none below.
    let isExact: Bool

    fileprivate init(pool words: String...) {
      (isInPool, isExact) = (true, words.isEmpty)
      self.words = words.map { UntrustedText($0) }
    }

    fileprivate init(_ components: [PathComponent], isExact: Bool = false) {
      isInPool = components.starts(with: ["projects", nil])
      words = components.dropFirst(isInPool ? 2 : 0).compactMap {
        guard case .literal(let text) = $0 else { return nil }
        return UntrustedText(text)
      }
      self.isExact = isExact || words.isEmpty
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

    fileprivate func isIn(_ section: Section) -> Bool {
      section.isInPool == isInPool
        && (section.isExact
          ? segments.elementsEqual(section.words) : segments.starts(with: section.words))
    }
  }
}

extension PageEntry {
  /// A page: where it is, and the pages that belong to it.
  struct Tab: Sendable {
    let text: Message
    /// The segments of the page's route; of a page of every pool, those of a project's own page.
    let components: [PathComponent]
    let sections: [Section]
    /// Whether tenants don't have the page.
    private(set) var isOnlyOfProjects = false
    /// The permissions of which its readers need one for it to be their work; empty for everyone's.
    private var audience: [Permission] = []
    private let place: @Sendable (Pool?) -> String

    private init(
      _ text: Message, _ components: [PathComponent], isExact: Bool = false, _ others: [Section],
      _ place: @escaping @Sendable (Pool?) -> String
    ) {
      self.text = text
      self.components = components
      sections = [Section(components, isExact: isExact)] + others
      self.place = place
    }

    /// The address of the page, for the pages of a pool or, without one, of the instance.
    func address(_ pool: Pool?) -> String { place(pool) }

    /// Whether the page is part of an administrator's work in a pool or, without one, anywhere.
    func isFor(_ administrator: Administrator, in pool: Pool?) -> Bool {
      audience.isEmpty
        || audience.contains {
          pool == nil ? administrator.maySomewhere($0) : administrator.may($0, in: pool)
        }
    }

    func length(at place: Place) -> Int? {
      sections.filter { place.isIn($0) }.map(\.words.count).max()
    }

    fileprivate static func instance(
      _ text: Message, _ path: Path<>, isExact: Bool = false, and others: [Section] = []
    ) -> Tab {
      Tab(text, path.components, isExact: isExact, others) { _ in path() }
    }

    fileprivate static func pool(
      _ text: Message, _ path: PoolPath0, and others: [Section] = []
    ) -> Tab {
      Tab(text, PoolContext.ofProject + path.components, others) { pool in
        pool.map { path($0) } ?? ""
      }
    }

    fileprivate static func project(_ text: Message, _ path: ProjectPath0) -> Tab {
      Tab(text, PoolContext.ofProject + path.components, []) { pool in
        pool.map { path($0.project.text) } ?? ""
      }
    }

    fileprivate static let guides = Tab(Message("Guides"), ConsolePaths.guides.components, []) {
      $0?.guides() ?? ConsolePaths.guides()
    }

    fileprivate func onlyOfProjects() -> Tab {
      var tab = self
      tab.isOnlyOfProjects = true
      return tab
    }

    /// Hides the page from those who find no users.
    fileprivate func forSupport() -> Tab {
      var tab = self
      tab.audience = [.findUsers]
      return tab
    }

    /// Hides the page from those who neither change settings and policies nor review them.
    fileprivate func forConfiguration() -> Tab {
      var tab = self
      tab.audience = [.changePool, .changePolicy, .signOffReview]
      return tab
    }
  }
}

extension PageEntry {
  static let ofInstance: [PageEntry] = [
    PageEntry(
      .instance(
        Message("Projects"), ConsolePaths.projects, isExact: true,
        and: [
          Section(ConsolePaths.home.components), Section(CreateProject.path.components),
        ])),
    PageEntry(
      Message("Users"),
      [
        Tab.instance(Message("Search"), ConsolePaths.findUsers).forSupport(),
        .instance(Message("Sign-in simulator"), ConsolePaths.signInSimulator),
      ]),
    PageEntry(
      .instance(
        Message("Policy review"), ConsolePaths.reviews,
        and: [Section(ConsolePaths.exemptions.components)]
      ).forConfiguration()),
    approvals,
    PageEntry(
      .instance(
        Message("Administrators"), ConsolePaths.administrators, and: [Section(["invitations"])])),
    PageEntry(
      Message("Instance settings"),
      [
        .instance(
          Message("General"), ConsolePaths.instanceSettings,
          and: [
            Section(ChangeSessionLimits.path.components),
            Section(ConsolePaths.passkeyRequirement.components),
            Section(ConsolePaths.signInProvider.components),
          ]),
        .instance(Message("Server clock"), ConsolePaths.clock),
      ]),
    PageEntry(Tab.guides.forConfiguration()),
    PageEntry(
      Message("Records"),
      [
        .instance(Message("Reports"), ConsolePaths.allReports),
        .instance(Message("Audit log"), ConsolePaths.instanceAudit),
      ]),
  ]

  static let ofPool: [PageEntry] = [
    PageEntry(.pool(Message("Overview"), ConsolePaths.overview)),
    PageEntry(Tab.project(Message("Tenants"), ConsolePaths.tenants).onlyOfProjects()),
    PageEntry(
      .pool(
        Message("Users"), ConsolePaths.users,
        and: [
          Section(pool: "new-user"), Section(pool: "bulk-removals"), Section(pool: "changes"),
          Section(pool: "enrollment-campaigns"), Section(pool: "erasure"),
          Section(ConsolePaths.findUsers.components),
        ]), count: .users),
    PageEntry(.pool(Message("Sign-in activity"), ConsolePaths.activity)),
    PageEntry(.pool(Message("MFA policy"), ConsolePaths.policy)),
    PageEntry(Tab.project(Message("Policy review"), ConsolePaths.review).forConfiguration()),
    approvals,
    PageEntry(
      Message("Settings"),
      [
        Tab.project(Message("Connection"), ConsolePaths.connection).onlyOfProjects(),
        Tab.pool(Message("General"), ConsolePaths.settings).forConfiguration(),
        Tab.pool(
          Message("Sign-in methods"), ConsolePaths.signInMethods,
          and: [Section(pool: "settings", "sign-in")]
        ).forConfiguration(),
        .pool(
          Message("Support rules"), ConsolePaths.supportRules, and: [Section(pool: "support")]),
        .pool(Message("Support playbook"), ConsolePaths.poolGuidance),
        Tab.pool(Message("Identity providers"), ConsolePaths.providers).forConfiguration(),
        Tab.project(Message("Custom token signing keys"), ConsolePaths.trustedTokenKeys)
          .forConfiguration().onlyOfProjects(),
        .pool(
          Message("API keys and tokens"), ConsolePaths.keys,
          and: [Section(pool: "settings", "tokens")]),
      ]),
    PageEntry(Tab.guides.forConfiguration()),
    PageEntry(
      Message("Records"),
      [
        .pool(Message("Reports"), ConsolePaths.reports),
        .pool(Message("Messages"), ConsolePaths.messages),
        .pool(Message("Audit log"), ConsolePaths.audit),
      ]),
  ]

  private static let approvals = PageEntry(
    .instance(
      Message("Approvals"), ConsolePaths.approvals,
      and: [Section(pool: "approvals"), Section(pool: "policy-approvals")]), count: .approvals)

  static let account = PageEntry(
    .instance(
      Message("Your account"), ConsolePaths.account,
      and: [Section(["sign-out"]), Section(["sign-in", "answers"])]))
}
