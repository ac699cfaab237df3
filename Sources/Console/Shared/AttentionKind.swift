import HTTP
import Identity
import Localization

/// What can need attention, in one table: how bad it is, who sees it, and where it's dealt with.
enum AttentionKind: CaseIterable {
  case clock, damage, auditFault, breakGlass, tasksNotHeld, droppedSettings, policyFile
  case unreadable, reported, spraying, removals, signInOff, leftOutside, lockedOut
  case drift, textMessages, heldAgent, weakened, turnedOff, fileDrift, off, wide, methods
  case overdue, late, unsent
  case unstated, phonesOff, differing, unreviewed, unverified, neverOn, stale

  enum Severity: Int, Comparable {
    case critical, warning, notice

    static func < (one: Severity, other: Severity) -> Bool { one.rawValue < other.rawValue }

    var word: Message {
      switch self {
      case .critical: Message("Critical")
      case .warning: Message("Warning")
      case .notice: Message("Notice")
      }
    }

    var shape: String {
      switch self {
      case .critical: "■"
      case .warning: "▲"
      case .notice: "○"
      }
    }
  }

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
    case turnOn(others: Message)
    case review(String)
  }

  struct Row {
    let severity: Severity
    let reader: Reader
    let target: Target

    fileprivate init(_ severity: Severity, _ reader: Reader, _ target: Target) {
      self.severity = severity
      self.reader = reader
      self.target = target
    }
  }

  var row: Row {
    switch self {
    // The instance.
    case .clock: Row(.critical, .anyone, .found)
    case .damage: Row(.critical, .anyone, .found)
    case .auditFault: Row(.critical, .having(.readAudit), .found)
    case .breakGlass: Row(.critical, .having(.manageAdministrators), .found)
    case .tasksNotHeld: Row(.critical, .having(.manageTrust), .found)
    case .droppedSettings: Row(.warning, .having(.manageTrust), .found)
    case .policyFile: Row(.warning, .ofPolicy, .found)
    // Users of a pool.
    case .unreadable: Row(.critical, .anyone, .found)
    case .reported: Row(.critical, .anyone, .found)
    case .spraying: Row(.critical, .anyone, .found)
    case .removals: Row(.critical, .anyone, .found)
    case .drift: Row(.warning, .anyone, .found)
    case .textMessages: Row(.warning, .anyone, .found)
    case .heldAgent: Row(.warning, .having(.protectUsers), .found)
    case .signInOff:
      Row(
        .critical, .anyone,
        .page(.changePool, Message("Turn on sign-in…"), ConsolePaths.signInSwitch, ""))
    case .lockedOut: Row(.critical, .anyone, Self.users("locked"))
    case .unverified: Row(.notice, .anyone, Self.users("unverified"))
    case .late: Row(.warning, .anyone, Self.messages)
    case .unsent: Row(.warning, .anyone, Self.messages)
    // The policy of a pool.
    case .weakened: Row(.warning, .ofPolicy, Self.policy(Message("Review policy")))
    case .turnedOff: Row(.warning, .ofPolicy, .turnOn(others: Message("Review policy")))
    case .fileDrift: Row(.warning, .ofPolicy, Self.policy(Message("Review policy")))
    case .off: Row(.warning, .ofPolicy, .turnOn(others: Message("View policy")))
    case .wide: Row(.warning, .ofPolicy, Self.policy(Message("Narrow window")))
    case .methods: Row(.warning, .ofPolicy, Self.signInMethods)
    case .leftOutside: Row(.critical, .anyone, Self.signInMethods)
    case .unstated: Row(.notice, .ofPolicy, Self.policy(Message("Set to Enabled")))
    case .phonesOff: Row(.notice, .ofPolicy, Self.policy(Message("Change policy")))
    case .neverOn: Row(.notice, .ofPolicy, .turnOn(others: Message("View policy")))
    case .stale: Row(.notice, .ofPolicy, Self.policy(Message("Review policy")))
    // Reviews of a project.
    case .overdue: Row(.warning, .anyone, .review(""))
    case .differing: Row(.notice, .ofPolicy, .review("?show=differs"))
    case .unreviewed: Row(.notice, .anyone, .review(""))
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

  private static var messages: Target {
    .page(.findUsers, Message("View messages"), ConsolePaths.messages, "?show=waiting")
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

  static let instance = AttentionPlace()

  static func pool(_ pool: Pool) -> Self {
    Self(
      project: pool.project, tenant: pool.tenant, name: pool.name, projectName: pool.projectName)
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
      administrator.may(permission, project: project, tenant: place.tenant)
    }
    switch target {
    case .found: return nil
    case .change(let permission, let text, let others, let path):
      return Link(text: may(permission) ? text : others, href: path(project, place.tenant))
    case .page(let permission, let text, let path, let query):
      guard may(permission) else { return nil }
      return Link(text: text, href: path(project, place.tenant) + query)
    case .turnOn(let others):
      let policy = ConsolePaths.policy(project, place.tenant)
      return may(.changePolicy)
        ? Link(text: Message("Turn on TOTP…"), href: PolicyLinks.turnOn(policy))
        : Link(text: others, href: policy)
    case .review(let query):
      return Link(
        text: Message("Review policies"), href: ConsolePaths.review(project.text) + query)
    }
  }
}
