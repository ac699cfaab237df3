import HTTP
import Identity
import Templating

struct OverviewView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let policy: Policy
  let history: [HistoryRow]
  let facts: [Fact]

  init(
    frame: Frame, context: ScopeContext, policy: Policy, history: [AuditRow], facts: [Fact]
  ) {
    self.frame = FrameView(frame)
    self.context = context
    self.policy = policy
    self.history = history.map { HistoryRow($0, frame.times) }
    self.facts = facts
  }

  private var scope: Scope { context.scope }
  private var configuration: MFAConfiguration { policy.configuration }

  private var attention: String? {
    if scope.isDisabled { return "Sign-in is switched off here: nobody of this user pool gets in." }
    if configuration.isUnstated {
      return
        "TOTP is on, but the configuration does not say so. The MFA policy page makes it explicit."
    }
    if !configuration.isTOTPOn && policy.enrolledUsers > 0 {
      let users = Words.count(policy.enrolledUsers, "user has a factor", "users have a factor")
      return "TOTP is off: \(users) that is not asked for."
    }
    return nil
  }

  private var figures: [Figure] {
    [
      Figure(
        label: "Users", value: Words.number(policy.users),
        base: scope.tenant == nil ? "outside of tenants" : "in this tenant"),
      Figure(
        label: "With a second factor", value: Words.number(policy.enrolledUsers),
        base: "\(Meter.percent(policy.enrolledUsers, of: policy.users)) of users"),
      Figure(
        label: "Codes that count", value: codes,
        base: configuration.isTOTPOn ? "of a million, at any moment" : "TOTP is off"),
    ]
  }

  private var codes: String {
    configuration.accepted.map { Words.number($0.codes) } ?? "none"
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("name") { $0.scope.name },
    .text("kind") { $0.scope.kind },
    .text("id") { $0.scope.tenant?.text ?? $0.scope.project.text },
    .text("attention") { $0.attention },
    .list("figures") { $0.figures },
    .text("policy") {
      $0.context.may(.readPolicy) ? ConsolePaths.policy($0.scope) : nil
    },
    .text("policyVerb") { $0.context.may(.changePolicy) ? "Change it" : "Open it" },
    .markup("totp") { $0.configuration.chip },
    .markup("window") { WindowStrip.small($0.configuration) },
    .text("pattern") { $0.policy.patternName ?? "none recorded" },
    .text("words") { WindowWords.explanation($0.configuration.accepted) },
    .text("audit") { $0.context.may(.readAudit) ? ConsolePaths.audit($0.scope) : nil },
    .flag("hasHistory") { !$0.history.isEmpty },
    .list("history") { $0.history },
    .text("factsHeading") { $0.scope.kind },
    .list("facts") { $0.facts },
  ]
}

/// A number that matters, with what it is a number of.
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
