import HTTP
import Identity
import Localization
import MailText
import Templating

/// What is planned for a policy, and the links to its scheduled changes and versions.
struct PolicyPlans: ViewModel {
  let scheduled: String
  let versions: String
  /// When the pending scheduled change takes effect; nil if there's none.
  let pending: Markup?
  /// Why the pending change won't be made; nil if it will be.
  let failure: Message?
  /// How the policy differs from the policy file, or that the file can't be read; nil if it doesn't.
  let drift: Message?
  /// The fields that differ from the policy file, with its values.
  let drifts: [ChangeRow]

  init(
    _ context: ScopeContext, scheduled changes: [ScheduledPolicyChange],
    drift: [PolicyChange]?, file status: PolicyFileStatus, times: Times
  ) {
    scheduled = ConsolePaths.scheduledChanges(context.scope)
    versions = ConsolePaths.policyVersions(context.scope)
    let waiting = changes.first { $0.state == .waiting }
    failure = waiting?.foreseenFailure?.sentence
    pending = failure == nil ? waiting.map { times.moment($0.applyAt) } : nil
    self.drift = status.warning ?? drift.map { PolicyFileText.sentence($0.map(\.field)) }
    drifts = (drift ?? []).map(ChangeRow.init)
  }

  static let keys: Keys<Self> = [
    .text(\.scheduled),
    .text(\.versions),
    .markup(\.pending),
    .text("failing") { plans in
      plans.failure.map { Message("scheduled-changes.change-failing", ["why": .message($0)]) }
    },
    .text(\.drift),
    .list(\.drifts),
  ]
}
