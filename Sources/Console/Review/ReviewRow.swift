import HTTP
import Identity
import Templating

/// A scope's row in the review.
struct ReviewRow: ViewModel {
  let href: String
  let name: String
  let id: String
  let totp: Markup
  let window: Markup
  let sms: Markup
  let pattern: String
  let users: String
  let enrolled: Markup
  let changed: Markup?
  let changedBy: String?
  let changeReason: String?
  /// Whether policies are compared with the project's.
  let compares: Bool
  let comparison: Markup?
  let differences: String?
  /// The link to copy the project's policy to the tenant; nil without the permission.
  let reset: String?

  /// The data that a row is rendered from.
  struct Source: Hashable {
    let project: ID<Project>
    let summary: PolicySummary
    /// The project's policy; nil for administrators who can't read it.
    let base: PolicyInForce?
    let mayChange: Bool
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
    id = summary.tenant?.text ?? "users outside tenants"
    totp = configuration.chip
    window = WindowStrip.line(configuration)
    sms = configuration.isSMSOn ? Self.smsOn : Self.smsOff
    pattern = PatternWords.name(summary.edit.pattern, from: summary.edit.mandatoryFrom) ?? "none"
    users = Words.number(summary.users)
    enrolled = Self.enrolled(summary)
    changed = summary.changedAt.map(source.times.day)
    changedBy = summary.changedBy
    changeReason = summary.changeReason.map { Words.short($0, 120) }
    compares = source.base != nil
    guard summary.tenant != nil, let base = source.base else {
      (comparison, differences, reset) = (nil, nil, nil)
      return
    }
    let fields = summary.inForce.differences(from: base)
    comparison = fields.isEmpty ? Self.same : Self.differs
    differences = fields.isEmpty ? nil : fields.map(\.rawValue).joined(separator: ", ")
    reset =
      fields.isEmpty || !source.mayChange ? nil : (["change": "project"] as Form).query(of: policy)
  }

  /// The number and percentage of enrolled users.
  private static func enrolled(_ summary: PolicySummary) -> Markup {
    guard summary.users > 0 else { return Meter.share(0, of: 0) }
    var html = HTML()
    html.add(Meter.share(summary.enrolledUsers, of: summary.users))
    html.raw("<span class=\"sub\">")
    html.text(Words.number(summary.enrolledUsers))
    html.raw("</span>")
    return html.markup
  }

  private static let smsOn = Chip.on("on")
  private static let smsOff = Chip.off("off")
  private static let same = Chip.on("same")
  private static let differs = Chip.look("differs")

  static let keys: Keys<Self> = [
    .text("href") { $0.href },
    .text("name") { $0.name },
    .text("id") { $0.id },
    .markup("totp") { $0.totp },
    .markup("window") { $0.window },
    .markup("sms") { $0.sms },
    .text("pattern") { $0.pattern },
    .text("users") { $0.users },
    .markup("enrolled") { $0.enrolled },
    .markup("changed") { $0.changed },
    .text("changedBy") { $0.changedBy },
    .text("changeReason") { $0.changeReason },
    .flag("compares") { $0.compares },
    .markup("comparison") { $0.comparison },
    .text("differences") { $0.differences },
    .text("reset") { $0.reset },
  ]
}
