import HTTP
import Identity
import Localization
import Templating

/// A scope's row in the review.
struct ReviewRow: ViewModel {
  let href: String
  let name: String
  let id: Message
  let totp: Markup
  let window: Markup
  let sms: Markup
  let pattern: Message
  /// How the policy differs from the policy file; nil if it doesn't.
  let drift: Message?
  let enrolled: Markup
  let exemptions: Message
  /// The link to the exemptions of the project; nil without any.
  let exemptionsHref: String?
  let changed: Markup?
  let changedBy: String?
  let changeReason: String?
  /// Whether policies are compared with the project's.
  let compares: Bool
  let comparison: Markup?
  let differences: Message?
  /// The link to compare the policy with the project's; nil if they're the same.
  let comparisonHref: String?
  /// The link to copy the project's policy to the tenant; nil without the permission.
  let reset: String?

  /// The data that a row is rendered from.
  struct Source: Hashable {
    let project: ID<Project>
    let summary: PolicySummary
    /// The project's policy; nil for administrators who can't read it.
    let base: PolicyInForce?
    let trend: EnrollmentTrend
    /// The fields in which the policy differs from the policy file; nil if it doesn't.
    let drift: [PolicyChange.Field]?
    let mayChange: Bool
    /// The number of users who are exempt from MFA.
    let exemptions: Int
    let times: Times

    func hash(into hasher: inout Hasher) { hasher.combine(summary) }
  }

  init(_ source: Source) {
    let (summary, project) = (source.summary, source.project.text)
    let configuration = summary.edit.configuration
    let policy =
      summary.tenant.map { ConsolePaths.policy.ofTenant(project, $0.text) }
      ?? ConsolePaths.policy.ofProject(project)
    href = policy
    name = summary.displayName
    id = summary.tenant.map { Message.verbatim($0.text) } ?? Message("review.outside-tenants")
    totp = configuration.chip
    window = WindowStrip.line(configuration)
    sms = configuration.isSMSOn ? Self.smsOn : Self.smsOff
    pattern =
      summary.edit.patternName
      ?? Message("policy.no-pattern")
    drift = source.drift.map(PolicyFileWords.sentence)
    enrolled = Self.enrolled(summary, source.trend)
    exemptions = source.exemptions == 0 ? .verbatim("–") : .value(.number(source.exemptions))
    exemptionsHref =
      source.exemptions == 0
      ? nil : (["project": project] as Form).query(of: ConsolePaths.exemptions())
    changed = summary.changedAt.map(source.times.day)
    changedBy = summary.changedBy
    changeReason = summary.changeReason.map { Words.short($0, 120) }
    compares = source.base != nil
    guard summary.tenant != nil, let base = source.base else {
      (comparison, differences, comparisonHref, reset) = (nil, nil, nil, nil)
      return
    }
    let fields = summary.inForce.differences(from: base)
    comparison = fields.isEmpty ? Self.same : Self.differs
    differences = fields.isEmpty ? nil : Message.value(.sequence(fields.map(\.name)))
    comparisonHref =
      fields.isEmpty
      ? nil
      : (["with": project] as Form).query(
        of: ConsolePaths.comparison.ofTenant(project, summary.tenant?.text ?? ""))
    reset =
      fields.isEmpty || !source.mayChange ? nil : (["change": "project"] as Form).query(of: policy)
  }

  /// The percentage of enrolled users with both numbers, and how it developed.
  private static func enrolled(_ summary: PolicySummary, _ trend: EnrollmentTrend) -> Markup {
    guard summary.users > 0 else { return Meter.share(0, of: 0) }
    var html = HTML()
    html.add(Meter.share(summary.enrolledUsers, of: summary.users))
    html.raw("<span class=\"sub\">")
    html.message(
      Message(
        "review.enrolled-of-users",
        ["enrolled": .number(summary.enrolledUsers), "count": .number(summary.users)]))
    html.raw("</span>")
    if trend.isRising != nil { html.add(trend.sparkline) }
    return html.markup
  }

  static let smsOn = Chip.on(Message("common.on"))
  static let smsOff = Chip.off(Message("common.off"))
  private static let same = Chip.on(Message("review.chip-same"))
  private static let differs = Chip.look(Message("review.chip-differs"))

  static let keys: Keys<Self> = [
    .text(\.href),
    .text(\.name),
    .text(\.id),
    .markup(\.totp),
    .markup(\.window),
    .markup(\.sms),
    .text(\.pattern),
    .text(\.drift),
    .markup(\.enrolled),
    .text(\.exemptions),
    .text(\.exemptionsHref),
    .markup(\.changed),
    .text(\.changedBy),
    .text(\.changeReason),
    .flag(\.compares),
    .markup(\.comparison),
    .text(\.differences),
    .text(\.comparisonHref),
    .text(\.reset),
  ]
}
