import Identity
import Localization
import Templating

/// The purposes and states of messages as text.
enum OutboxWords {
  /// Returns the purpose of a message.
  static func purpose(_ message: OutboxEntry) -> Message {
    purposes[message.purpose] ?? Message.verbatim(message.purpose)
  }

  static let purposes: [String: Message] = [
    "reset-password": Message("outbox.purpose-reset-password"),
    "verify-email": Message("outbox.purpose-verify-email"),
    "sign-in": Message("outbox.purpose-sign-in"),
    "verify-new-email": Message("outbox.purpose-verify-new-email"),
    "recover-email": Message("outbox.purpose-recover-email"),
    "revert-factor": Message("outbox.purpose-revert-factor"),
    "sms-enrollment": Message("outbox.purpose-sms-enrollment"),
    "sms-second-factor": Message("outbox.purpose-sms-second-factor"),
    "sms-sign-in": Message("outbox.purpose-sms-sign-in"),
    "notice-factor-withdrawn": Message("outbox.purpose-notice-factor-withdrawn"),
    "notice-factors-removed": Message("outbox.purpose-notice-factors-removed"),
    "notice-factor-reverted": Message("outbox.purpose-notice-factor-reverted"),
    "notice-factors-added": Message("outbox.purpose-notice-factors-added"),
    "notice-new-factor": Message("outbox.purpose-notice-new-factor"),
    "notice-changes-allowed": Message("outbox.purpose-notice-changes-allowed"),
    "notice-factors-restored": Message("outbox.purpose-notice-factors-restored"),
    "notice-factor-suspended": Message("outbox.purpose-notice-factor-suspended"),
    "notice-factor-resumed": Message("outbox.purpose-notice-factor-resumed"),
    "notice-factor-renamed": Message("outbox.purpose-notice-factor-renamed"),
    "notice-codes-unlocked": Message("outbox.purpose-notice-codes-unlocked"),
    "notice-sessions-ended": Message("outbox.purpose-notice-sessions-ended"),
    "notice-policy-weakened": Message("outbox.purpose-notice-policy-weakened"),
    "notice-scheduled-change-failed":
      Message("outbox.purpose-notice-scheduled-change-failed"),
    "alert-changes-locked": Message("outbox.purpose-alert-changes-locked"),
    "enrollment-link": Message("outbox.purpose-enrollment-link"),
    "notice-enrollment-link": Message("outbox.purpose-notice-enrollment-link"),
    "notice-factor-enrolled": Message("outbox.purpose-notice-factor-enrolled"),
    "notice-recovery-code-used": Message("outbox.purpose-notice-recovery-code-used"),
    "notice-recovery-codes": Message("outbox.purpose-notice-recovery-codes"),
    "notice-recovery-codes-voided": Message("outbox.purpose-notice-recovery-codes-voided"),
    "notice-temporary-code": Message("outbox.purpose-notice-temporary-code"),
    "notice-temporary-code-ended": Message("outbox.purpose-notice-temporary-code-ended"),
    "notice-provider-linked": Message("outbox.purpose-notice-provider-linked"),
    "notice-password-changed": Message("outbox.purpose-notice-password-changed"),
    "notice-email-changed": Message("outbox.purpose-notice-email-changed"),
    "notice-account-deleted": Message("outbox.purpose-notice-account-deleted"),
  ]

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
