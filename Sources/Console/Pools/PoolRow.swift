import HTTP
import Identity
import Localization
import Templating

/// A row of the table of user pools: a pool, or a project with its tenants.
struct PoolRow: ViewModel {
  /// What follows the name.
  enum Caption: Hashable {
    case id(String)
    case ownUsers
    case tenants(Int)
  }

  /// How the policy compares with that of the project.
  enum Comparison: Hashable {
    /// It isn't compared.
    case none
    /// It's the same.
    case same
    /// These fields differ; the links compare the policies, and copy the project's.
    case differs([PolicyChange.Field], href: String, reset: String?)
    /// The policies of this number of the project's tenants differ; the link lists them.
    case tenants(Int, href: String)
  }

  /// Whether the policy was reviewed, and by whom.
  struct Review: Hashable {
    let state: ReviewStanding.State
    let signOff: SignOff?
  }

  /// The data that a row is rendered from.
  struct Source: Hashable {
    let href: String
    let name: String
    let caption: Caption
    let columns: Set<PoolColumn>
    /// The policy; nil for administrators who can't read it.
    let policy: PolicySummary?
    let enforcer: EffectiveMFA.Enforcer?
    let users: Int
    let enrolled: Int
    let trend: EnrollmentTrend
    let attempts: AttemptCounts
    let exemptions: Int
    let exemptionsHref: String
    let review: Review?
    let comparison: Comparison
    /// The fields in which the policy differs from the policy file; nil if it doesn't.
    let drift: [PolicyChange.Field]?
    /// The link that turns on TOTP; nil if it's on, or without the permission.
    let turnOn: String?
    let times: Times

    func hash(into hasher: inout Hasher) { hasher.combine(href) }
  }

  private let source: Source
  private let configuration: MFAConfiguration?

  init(_ source: Source) {
    self.source = source
    configuration = source.policy?.edit.configuration
  }

  private var caption: Message {
    switch source.caption {
    case .id(let id): .verbatim(id)
    case .ownUsers: Message("pools.outside-tenants")
    case .tenants(let count): Message("tenants.count", ["count": .number(count)])
    }
  }

  private var isID: Bool {
    if case .id = source.caption { true } else { false }
  }

  private var enforcement: Message? {
    guard let configuration, let enforcer = source.enforcer else { return nil }
    if !configuration.isTOTPOn, !configuration.isSMSOn { return Message("pools.no-codes") }
    return switch enforcer {
    case .nobody: Message("pools.enrolled-users-asked")
    case .application: Message("pools.application-enrolls")
    case .server: Message("pools.server-enforces")
    }
  }

  private var pattern: Message? {
    source.policy.map {
      $0.edit.patternName ?? Message("policy.no-pattern")
    }
  }

  private var comparison: (chip: Markup?, text: Message?, href: String?, reset: String?) {
    switch source.comparison {
    case .none: (nil, nil, nil, nil)
    case .same: (Self.same, nil, nil, nil)
    case .differs(let fields, let href, let reset):
      (Self.differs, .value(.sequence(fields.map(\.name))), href, reset)
    case .tenants(0, _): (Self.same, nil, nil, nil)
    case .tenants(let count, let href):
      (Self.differs, Message("pools.tenants-differ", ["count": .number(count)]), href, nil)
    }
  }

  static let smsOn = Chip.on(Message("common.on"))
  static let smsOff = Chip.off(Message("common.off"))
  private static let same = Chip.on(Message("pools.same"))
  private static let differs = Chip.look(Message("pools.differs"))

  static let keys: Keys<Self> = [
    .text("href") { $0.source.href },
    .text("name") { $0.source.name },
    .text("caption") { $0.caption },
    .flag("isID") { $0.isID },
    .text("drift") { $0.source.drift.map(PolicyFileWords.sentence) },
    .flag("showsPolicy") { $0.source.columns.contains(.policy) },
    .markup("totp") { $0.configuration?.chip },
    .text("turnOn") { $0.source.turnOn },
    .flag("showsEnforcement") { $0.source.columns.contains(.enforcement) },
    .text("enforcement") { $0.enforcement },
    .flag("showsWindow") { $0.source.columns.contains(.window) },
    .markup("window") { $0.configuration.map(WindowStrip.line) },
    .flag("showsSMS") { $0.source.columns.contains(.sms) },
    .markup("sms") { row in row.configuration.map { $0.isSMSOn ? smsOn : smsOff } },
    .flag("showsPattern") { $0.source.columns.contains(.pattern) },
    .text("pattern") { $0.pattern },
    .flag("showsEnrolled") { $0.source.columns.contains(.enrolled) },
    .markup("enrolled") { Meter.share($0.source.enrolled, of: $0.source.users) },
    .text("users") { row in
      row.source.users == 0
        ? nil
        : Message(
          "pools.enrolled-of-users",
          ["enrolled": .number(row.source.enrolled), "count": .number(row.source.users)])
    },
    .markup("trend") { $0.source.trend.isRising == nil ? nil : $0.source.trend.sparkline },
    .flag("showsRejected") { $0.source.columns.contains(.rejected) },
    .text("rejected") { Meter.percent($0.source.attempts.rejected, of: $0.source.attempts.all) },
    .text("attempts") { row in
      row.source.attempts.all == 0
        ? nil
        : Message(
          "pools.rejected-of-codes",
          [
            "rejected": .number(row.source.attempts.rejected),
            "count": .number(row.source.attempts.all),
          ])
    },
    .flag("showsExemptions") { $0.source.columns.contains(.exemptions) },
    .text("exemptions") { row in
      row.source.exemptions == 0 ? Message.verbatim("–") : .value(.number(row.source.exemptions))
    },
    .text("exemptionsHref") { $0.source.exemptions == 0 ? nil : $0.source.exemptionsHref },
    .flag("showsChange") { $0.source.columns.contains(.change) },
    .markup("changed") { row in row.source.policy?.changedAt.map(row.source.times.day) },
    .text("changedBy") { $0.source.policy?.changedBy },
    .text("changeReason") { $0.source.policy?.changeReason.map { Words.short($0, 120) } },
    .flag("showsSignOff") { $0.source.columns.contains(.signOff) },
    .markup("state") { $0.source.review?.state.chip },
    .markup("signedAt") { row in
      row.source.review?.signOff.map { row.source.times.day($0.signedAt) }
    },
    .text("reviewer") { $0.source.review?.signOff.map { Words.short($0.reviewerName) } },
    .flag("showsComparison") { $0.source.columns.contains(.comparison) },
    .markup("comparison") { $0.comparison.chip },
    .text("differences") { $0.comparison.text },
    .text("comparisonHref") { $0.comparison.href },
    .text("reset") { $0.comparison.reset },
  ]
}
