import Identity
import Localization
import Templating

enum MessagesText {
  static func purpose(_ message: OutboxEntry) -> Message {
    purpose(message.purpose) ?? Message.verbatim(message.purpose)
  }

  static func purpose(_ code: String) -> Message? {
    guard let notice = UserNotice.Kind(rawValue: code) else { return purposes[code] }
    return Message("Notice: {change}", ["change": .message(change(notice))])
  }

  private static let purposes: [String: Message] = [
    "reset-password": Message("Password reset link"),
    "verify-email": Message("Email verification link"),
    "sign-in": Message("Sign-in link"),
    "verify-new-email": Message("Email change link"),
    "recover-email": Message("Link to restore previous email"),
    "revert-factor": Message("Link to undo second factor enrollment"),
    "sms-enrollment": Message("Phone enrollment code"),
    "sms-second-factor": Message("Second factor code"),
    "sms-sign-in": Message("Sign-in code"),
    "notice-policy-weakened": Message("Notice to owners: MFA policy weakened"),
    "review-due": Message("Reminder: policy review due"),
    "passkey": Message("Notice: passkey changed"),
    "administrator-authenticator": Message("Notice: administrator authenticator app changed"),
    "administrator-password": Message("Notice: administrator password changed"),
    "administrator-recovery-codes": Message("Notice: new recovery codes for an administrator"),
    "administrator-provider": Message("Notice: sign-in provider link of an administrator changed"),
    "administrator-second-factors": Message("Notice: second factors of an administrator reset"),
    "alert-changes-locked": Message("Alert: change reported by user"),
    "alert-activity": Message("Alert: unusual activity"),
    "break-glass": Message("Break-glass sign-in"),
    "administrator-sign-in": Message("Administrator sign-in from a new browser"),
    "grant-given": Message("Administrator role granted"),
    "grant-changed": Message("End date of administrator role changed"),
    "grant-revoked": Message("Administrator role revoked"),
    "grant-ended": Message("Administrator role ended"),
    "grant-ending": Message("Administrator role ends within a week"),
    "caller-code": Message("Code to verify a caller"),
    "notice": Message("Security notices"),
    "enrollment-link": Message("Enrollment link"),
  ]

  static func change(_ notice: UserNotice.Kind) -> Message {
    switch notice {
    case .factorWithdrawn: Message("second factor unenrolled")
    case .factorsRemoved: Message("second factor removed")
    case .factorReverted: Message("second factor enrollment undone")
    case .factorsAdded: Message("second factor added")
    case .factorEnrolled: Message("second factor enrolled")
    case .factorsRestored: Message("second factor restored")
    case .factorSuspended: Message("second factor suspended")
    case .factorResumed: Message("second factor suspension ended")
    case .factorRenamed: Message("second factor renamed")
    case .changesAllowed: Message("changes unlocked")
    case .codesUnlocked: Message("codes unlocked")
    case .sessionsEnded: Message("sessions ended")
    case .temporaryCodeMade: Message("temporary code generated")
    case .temporaryCodeEnded: Message("temporary code revoked")
    case .recoveryCodesMade: Message("recovery codes generated")
    case .recoveryCodesVoided: Message("recovery codes revoked")
    case .recoveryCodeUsed: Message("recovery code used")
    case .enrollmentLinkSent: Message("enrollment link sent")
    case .factorEnrolledByLink: Message("authenticator app set up")
    case .passwordChanged: Message("password changed")
    case .providerLinked: Message("sign-in method added")
    case .emailChanged: Message("email changed")
    case .accountDeleted: Message("account deleted")
    }
  }

  static func chip(_ message: OutboxEntry) -> Markup {
    switch message.state {
    case .waiting:
      message.tries > 0
        ? Chip.look(Message("retrying"))
        : Chip.off(Message("pending"))
    case .sent: Chip.on(Message("sent"))
    case .failed: Chip.bad(Message("failed"))
    case .expired: Chip.off(Message("expired"))
    case .withdrawn: Chip.off(Message("not sent"))
    }
  }

  static func name(_ filter: MessageFilter) -> Message {
    switch filter {
    case .all: Message("All")
    case .waiting: Message("Pending")
    case .failed: Message("Failed")
    }
  }
}
