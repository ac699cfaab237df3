import HTTP
import Identity
import Localization
import Templating

/// The content around every page: bar, sidebar, breadcrumbs, messages, and footer.
struct Frame: Sendable {
  let title: Message
  let stylesheet: String
  let script: String
  let settingsScript: String
  let icon: String
  var brand = "Countersign"
  /// The address that the brand links to; nil on pages for end users, who can't use the console.
  var home: String?
  let address: String
  /// What forms send to prove that they come from the console.
  var csrf = ""
  let times: Times
  var theme: String?
  /// The time of what the page shows; nil for a page that shows nothing stored.
  var asOf: Markup?
  var isNarrow = false
  let catalog: Catalog
  var account: AccountMenu?
  var session: SessionNotice?
  /// The project and tenant menus, each rendered from a `PoolMenu`.
  ///
  /// Pages of no pool have a link to all projects in their place, which reads nothing.
  var project: Markup?
  var tenant: Markup?
  /// The server where the pool's users are; nil for hosted ones.
  var kind: Markup?
  /// When what the page shows of connected projects was read; nil if nothing was.
  var readAt: Markup?
  var find: FindForm?
  /// The number of requests that the reader can decide; nil without the permission to see them.
  var approvals: Int?
  var sidebar: Markup?
  /// The pages of the sidebar's current entry; empty if it has only one.
  var tabs: [Link] = []
  var crumbs: [Link] = []
  /// The page that re-authenticates with a passkey and leads back; nil without a passkey.
  var passkeyReauthentication: String?
  /// The page that re-authenticates at the provider and leads back; nil without a link.
  var providerReauthentication: ProviderConfirmation?
  /// The page that sets up an own second factor and leads back.
  var ownFactor = ConsolePaths.ownFactor()
  var clock: ClockBanner?
  var flash: Flash?
  var errors: [FieldError] = []
}

/// It's a class because a template reads its model once per name, and a large structure would be
/// copied each time.
final class FrameView: ViewModel {
  private let frame: Frame

  init(_ frame: Frame) {
    self.frame = frame
  }

  var times: Times { frame.times }

  var catalog: Catalog { frame.catalog }

  var passkeyReauthentication: String? { frame.passkeyReauthentication }

  var providerReauthentication: ProviderConfirmation? { frame.providerReauthentication }

  var ownFactor: String { frame.ownFactor }

  /// The rows of a history; empty without the permission to see it.
  func history(_ rows: [AuditRow]?) -> [HistoryRow] {
    (rows ?? []).map { HistoryRow($0, times, catalog) }
  }

  func error(at field: String) -> Message? {
    frame.errors.first { $0.field == field }?.text
  }

  static let keys: Keys<FrameView> = [
    .text("title") { $0.frame.title },
    .text("stylesheet") { $0.frame.stylesheet },
    .text("script") { $0.frame.script },
    .text("settingsScript") { $0.frame.settingsScript },
    .list("unsavedCounts") { _ in UnsavedCount.all },
    .text("icon") { $0.frame.icon },
    .text("brand") { $0.frame.brand },
    .text("home") { $0.frame.home },
    .text("projects") { _ in ConsolePaths.projects() },
    .text("guidance") { _ in ConsolePaths.guides() },
    .text("address") { $0.frame.address },
    .text("csrf") { $0.frame.csrf },
    .text("theme") { $0.frame.theme },
    .text("zone") { $0.frame.times.zoneText },
    .text("language") { $0.frame.catalog.locale },
    .text("direction") { $0.frame.catalog.isRightToLeft ? "rtl" : "ltr" },
    .markup("asOf") { $0.frame.asOf },
    .flag("isNarrow") { $0.frame.isNarrow },
    .optional("account") { $0.frame.account },
    .optional("session") { $0.frame.session },
    .markup("project") { $0.frame.project },
    .markup("tenant") { $0.frame.tenant },
    .markup("kind") { $0.frame.kind },
    .markup("readAt") { $0.frame.readAt },
    .optional("find") { $0.frame.find },
    .markup("sidebar") { $0.frame.sidebar },
    // Below an entry’s pages, breadcrumbs lead back.
    .flag("hasTabs") { !$0.frame.tabs.isEmpty && $0.frame.crumbs.isEmpty },
    .list("tabs") { $0.frame.tabs },
    .list("crumbs") { $0.frame.crumbs },
    .optional("clock") { $0.frame.clock },
    .optional("flash") { $0.frame.flash },
    .text("errorsHeading") {
      Message(
        one: "There’s a problem", other: "There are {count} problems",
        ["count": .number($0.frame.errors.count)])
    },
    .list("errors") { $0.frame.errors },
  ]
}

struct AccountMenu: ViewModel {
  let name: String
  let role: Message
  let email: String
  let isCurrent: Bool

  private var initials: String {
    let names = name.split(whereSeparator: \.isWhitespace)
    let ends = names.count > 1 ? [names[0], names[names.count - 1]] : Array(names.prefix(1))
    return ends.compactMap { $0.first?.uppercased() }.joined()
  }

  static let keys: Keys<Self> = [
    .text(\.name),
    .text("initials") { $0.initials },
    .flag(\.isCurrent),
    .text(\.role),
    .text(\.email),
    .text("href") { _ in ConsolePaths.account() },
    .text("signOut") { _ in ConsolePaths.signOut() },
  ]
}

struct FindForm: ViewModel {
  let findsUsers: Bool
  /// Whether typing begins in the field: the page is where the administrator's work begins.
  let isFocused: Bool

  static let keys: Keys<Self> = [
    .text("action") { _ in ConsolePaths.findUsers() },
    .text("label") {
      $0.findsUsers
        ? Message("Search users, tenants, and projects") : Message("Search tenants and projects")
    },
    .flag(\.isFocused),
  ]
}

struct Link: ViewModel {
  let text: Message
  let href: String
  var isCurrent = false
  var isPrimary = false

  static let keys: Keys<Self> = [
    .text(\.text),
    .text(\.href),
    .flag(\.isCurrent),
    .flag(\.isPrimary),
  ]
}

/// A message about the result of an action, shown once on the next page.
struct Flash: ViewModel {
  let text: Message
  var isAlert = false
  var link: Link?

  static let keys: Keys<Self> = [
    .text(\.text),
    .flag(\.isAlert),
    .text("role") { $0.isAlert ? "alert" : "status" },
    .optional(\.link),
  ]
}

struct FieldError: ViewModel {
  /// The `id` of the field in the page.
  let field: String
  let text: Message
  /// The seconds to wait after too many attempts; nil for another error.
  var wait: Int64?

  static let keys: Keys<Self> = [
    .text(\.field),
    .text(\.text),
  ]
}

struct PoolMenu: ViewModel, Hashable {
  struct Place: Hashable {
    let id: String
    let name: String
    /// Whether the reader can open the project itself, not only its tenants.
    let isOpen: Bool
  }

  let name: Message
  let places: [Place]
  let current: String?
  /// The project whose tenants these are; nil for a menu of projects.
  let project: String?

  private var links: [Link] {
    places.map { place in
      Link(text: .verbatim(place.name), href: href(of: place), isCurrent: place.id == current)
    }
  }

  private func href(of place: Place) -> String {
    if let project { return ConsolePaths.overview(ID(project), ID(place.id)) }
    return place.isOpen
      ? ConsolePaths.overview.ofProject(place.id) : ConsolePaths.tenants(place.id)
  }

  static let keys: Keys<Self> = [
    .text(\.name),
    .list("links") { $0.links },
    .text("allHref") { $0.project.map { ConsolePaths.tenants($0) } ?? ConsolePaths.projects() },
    .text("allText") {
      $0.project == nil ? Message("All projects") : Message("All tenants")
    },
  ]

  /// Hashes only the current project and tenant, which nearly always differ between menus.
  func hash(into hasher: inout Hasher) {
    hasher.combine(project)
    hasher.combine(current)
  }
}

struct SessionNotice: ViewModel {
  let script: String
  /// The seconds until the session ends without activity.
  let idle: Int64
  /// The seconds until the session ends in any case.
  let lifetime: Int64

  init(_ signedIn: SignedIn, script: String, at now: Instant) {
    let session = signedIn.session
    self.script = script
    idle = max(session.idleUntil.seconds - now.seconds, 0)
    lifetime = max(session.expiresAt.seconds - now.seconds, 0)
  }

  static let keys: Keys<Self> = [
    .text(\.script),
    .text("idle") { String($0.idle) },
    .text("lifetime") { String($0.lifetime) },
    .text("extension") { _ in ConsolePaths.sessionExtension() },
  ]
}

/// `/account/session-extension`: counts as activity, so that the session doesn't end yet.
struct SessionExtensionPage: Sendable {
  let clock: WallClock

  /// Returns the seconds until the session ends without activity, and in any case.
  ///
  /// Finding the session for the request extended it; the page has nothing else to do.
  func extend(_ signedIn: SignedIn) async throws -> Response {
    let notice = SessionNotice(signedIn, script: "", at: clock.now())
    return .text("\(notice.idle) \(notice.lifetime)")
  }
}

/// The banner on every page of the console while the server's clock isn't trusted.
struct ClockBanner: ViewModel {
  let sentence: Message
  /// Where an owner confirms the time; nil for anyone else.
  let link: Link?

  init(_ doubt: ClockDoubt, mayConfirm: Bool, _ times: Times) {
    let (shown, expected) = (times.value(doubt.shown), times.value(doubt.expected))
    sentence =
      doubt.isBehind
      ? Message(
        """
        It shows {shown}, before {expected}, the expected time. Until the time is confirmed, \
        expired data isn’t deleted and no email is sent.
        """, ["shown": shown, "expected": expected])
      : Message(
        """
        It shows {shown}, long after {expected}, the expected time. Until the time is confirmed, \
        expired data isn’t deleted and no email is sent.
        """, ["shown": shown, "expected": expected])
    link =
      mayConfirm
      ? Link(text: Message("Confirm the time…"), href: ConsolePaths.clock()) : nil
  }

  static let keys: Keys<Self> = [
    .text("heading") { _ in Message("The server’s clock may be wrong.") },
    .text(\.sentence),
    .optional(\.link),
    .text("roles") { _ in Message.value(Permission.protectUsers.roleNames) },
  ]
}
