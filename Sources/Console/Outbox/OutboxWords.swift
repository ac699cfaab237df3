import Identity
import Localization
import Templating

/// The purposes and states of messages as text.
enum OutboxWords {
  /// Returns the purpose of a message.
  static func purpose(_ message: OutboxEntry) -> Message {
    purpose(message.purpose) ?? Message.verbatim(message.purpose)
  }

  /// Returns the text of a purpose; nil if it's unknown.
  static func purpose(_ code: String) -> Message? {
    guard let notice = UserNotice.Kind(rawValue: code) else { return purposes[code] }
    return Message("outbox.purpose-notice", ["change": .message(change(notice))])
  }

  private static let purposes: [String: Message] = [
    "reset-password": Message("outbox.purpose-reset-password"),
    "verify-email": Message("outbox.purpose-verify-email"),
    "sign-in": Message("outbox.purpose-sign-in"),
    "verify-new-email": Message("outbox.purpose-verify-new-email"),
    "recover-email": Message("outbox.purpose-recover-email"),
    "revert-factor": Message("outbox.purpose-revert-factor"),
    "sms-enrollment": Message("outbox.purpose-sms-enrollment"),
    "sms-second-factor": Message("outbox.purpose-sms-second-factor"),
    "sms-sign-in": Message("outbox.purpose-sms-sign-in"),
    "notice-policy-weakened": Message("outbox.purpose-notice-policy-weakened"),
    "review-due": Message("outbox.purpose-review-due"),
    "passkey": Message("outbox.purpose-passkey"),
    "report": Message("outbox.purpose-report"),
    "notice-scheduled-change-failed":
      Message("outbox.purpose-notice-scheduled-change-failed"),
    "alert-changes-locked": Message("outbox.purpose-alert-changes-locked"),
    "alert-activity": Message("outbox.purpose-alert-activity"),
    "break-glass": Message("outbox.purpose-break-glass"),
    "administrator-sign-in": Message("outbox.purpose-administrator-sign-in"),
    "grant-given": Message("outbox.purpose-grant-given"),
    "grant-changed": Message("outbox.purpose-grant-changed"),
    "grant-revoked": Message("outbox.purpose-grant-revoked"),
    "grant-ended": Message("outbox.purpose-grant-ended"),
    "grant-ending": Message("outbox.purpose-grant-ending"),
    "caller-code": Message("outbox.purpose-caller-code"),
    "notice": Message("outbox.purpose-notices"),
    "test-email": Message("outbox.purpose-test-email"),
    "enrollment-link": Message("outbox.purpose-enrollment-link"),
  ]

  /// Returns the change that a notice is about.
  static func change(_ notice: UserNotice.Kind) -> Message {
    switch notice {
    case .factorWithdrawn: Message("outbox.change-factor-withdrawn")
    case .factorsRemoved: Message("outbox.change-factors-removed")
    case .factorReverted: Message("outbox.change-factor-reverted")
    case .factorsAdded: Message("outbox.change-factors-added")
    case .factorEnrolled: Message("outbox.change-new-factor")
    case .factorsRestored: Message("outbox.change-factors-restored")
    case .factorSuspended: Message("outbox.change-factor-suspended")
    case .factorResumed: Message("outbox.change-factor-resumed")
    case .factorRenamed: Message("outbox.change-factor-renamed")
    case .changesAllowed: Message("outbox.change-changes-allowed")
    case .codesUnlocked: Message("outbox.change-codes-unlocked")
    case .sessionsEnded: Message("outbox.change-sessions-ended")
    case .temporaryCodeMade: Message("outbox.change-temporary-code")
    case .temporaryCodeEnded: Message("outbox.change-temporary-code-ended")
    case .recoveryCodesMade: Message("outbox.change-recovery-codes")
    case .recoveryCodesVoided: Message("outbox.change-recovery-codes-voided")
    case .recoveryCodeUsed: Message("outbox.change-recovery-code-used")
    case .enrollmentLinkSent: Message("outbox.change-enrollment-link")
    case .factorEnrolledByLink: Message("outbox.change-factor-enrolled")
    case .passwordChanged: Message("outbox.change-password-changed")
    case .providerLinked: Message("outbox.change-provider-linked")
    case .emailChanged: Message("outbox.change-email-changed")
    case .addressBounces: Message("outbox.change-address-bounces")
    case .accountDeleted: Message("outbox.change-account-deleted")
    }
  }

  /// Returns a chip for the delivery state.
  static func chip(_ message: OutboxEntry) -> Markup {
    switch message.state {
    case .waiting:
      message.tries > 0
        ? Chip.look(Message("outbox.state-retrying")) : Chip.off(Message("outbox.state-pending"))
    case .sent: Chip.on(Message("outbox.state-sent"))
    case .failed: Chip.bad(Message("outbox.state-failed"))
    case .expired: Chip.off(Message("outbox.state-expired"))
    }
  }

  static func name(_ filter: MessageFilter) -> Message {
    switch filter {
    case .all: Message("outbox.show-every-state")
    case .waiting: Message("outbox.show-pending")
    case .failed: Message("outbox.show-failed")
    }
  }
}
