import Identity
import Localization
import Templating

enum MessagesText {
  static func purpose(_ message: OutboxEntry) -> Message {
    purpose(message.purpose) ?? Message.verbatim(message.purpose)
  }

  static func purpose(_ code: String) -> Message? {
    guard let notice = UserNotice.Kind(rawValue: code) else { return purposes[code] }
    return Message("messages.purpose-notice", ["change": .message(change(notice))])
  }

  private static let purposes: [String: Message] = [
    "reset-password": Message("messages.purpose-reset-password"),
    "verify-email": Message("messages.purpose-verify-email"),
    "sign-in": Message("messages.purpose-sign-in"),
    "verify-new-email": Message("messages.purpose-verify-new-email"),
    "recover-email": Message("messages.purpose-recover-email"),
    "revert-factor": Message("messages.purpose-revert-factor"),
    "sms-enrollment": Message("messages.purpose-sms-enrollment"),
    "sms-second-factor": Message("messages.purpose-sms-second-factor"),
    "sms-sign-in": Message("messages.purpose-sms-sign-in"),
    "notice-policy-weakened": Message("messages.purpose-notice-policy-weakened"),
    "review-due": Message("messages.purpose-review-due"),
    "passkey": Message("messages.purpose-passkey"),
    "administrator-authenticator": Message("messages.purpose-administrator-authenticator"),
    "administrator-password": Message("messages.purpose-administrator-password"),
    "administrator-recovery-codes": Message("messages.purpose-administrator-recovery-codes"),
    "administrator-provider": Message("messages.purpose-administrator-provider"),
    "administrator-second-factors": Message("messages.purpose-administrator-second-factors"),
    "alert-changes-locked": Message("messages.purpose-alert-changes-locked"),
    "alert-activity": Message("messages.purpose-alert-activity"),
    "break-glass": Message("messages.purpose-break-glass"),
    "administrator-sign-in": Message("messages.purpose-administrator-sign-in"),
    "grant-given": Message("messages.purpose-grant-given"),
    "grant-changed": Message("messages.purpose-grant-changed"),
    "grant-revoked": Message("messages.purpose-grant-revoked"),
    "grant-ended": Message("messages.purpose-grant-ended"),
    "grant-ending": Message("messages.purpose-grant-ending"),
    "caller-code": Message("messages.purpose-caller-code"),
    "notice": Message("messages.purpose-notices"),
    "enrollment-link": Message("messages.purpose-enrollment-link"),
  ]

  static func change(_ notice: UserNotice.Kind) -> Message {
    switch notice {
    case .factorWithdrawn: Message("messages.change-factor-withdrawn")
    case .factorsRemoved: Message("messages.change-factors-removed")
    case .factorReverted: Message("messages.change-factor-reverted")
    case .factorsAdded: Message("messages.change-factors-added")
    case .factorEnrolled: Message("messages.change-new-factor")
    case .factorsRestored: Message("messages.change-factors-restored")
    case .factorSuspended: Message("messages.change-factor-suspended")
    case .factorResumed: Message("messages.change-factor-resumed")
    case .factorRenamed: Message("messages.change-factor-renamed")
    case .changesAllowed: Message("messages.change-changes-allowed")
    case .codesUnlocked: Message("messages.change-codes-unlocked")
    case .sessionsEnded: Message("messages.change-sessions-ended")
    case .temporaryCodeMade: Message("messages.change-temporary-code")
    case .temporaryCodeEnded: Message("messages.change-temporary-code-ended")
    case .recoveryCodesMade: Message("messages.change-recovery-codes")
    case .recoveryCodesVoided: Message("messages.change-recovery-codes-voided")
    case .recoveryCodeUsed: Message("messages.change-recovery-code-used")
    case .enrollmentLinkSent: Message("messages.change-enrollment-link")
    case .factorEnrolledByLink: Message("messages.change-factor-enrolled")
    case .passwordChanged: Message("messages.change-password-changed")
    case .providerLinked: Message("messages.change-provider-linked")
    case .emailChanged: Message("messages.change-email-changed")
    case .accountDeleted: Message("messages.change-account-deleted")
    }
  }

  static func chip(_ message: OutboxEntry) -> Markup {
    switch message.state {
    case .waiting:
      message.tries > 0
        ? Chip.look(Message("messages.state-retrying"))
        : Chip.off(Message("messages.state-pending"))
    case .sent: Chip.on(Message("messages.state-sent"))
    case .failed: Chip.bad(Message("messages.state-failed"))
    case .expired: Chip.off(Message("messages.state-expired"))
    case .withdrawn: Chip.off(Message("messages.state-not-sent"))
    }
  }

  static func name(_ filter: MessageFilter) -> Message {
    switch filter {
    case .all: Message("messages.show-every-state")
    case .waiting: Message("messages.show-pending")
    case .failed: Message("messages.show-failed")
    }
  }
}
