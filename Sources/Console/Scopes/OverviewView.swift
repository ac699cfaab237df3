import HTTP
import Identity
import OTP
import Templating

struct OverviewView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let policy: Policy
  let history: [HistoryRow]
  let facts: [Fact]
  let attention: [Attention]
  let connect: ConnectView

  init(
    frame: Frame, context: ScopeContext, policy: Policy, history: [AuditRow],
    prerequisites: PolicyPrerequisites, createdAt: Instant, attention: [Attention],
    connect: ConnectView
  ) {
    self.frame = FrameView(frame)
    self.context = context
    self.policy = policy
    self.history = history.map { HistoryRow($0, frame.times, frame.catalog) }
    self.attention = attention
    self.connect = connect
    let scope = context.scope
    facts = [
      scope.tenant == nil
        ? Fact("Project number", ConnectView.copied(String(scope.projectNumber))) : nil,
      Fact("Sign-in", scope.isDisabled ? "off for all users" : prerequisites.words),
      Fact("Created", frame.times.moment(createdAt)),
    ].compactMap { $0 }
  }

  private var scope: Scope { context.scope }
  private var configuration: MFAConfiguration { policy.configuration }

  private var figures: [Figure] {
    [
      Figure(
        label: "Users", value: Words.number(policy.users),
        base: scope.tenant == nil ? "outside tenants" : "in this tenant"),
      Figure(
        label: "With a second factor", value: Words.number(policy.enrolledUsers),
        base: "\(Meter.percent(policy.enrolledUsers, of: policy.users)) of users"),
      Figure(
        label: "Valid codes at any moment", value: codes,
        base: configuration.isTOTPOn ? "of 1,000,000" : "TOTP is off"),
    ]
  }

  private var codes: String {
    configuration.accepted.map { Words.number($0.codes) } ?? "none"
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .list("links") { $0.context.links },
    .text("name") { $0.scope.name },
    .text("kind") { $0.scope.kind },
    .text("id") { $0.scope.objectID },
    .flag("hasAttention") { !$0.attention.isEmpty },
    .list("attention") { $0.attention },
    .object("connect") { $0.connect },
    .list("figures") { $0.figures },
    .text("policy") {
      $0.context.may(.readPolicy) ? ConsolePaths.policy($0.scope) : nil
    },
    .text("policyVerb") { $0.context.may(.changePolicy) ? "Change policy" : "View policy" },
    .markup("totp") { $0.configuration.chip },
    .markup("window") { WindowStrip.small($0.configuration) },
    .text("pattern") { $0.policy.patternName ?? "none" },
    .text("words") { WindowWords.explanation($0.configuration.accepted) },
    .text("audit") { $0.context.may(.readAudit) ? ConsolePaths.audit($0.scope) : nil },
    .flag("hasHistory") { !$0.history.isEmpty },
    .list("history") { $0.history },
    .text("factsHeading") { $0.scope.kind },
    .list("facts") { $0.facts },
  ]
}

/// A key figure with its label and base.
struct Figure: ViewModel {
  let label: String
  let value: String
  let base: String

  static let keys: Keys<Self> = [
    .text("label") { $0.label },
    .text("value") { $0.value },
    .text("base") { $0.base },
  ]
}
