import Identity
import IdentityToolkitClient
import Localization
import Templating

/// The word and the mark of a severity, the same on each page.
struct SeverityMark: ViewModel {
  private let severity: AttentionKind.Severity

  init(_ kind: AttentionKind) { severity = kind.severity }

  static let keys: Keys<Self> = [
    .text("word") { mark in
      switch mark.severity {
      case .critical: Message("Critical")
      case .warning: Message("Warning")
      case .notice: Message("Notice")
      }
    },
    .text("shape") { mark in
      switch mark.severity {
      case .critical: "■"
      case .warning: "▲"
      case .notice: "○"
      }
    },
    .flag("isBad") { $0.severity == .critical },
    .flag("isQuiet") { $0.severity == .notice },
  ]
}

/// Who sees what can need attention, and where it's dealt with.
extension AttentionKind {
  enum Reader {
    /// All who may read what was found, which the reading itself restricts.
    case anyone
    /// Those who change or review the pool's policy, and don't only see it.
    case ofPolicy
    case having(Permission)
  }

  enum Target {
    /// Depends on what was found.
    case found
    /// A page that all readers open, where those with a permission do what the text says.
    case change(Permission, Message, others: Message, PoolPath0)
    /// A page, with a query, for those with a permission.
    case page(Permission, Message, PoolPath0, String)
    /// The step that turns TOTP on; the policy for those who can't.
    case turnOn
    case review(String)
  }

  struct Row {
    let reader: Reader
    let target: Target

    fileprivate init(_ reader: Reader, _ target: Target) {
      self.reader = reader
      self.target = target
    }
  }

  var row: Row {
    switch self {
    // The instance.
    case .auditFault: Row(.having(.readAudit), .found)
    case .breakGlass: Row(.having(.manageAdministrators), .found)
    case .tasksNotHeld, .droppedSettings: Row(.having(.manageTrust), .found)
    case .policyFile: Row(.ofPolicy, .found)
    // The instance, and users of a pool.
    case .clock, .damage, .unreadable, .reported, .spraying, .removals, .drift, .textMessages,
      .connectionPaused, .connectionFailing, .changeUnknown:
      Row(.anyone, .found)
    case .heldAgent: Row(.having(.protectUsers), .found)
    case .signInOff:
      Row(
        .anyone,
        .page(.changePool, Message("Turn on sign-in…"), ConsolePaths.signInSwitch, ""))
    case .lockedOut: Row(.anyone, Self.users("locked"))
    case .unverified: Row(.anyone, Self.users("unverified"))
    case .late, .unsent:
      Row(
        .anyone,
        .page(.findUsers, Message("View messages"), ConsolePaths.messages, "?show=waiting"))
    // The policy of a pool.
    case .weakened, .fileDrift, .stale, .changedElsewhere:
      Row(.ofPolicy, Self.policy(Message("Review policy")))
    case .turnedOff, .off, .neverOn: Row(.ofPolicy, .turnOn)
    case .wide: Row(.ofPolicy, Self.policy(Message("Narrow window")))
    case .methods: Row(.ofPolicy, Self.signInMethods)
    case .leftOutside: Row(.anyone, Self.signInMethods)
    case .unstated: Row(.ofPolicy, Self.policy(Message("Set to Enabled")))
    case .phonesOff: Row(.ofPolicy, Self.policy(Message("Change policy")))
    // Reviews of a project.
    case .overdue, .unreviewed: Row(.anyone, .review(""))
    case .differing: Row(.ofPolicy, .review("?show=differs"))
    }
  }

  private static func policy(_ change: Message) -> Target {
    .change(.changePolicy, change, others: Message("View policy"), ConsolePaths.policy)
  }

  private static var signInMethods: Target {
    .change(
      .changePool, Message("Choose methods"), others: Message("View settings"),
      ConsolePaths.signInMethods)
  }

  private static func users(_ state: String) -> Target {
    .page(.findUsers, Message("Show users"), ConsolePaths.users, "?state=\(state)")
  }

  init(_ kind: Alert.Kind) {
    self =
      switch kind {
      case .spraying: .spraying
      case .drift: .drift
      case .removals: .removals
      case .textMessages: .textMessages
      }
  }
}

/// Where something was found; without a project it's the instance.
struct AttentionPlace {
  var project: ID<Project>?
  var tenant: ID<Tenant>?
  var name: String?
  var projectName: String?
  var kind = PoolKind.hosted
  /// What the connection of a connected project may do.
  var access = AccessLevel.read

  static let instance = AttentionPlace()

  static func pool(_ pool: Pool) -> Self {
    Self(
      project: pool.project, tenant: pool.tenant, name: pool.name, projectName: pool.projectName,
      kind: pool.kind, access: pool.access)
  }

  static func project(_ id: ID<Project>, _ name: String) -> Self {
    Self(project: id, name: name, projectName: name)
  }
}

extension AttentionKind.Row {
  func isSeen(by administrator: Administrator, in place: AttentionPlace) -> Bool {
    switch reader {
    case .anyone: return true
    case .having(let permission):
      return administrator.may(permission, project: place.project, tenant: place.tenant)
    case .ofPolicy:
      let permissions = [Permission.changePolicy, .signOffReview]
      guard place.project != nil else {
        return permissions.contains { administrator.maySomewhere($0) }
      }
      return permissions.contains {
        administrator.may($0, project: place.project, tenant: place.tenant)
      }
    }
  }

  /// The link for an administrator; nil if it depends on what was found, or if they can't open it.
  func link(for administrator: Administrator, in place: AttentionPlace) -> Link? {
    guard let project = place.project else { return nil }
    func may(_ permission: Permission) -> Bool {
      permission.isOffered(by: place.kind, at: place.access)
        && administrator.may(permission, project: project, tenant: place.tenant)
    }
    switch target {
    case .found: return nil
    case .change(let permission, let text, let others, let path):
      return Link(text: may(permission) ? text : others, href: path(project, place.tenant))
    case .page(let permission, let text, let path, let query):
      guard may(permission) else { return nil }
      return Link(text: text, href: path(project, place.tenant) + query)
    case .turnOn:
      let policy = ConsolePaths.policy(project, place.tenant)
      return may(.changePolicy)
        ? Link(text: Message("Turn on TOTP…"), href: PolicyLinks.turnOn(policy))
        : Link(text: Message("View policy"), href: policy)
    case .review(let query):
      return Link(
        text: may(.signOffReview) || may(.changePolicy)
          ? Message("Review policies") : Message("View policies"),
        href: ConsolePaths.review(project.text) + query)
    }
  }
}
