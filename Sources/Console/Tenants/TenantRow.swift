import HTTP
import Identity
import Localization
import Templating

/// A tenant's row in the list.
struct TenantRow: ViewModel {
  let href: String
  let name: String
  let id: String
  let totp: Markup
  let turnOn: String?
  let window: Markup
  let pattern: Message
  let users: Message
  let enrolled: Markup
  let trend: Markup
  let changed: Markup?

  /// The data that a row is rendered from.
  struct Source: Hashable {
    let project: ID<Project>
    let tenant: TenantSummary
    let mayChange: Bool
    let trend: EnrollmentTrend
    let times: Times

    func hash(into hasher: inout Hasher) { hasher.combine(tenant) }
  }

  init(_ source: Source) {
    let summary = source.tenant
    href = ConsolePaths.tenant(source.project.text, summary.id.text)
    name = summary.displayName
    id = summary.id.text
    let configuration = MFAConfiguration(totp: summary.totp)
    totp = configuration.chip
    turnOn =
      source.mayChange && !configuration.isTOTPOn
      ? PolicyLinks.turnOn(ConsolePaths.policy.ofTenant(source.project.text, id)) : nil
    window = WindowStrip.line(configuration)
    pattern = summary.patternName ?? Message("tenants.no-pattern")
    users = .value(.number(summary.users))
    enrolled = Meter.share(summary.enrolledUsers, of: summary.users)
    trend = source.trend.sparkline
    changed = summary.changedAt.map(source.times.day)
  }

  static let keys: Keys<Self> = [
    .text(\.href),
    .text(\.name),
    .text(\.id),
    .markup(\.totp),
    .text(\.turnOn),
    .markup(\.window),
    .text(\.pattern),
    .text(\.users),
    .markup(\.enrolled),
    .markup(\.trend),
    .markup(\.changed),
  ]
}
