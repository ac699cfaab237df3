import HTTP
import Identity
import Localization
import MailText
import Templating

/// `S/policy/scheduled`: the pending and ended scheduled changes of a policy.
struct ScheduledChangesPage: Sendable {
  let identity: Identity
  let actions: ActionForms
  let view: Template<ScheduledChangesView>

  func show(_ context: ScopeContext) async throws(Refusal) -> Response {
    let scope = context.scope
    let policy: Policy
    do {
      policy = try await identity.policies.read(scope)
    } catch {
      throw Refusal(error)
    }
    let changes = try await refusing { try await identity.policies.scheduled(scope) }
    let bases = try await refusing {
      try await identity.policies.edits(ofVersions: Set(changes.map(\.version)), of: scope)
    }
    let request = try await refusing { try await identity.approvals.waitingPolicy(in: scope) }
    var frame = try await actions.frames.frame(
      Message("scheduled-changes.scheduled-changes"), in: context)
    frame.crumbs = [Link(text: Message("common.mfa-policy"), href: ConsolePaths.policy(scope))]
    return .html(
      view.render(
        ScheduledChangesView(
          frame: FrameView(frame), context: context, policy: policy, bases: bases,
          changes: changes, requested: request.flatMap(RequestedChange.init))))
  }
}

struct ScheduledChangesView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let policy: Policy
  /// The policies that the changes were based on, by version.
  let bases: [Int: PolicyEdit]
  let changes: [ScheduledPolicyChange]
  /// The change that's scheduled once it's approved; nil if there's none.
  let requested: RequestedChange?

  private func rows(isPending: Bool) -> [ScheduledChangeRow] {
    changes.filter { ($0.state == .waiting) == isPending }.map {
      ScheduledChangeRow(
        change: $0, policy: policy, base: bases[$0.version], context: context)
    }
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("request") { view in view.requested.map { $0.sentence(view.frame.times) } },
    .text("requestLink") { view in
      view.context.may(.changePolicy) ? view.requested?.approval.address : nil
    },
    .flag("showsPending") { $0.requested == nil || !$0.rows(isPending: true).isEmpty },
    .flag("hasPending") { !$0.rows(isPending: true).isEmpty },
    .list("pending") { $0.rows(isPending: true) },
    .object("empty") { _ in
      EmptyView(
        heading: Message("scheduled-changes.empty"),
        sentence: Message("scheduled-changes.empty-hint"))
    },
    .flag("hasEnded") { !$0.rows(isPending: false).isEmpty },
    .list("ended") { $0.rows(isPending: false) },
    .text("zone") { $0.frame.times.zoneText },
  ]
}

/// A change for a later time that waits for a second administrator's approval.
struct RequestedChange: Sendable {
  let approval: Approval
  let applyAt: Instant

  /// Creates a requested change; nil if it takes effect as soon as it's approved.
  init?(_ request: (approval: Approval, policy: ProposedPolicy)) {
    guard let applyAt = request.policy.applyAt else { return nil }
    (approval, self.applyAt) = (request.approval, applyAt)
  }

  func sentence(_ times: Times) -> Message {
    Message(
      "scheduled-changes.waits-for-approval",
      ["time": times.value(applyAt), "deadline": times.value(approval.expiresAt)])
  }
}

/// A scheduled change in the list.
struct ScheduledChangeRow: ViewModel {
  let change: ScheduledPolicyChange
  /// The current policy.
  let policy: Policy
  /// The policy that the change was based on; nil if it can't be calculated.
  let base: PolicyEdit?
  let context: ScopeContext

  private var times: Times { context.signedIn.times }

  private var state: Markup {
    switch change.state {
    case .waiting: Chip.look(Message("scheduled-changes.state-pending"))
    case .applied: Chip.on(Message("scheduled-changes.state-made"))
    case .canceled: Chip.off(Message("scheduled-changes.state-canceled"))
    case .failed: Chip.bad(Message("scheduled-changes.state-failed"))
    }
  }

  /// Why the change failed, or will fail.
  private var why: Message? {
    if let failure = change.failure { return failure.sentence }
    return change.foreseenFailure.map {
      Message("scheduled-changes.will-fail", ["why": .message($0.sentence)])
    }
  }

  /// What the change does; empty if it ended, and the policy it was based on can't be calculated.
  private var changes: [ChangeRow] {
    guard let base = base ?? (change.state == .waiting ? policy.edit : nil) else { return [] }
    return PolicyChange.between(base, change.edit).map(ChangeRow.init)
  }

  static let keys: Keys<Self> = [
    .markup("at") { $0.times.moment($0.change.applyAt) },
    .list("changes") { $0.changes },
    .text("by") { $0.change.authorName },
    .markup("since") { $0.times.past($0.change.scheduledAt) },
    .text("approver") { $0.change.approverName },
    .text("reason") { $0.change.reason },
    .markup("state") { $0.state },
    .text("why") { $0.why },
    .text("canceler") { $0.change.cancelerName },
    .markup("endedAt") { row in row.change.endedAt.map(row.times.past) },
    .text("cancel") { row in
      row.change.state == .waiting && row.context.may(.changePolicy)
        ? ConsolePaths.scheduledChangeCancellation(row.context.scope, String(row.change.id)) : nil
    },
  ]
}
