public import Identity
public import Localization

extension ScheduledPolicyChange.Failure {
  /// Says why the change wasn't made.
  public var sentence: Message {
    switch self {
    case .authorRemoved: Message("common.schedule-author-removed")
    case .permissionLost: Message("common.schedule-permission-lost")
    case .policyChanged: Message("common.schedule-policy-changed")
    case .approvalRequired: Message("common.schedule-approval-required")
    case .refusalNeedsEmail: Message("common.schedule-refusal-needs-email")
    case .restored: Message("common.schedule-restored")
    }
  }
}
