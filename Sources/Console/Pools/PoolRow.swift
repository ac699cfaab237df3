import HTTP
import Identity
import Localization
import Templating

/// A row of the table of pools: a pool, or a project with its tenants.
struct PoolRow: ViewModel {
  struct Review: Hashable {
    let state: ReviewStatus.State
    let signOff: SignOff?
  }

  enum Subject: Hashable {
    case pool(mayChange: Bool)
    /// A project, its numbers of tenants, and of those whose policies differ from its own.
    case project(ID<Project>, name: String, tenants: Int, differing: Int)
  }

  enum Destination: Hashable {
    case overview, policy
  }

  struct Context: Hashable {
    let columns: Set<PoolColumn>
    let times: Times
    let today: Day
    /// The project of the pools; nil in a table of projects.
    var project: ID<Project>?
    /// The policy that those of the pools are compared with.
    var base: PolicyInForce?
    var destination = Destination.policy
    var opensExemptions = false
  }

  struct Source: Hashable {
    /// The key of the pool, or of a project's own pool.
    let key: Int64
    let subject: Subject
    /// The policy; nil for administrators who can't read it.
    let policy: PolicySummary?
    let enforcer: EffectiveMFA.Enforcer?
    let users: Int
    let enrolled: Int
    let trend: EnrollmentTrend
    /// The code attempts; nil for a project that the reader sees only a part of.
    let attempts: AttemptCounts?
    let exemptions: Int
    let review: Review?
    var drift: [PolicyChange.Field]?

    func hash(into hasher: inout Hasher) { hasher.combine(key) }
  }

  private let source: Source
  private let context: Context
  private let configuration: MFAConfiguration?
  private let links: PoolLinks
  private let comparison: (chip: Markup?, text: Message?, href: String?, reset: String?)

  init(_ source: Source, in context: Context) {
    (self.source, self.context) = (source, context)
    configuration = source.policy?.edit.configuration
    links = PoolLinks(source, context)
    comparison = Self.comparison(source, context, links)
  }

  private var name: String {
    switch source.subject {
    case .pool: source.policy?.displayName ?? ""
    case .project(_, let name, _, _): name
    }
  }

  private var caption: Message {
    switch source.subject {
    case .pool:
      source.policy?.tenant.map { .verbatim($0.text) } ?? Message("users outside tenants")
    case .project(_, _, let tenants, _):
      Message(one: "{count} tenant", other: "{count} tenants", ["count": .number(tenants)])
    }
  }

  private var isID: Bool {
    if case .pool = source.subject { source.policy?.tenant != nil } else { false }
  }

  private var enforcement: Message? {
    guard let configuration, let enforcer = source.enforcer else { return nil }
    if !configuration.isTOTPOn, !configuration.isSMSOn { return Message("No codes required") }
    return switch enforcer {
    case .nobody: Message("Codes enforced by the server, enrollment not enforced")
    case .application: Message("Codes enforced by the server, enrollment by the application")
    case .server(let enforcement):
      switch enforcement.mode {
      case .claim: Message("Codes enforced by the server, which reports who should have enrolled")
      case .refuse: Message("Codes and enrollment enforced by the server")
      }
    }
  }

  private var pattern: Message? {
    source.policy.map {
      $0.edit.patternName ?? Message("none")
    }
  }

  /// How the policy compares with that of the project: a project's tenants with its own.
  private static func comparison(
    _ source: Source, _ context: Context, _ links: PoolLinks
  ) -> (chip: Markup?, text: Message?, href: String?, reset: String?) {
    switch source.subject {
    case .project where source.policy == nil: return (nil, nil, nil, nil)
    case .project(_, _, _, differing: 0): return (same, nil, nil, nil)
    case .project(_, _, _, let count):
      let text = Message(
        one: "{count} tenant differs", other: "{count} tenants differ", ["count": .number(count)])
      return (differs, text, links.differing, nil)
    case .pool(let mayChange):
      guard let base = context.base, let policy = source.policy, policy.tenant != nil else {
        return (nil, nil, nil, nil)
      }
      let fields = policy.inForce.differences(from: base, on: context.today)
      if fields.isEmpty { return (same, nil, nil, nil) }
      return (
        differs, .value(.sequence(fields.map(\.name))), links.comparison,
        mayChange ? PolicyLinks.likeProject(links.policy) : nil
      )
    }
  }

  private var turnOn: String? {
    guard case .pool(mayChange: true) = source.subject, configuration?.isTOTPOn == false else {
      return nil
    }
    return PolicyLinks.turnOn(links.policy)
  }

  static let smsOn = Chip.on(Message("on"))
  static let smsOff = Chip.off(Message("off"))
  private static let same = Chip.on(Message("same"))
  private static let differs = Chip.look(Message("differs"))

  static let keys: Keys<Self> = [
    .text("href") { $0.links.page },
    .text("name") { $0.name },
    .text("caption") { $0.caption },
    .flag("isID") { $0.isID },
    .text("drift") { $0.source.drift.map(PolicyFileText.sentence) },
    .flag("showsPolicy") { $0.context.columns.contains(.policy) },
    .markup("totp") { $0.configuration?.chip },
    .text("turnOn") { $0.turnOn },
    .flag("showsEnforcement") { $0.context.columns.contains(.enforcement) },
    .text("enforcement") { $0.enforcement },
    .text("patternBelow") { row in
      row.context.columns.contains(.pattern)
        ? nil : row.pattern.map { Message("Pattern: {pattern}", ["pattern": .message($0)]) }
    },
    .flag("showsWindow") { $0.context.columns.contains(.window) },
    .markup("window") { $0.configuration.map(WindowStrip.line) },
    .flag("showsSMS") { $0.context.columns.contains(.sms) },
    .markup("sms") { row in row.configuration.map { $0.isSMSOn ? smsOn : smsOff } },
    .flag("showsPattern") { $0.context.columns.contains(.pattern) },
    .text("pattern") { $0.pattern },
    .flag("showsEnrolled") { $0.context.columns.contains(.enrolled) },
    .markup("enrolled") { Meter.share($0.source.enrolled, of: $0.source.users) },
    .text("users") { row in
      row.source.users == 0
        ? nil
        : Message(
          one: "{enrolled} of {count} user", other: "{enrolled} of {count} users",
          ["enrolled": .number(row.source.enrolled), "count": .number(row.source.users)])
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
    .markup("changed") { row in row.source.policy?.changedAt.map(row.context.times.day) },
    .text("changedBy") { $0.source.policy?.changedBy },
    .text("changeReason") { $0.source.policy?.changeReason.map { Formatted.short($0, 120) } },
    .flag("showsSignOff") { $0.context.columns.contains(.signOff) },
    .markup("state") { $0.source.review?.state.chips },
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
  private let destination: PoolRow.Destination?

  init(_ source: PoolRow.Source, _ context: PoolRow.Context) {
    switch source.subject {
    case .pool:
      project = context.project ?? ID("")
      (tenant, destination) = (source.policy?.tenant, context.destination)
    case .project(let id, _, _, _): (project, tenant, destination) = (id, nil, nil)
    }
  }

  var page: String {
    switch destination {
    case .overview: address(ConsolePaths.overview)
    case .policy: policy
    case nil: ConsolePaths.review(project.text)
    }
  }

  var policy: String { address(ConsolePaths.policy) }

  var exemptions: String {
    (["project": project.text] as Form).query(of: ConsolePaths.exemptions())
  }

  var comparison: String {
    (["with": project.text] as Form).query(of: address(ConsolePaths.comparison))
  }

  var differing: String {
    (["show": "differs"] as Form).query(of: ConsolePaths.review(project.text))
  }

  private func address(_ path: PoolPath0) -> String {
    tenant.map { path.ofTenant(project.text, $0.text) } ?? path.ofProject(project.text)
  }
}
