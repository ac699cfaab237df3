import Identity
import Localization
import Templating

enum ApprovalText {
  /// Returns a sentence that says that approval is required and why.
  ///
  /// It's for removals, whose cause is never a weaker policy.
  static func need(_ cause: Approval.Cause) -> Message {
    switch cause {
    case .lastFactor: Message("approvals.need-last-factor")
    case .many, .weakerPolicy: Message("approvals.need-many")
    case .hour: Message("approvals.need-hour")
    case .unverifiedCaller: Message("approvals.need-unverified-caller")
    }
  }

  static func why(_ cause: Approval.Cause) -> Message {
    switch cause {
    case .lastFactor: Message("approvals.why-last-factor")
    case .many: Message("approvals.why-many")
    case .weakerPolicy: Message("approvals.why-weaker-policy")
    case .hour: Message("approvals.why-hour")
    case .unverifiedCaller: Message("approvals.why-unverified-caller")
    }
  }

  static func chip(_ state: Approval.State) -> Markup {
    switch state {
    case .waiting: Chip.look(Message("approvals.state-pending"))
    case .approved: Chip.on(Message("approvals.state-approved"))
    case .refused: Chip.bad(Message("approvals.state-rejected"))
    case .withdrawn: Chip.off(Message("approvals.state-withdrawn"))
    case .expired: Chip.off(Message("approvals.state-expired"))
    case .overtaken: Chip.off(Message("approvals.state-superseded"))
    }
  }

  /// Returns the requested action, without names: `Remove all factors`.
  static func what(_ approval: Approval) -> Message {
    switch approval.kind {
    case .factor: Message("approvals.remove-factor")
    case .factors: Message("approvals.remove-all-factors")
    case .policy: Message("approvals.weaken-policy")
    case .job: Message("approvals.remove-factors-of", ["count": .number(approval.users)])
    }
  }

  static func place(_ scope: Scope) -> String {
    scope.tenant == nil ? scope.name : "\(scope.projectName) / \(scope.name)"
  }

  static func waiting(_ count: Int) -> Message {
    count >= Approvals.mostWaiting
      ? Message("approvals.n-or-more-pending", ["count": .number(count)])
      : Message("approvals.n-pending", ["count": .number(count)])
  }
}
