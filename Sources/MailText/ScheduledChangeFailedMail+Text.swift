import Identity
import Localization

extension ScheduledChangeFailedMail {
  var subject: Message { Message("mail.subject-scheduled-change", ["place": scope.place]) }

  func body(in catalog: Catalog) -> Message {
    Message(
      "mail.scheduled-change",
      [
        "by": .text(SafeName.unlinked(by)), "place": scope.place, "time": .moment(applyAt),
        "changes": changes.lines(in: catalog), "why": .message(failure.sentence),
      ])
  }
}

extension ScheduledPolicyChange.Failure {
  /// Says why the change wasn't made.
  fileprivate var sentence: Message {
    switch self {
    case .authorRemoved: Message("mail.schedule-author-removed")
    case .permissionLost: Message("mail.schedule-permission-lost")
    case .policyChanged: Message("mail.schedule-policy-changed")
    case .approvalRequired: Message("mail.schedule-approval-required")
    case .refusalNeedsEmail: Message("mail.schedule-refusal-needs-email")
    case .restored: Message("mail.schedule-restored")
    }
  }
}
