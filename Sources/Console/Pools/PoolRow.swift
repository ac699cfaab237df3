import HTTP
import Identity
import Localization
import Templating

struct PoolRow: ViewModel {
  struct Review: Hashable {
    let state: ReviewStatus.State
    let signOff: SignOff?
  }

  enum Subject: Hashable {
    case pool(mayChange: Bool)
    /// A pool among those of several projects, and the project's own policy; nil for administrators
    /// who can't read it.
    case poolOf(ID<Project>, name: String, base: PolicyInForce?)
  }

  enum Destination: Hashable {
    case overview, policy
  }

  struct Context: Hashable {
    let columns: Set<PoolColumn>
    let times: Times
    let today: Day
    /// The project of the pools; nil in a table of several projects' pools.
    var project: ID<Project>?
    /// The policy that those of the pools are compared with.
    var base: PolicyInForce?
    var destination = Destination.policy
    var opensExemptions = false
  }

  struct Source: Hashable {
    let key: Int64
    let subject: Subject
    let kind: PoolKind
    let policy: PolicySummary
    let enforcer: EffectiveMFA.Enforcer
    let users: Int
    let enrolled: Int
    let trend: EnrollmentTrend
    /// The code attempts; nil where they aren't shown.
    let attempts: AttemptCounts?
    let exemptions: Int
    let review: Review?
    var drift: [PolicyChange.Field]?
    /// Whether the reader can list the users without a second factor.
    var findsUsers = false

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
  }

  private let source: Source
  private let context: Context
  private let configuration: MFAConfiguration
  private let links: PoolLinks
  private let comparison: (chip: Markup?, text: Message?, href: String?, reset: String?)

  init(_ source: Source, in context: Context) {
    (self.source, self.context) = (source, context)
    configuration = source.policy.edit.configuration
    links = PoolLinks(source, context)
    comparison = Self.comparison(source, context, links)
  }

  private var isTenant: Bool { source.policy.tenant != nil }

  private var name: String {
    switch source.subject {
    case .pool: source.policy.displayName
    case .poolOf(_, let project, _): isTenant ? source.policy.displayName : project
    }
  }

  private var caption: Message {
    guard let tenant = source.policy.tenant else { return Message("users outside tenants") }
    return switch source.subject {
    case .pool: .verbatim(tenant.text)
    case .poolOf(_, let project, _): .verbatim(Formatted.short(project))
    }
  }

  /// The server of the users; nil on a page of one project, which has it once.
  private var kind: Markup? {
    if case .poolOf = source.subject { source.kind.chip } else { nil }
  }

  private var isID: Bool {
    if case .pool = source.subject { isTenant } else { false }
  }

  /// Who enforces codes and enrollment.
  private var enforcement: Markup {
    if !configuration.isTOTPOn, !configuration.isSMSOn { return Self.noCodes }
    return switch source.enforcer {
    case .nobody: Self.enforcedByNobody
    case .application: Self.enforcedByApplication
    case .server(let enforcement):
      switch enforcement.mode {
      case .claim: Self.flaggedByServer
      case .refuse: Self.enforcedByServer
      }
    }
  }

  /// Who decides about enrollment, below the state of TOTP; nil if no one does.
  private var enroller: Message? {
    guard !context.columns.contains(.enforcement), configuration.isTOTPOn else { return nil }
    return switch source.enforcer {
    case .nobody: nil
    case .application: Message("app decides")
    case .server(let enforcement):
      switch enforcement.mode {
      case .claim: Message("flag in ID token")
      case .refuse: Message("block sign-in")
      }
    }
  }

  /// How a tenant's policy compares with that of its project.
  private static func comparison(
    _ source: Source, _ context: Context, _ links: PoolLinks
  ) -> (chip: Markup?, text: Message?, href: String?, reset: String?) {
    let (own, mayChange): (PolicyInForce?, Bool) =
      switch source.subject {
      case .pool(let mayChange): (context.base, mayChange)
      case .poolOf(_, _, let base): (base, false)
      }
    guard let base = own, source.policy.tenant != nil else { return (nil, nil, nil, nil) }
    let fields = source.policy.inForce.differences(from: base, on: context.today)
    if fields.isEmpty { return (same, nil, nil, nil) }
    let text = Message(
      one: "{count} difference", other: "{count} differences", ["count": .number(fields.count)])
    return (
      differs, text, links.comparison,
      mayChange && context.destination == .overview && source.kind == .hosted
        ? PolicyLinks.likeProject(links.policy) : nil
    )
  }

  private var turnOn: String? {
    guard case .pool(mayChange: true) = source.subject, !configuration.isTOTPOn else {
      return nil
    }
    return PolicyLinks.turnOn(links.policy)
  }

  private static let same = Chip.on(Message("same"))
  private static let differs = Chip.look(Message("differs"))
  private static let noCodes = Chip.off(Message("codes: none"))
  private static let enforcedByNobody = codes(and: Chip.off(Message("enrollment: none")))
  private static let enforcedByApplication = codes(and: Chip.look(Message("enrollment: app")))
  private static let flaggedByServer = codes(and: Chip.look(Message("enrollment: flagged")))
  private static let enforcedByServer = codes(and: Chip.on(Message("enrollment: server")))

  private static func codes(and enrollment: Markup) -> Markup {
    let codes = Chip.on(Message("codes: server"))
    return #"<span class="chips">\#(codes)\#(enrollment)</span>"#
  }

  static let keys: Keys<Self> = [
    .text("href") { $0.links.page },
    .text("name") { $0.name },
    .markup("kind") { $0.kind },
    .text("caption") { $0.caption },
    .flag("isID") { $0.isID },
    .text("drift") { $0.source.drift.map(PolicyFileText.sentence) },
    .flag("showsPolicy") { $0.context.columns.contains(.policy) },
    .markup("totp") { $0.configuration.chip(in: $0.source.kind) },
    .text("enroller") { $0.enroller },
    .text("turnOn") { $0.turnOn },
    .flag("showsEnforcement") { $0.context.columns.contains(.enforcement) },
    .markup("enforcement") { $0.enforcement },
    .flag("showsWindow") { $0.context.columns.contains(.window) },
    .markup("window") { WindowStrip.line($0.configuration) },
    .flag("showsSMS") { $0.context.columns.contains(.sms) },
    .markup("sms") { $0.configuration.smsChip },
    .flag("showsPattern") { $0.context.columns.contains(.pattern) },
    .text("pattern") { $0.source.policy.edit.patternName ?? Message("none") },
    .flag("showsEnrolled") { $0.context.columns.contains(.enrolled) },
    .markup("enrolled") { Meter.share($0.source.enrolled, of: $0.source.users) },
    .text("users") { row in
      row.source.users == 0
        ? nil
        : Message(
          one: "{enrolled} of {count} user", other: "{enrolled} of {count} users",
          ["enrolled": .number(row.source.enrolled), "count": .number(row.source.users)])
    },
    .text("unenrolled") { row in
      row.source.findsUsers && row.source.enrolled < row.source.users ? row.links.unenrolled : nil
    },
    .markup("trend") { $0.source.trend.isRising == nil ? nil : $0.source.trend.sparkline },
    .flag("showsRejected") { $0.context.columns.contains(.rejected) },
    .text("rejected") { row in
      row.source.attempts.map { Meter.percent($0.rejected, of: $0.all) }
    },
    .text("attempts") { row in
      guard let attempts = row.source.attempts, attempts.all > 0 else { return nil }
      return Message(
        one: "{rejected} of {count} code", other: "{rejected} of {count} codes",
        ["rejected": .number(attempts.rejected), "count": .number(attempts.all)])
    },
    .flag("showsExemptions") { $0.context.columns.contains(.exemptions) },
    .text("exemptions") { row in
      row.source.exemptions == 0 ? Message.verbatim("–") : .value(.number(row.source.exemptions))
    },
    .text("exemptionsHref") { row in
      row.source.exemptions > 0 && row.context.opensExemptions ? row.links.exemptions : nil
    },
    .flag("showsChange") { $0.context.columns.contains(.change) },
    .markup("changed") { row in row.source.policy.changedAt.map(row.context.times.day) },
    .text("changedBy") { $0.source.policy.changedBy },
    .text("changeReason") { $0.source.policy.changeReason.map { Formatted.short($0, 120) } },
    .flag("showsSignOff") { $0.context.columns.contains(.signOff) },
    .markup("state") { $0.source.review?.state.chips },
    .text("reviewHref") { $0.links.review },
    .markup("signedAt") { row in
      row.source.review?.signOff.map { row.context.times.day($0.signedAt) }
    },
    .text("reviewer") { $0.source.review?.signOff.map { Formatted.short($0.reviewerName) } },
    .flag("showsComparison") { $0.context.columns.contains(.comparison) },
    .markup("comparison") { $0.comparison.chip },
    .text("differences") { $0.comparison.text },
    .text("comparisonHref") { $0.comparison.href },
    .text("reset") { $0.comparison.reset },
  ]
}

struct PoolLinks {
  private let project: ID<Project>
  private let tenant: ID<Tenant>?
  private let destination: PoolRow.Destination

  init(_ source: PoolRow.Source, _ context: PoolRow.Context) {
    project =
      switch source.subject {
      case .pool: context.project ?? ID("")
      case .poolOf(let project, _, _): project
      }
    (tenant, destination) = (source.policy.tenant, context.destination)
  }

  var page: String {
    switch destination {
    case .overview: ConsolePaths.overview(project, tenant)
    case .policy: policy
    }
  }

  var policy: String { ConsolePaths.policy(project, tenant) }

  var review: String { ConsolePaths.review(project.text) }

  var unenrolled: String {
    (["factor": "none"] as Form).query(of: ConsolePaths.users(project, tenant))
  }

  var exemptions: String {
    (["project": project.text] as Form).query(of: ConsolePaths.exemptions())
  }

  var comparison: String {
    (["with": project.text] as Form).query(of: ConsolePaths.comparison(project, tenant))
  }
}
