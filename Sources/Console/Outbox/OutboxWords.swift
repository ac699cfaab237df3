import Identity
import Templating

/// The purposes and states of messages as text.
enum OutboxWords {
  /// Returns the purpose of a message.
  static func purpose(_ message: OutboxEntry) -> String {
    purposes[message.purpose]
      ?? Words.sentence(message.purpose.split(separator: "-").joined(separator: " "))
  }

  static let purposes = [
    "reset-password": "Password reset link",
    "verify-email": "Email verification link",
    "sign-in": "Sign-in link",
    "verify-new-email": "Email change link",
    "recover-email": "Link to restore previous email",
    "revert-factor": "Link to undo second factor enrollment",
    "sms-enrollment": "Phone enrollment code",
    "sms-second-factor": "Second factor code",
    "sms-sign-in": "Sign-in code",
    "notice-factor-withdrawn": "Notice: second factor unenrolled",
    "notice-factors-removed": "Notice: second factor removed",
    "notice-factor-reverted": "Notice: second factor enrollment undone",
    "notice-factors-added": "Notice: second factor added",
    "notice-new-factor": "Notice: second factor enrolled",
    "notice-changes-allowed": "Notice: changes unlocked",
    "notice-factors-restored": "Notice: second factor restored",
    "notice-factor-suspended": "Notice: second factor suspended",
    "notice-factor-resumed": "Notice: second factor suspension ended",
    "notice-factor-renamed": "Notice: second factor renamed",
    "notice-codes-unlocked": "Notice: codes unlocked",
    "notice-sessions-ended": "Notice: sessions ended",
    "notice-policy-weakened": "Notice to owners: MFA policy weakened",
    "alert-changes-locked": "Alert: change reported by user",
    "enrollment-link": "Authenticator setup link",
    "notice-enrollment-link": "Notice: authenticator setup link sent",
    "notice-factor-enrolled": "Notice: authenticator app set up",
    "notice-recovery-code-used": "Notice: recovery code used",
    "notice-recovery-codes": "Notice: recovery codes generated",
    "notice-recovery-codes-voided": "Notice: recovery codes revoked",
    "notice-temporary-code": "Notice: temporary code generated",
    "notice-temporary-code-ended": "Notice: temporary code revoked",
    "notice-provider-linked": "Notice: sign-in method added",
    "notice-password-changed": "Notice: password changed",
    "notice-email-changed": "Notice: email changed",
    "notice-account-deleted": "Notice: account deleted",
  ]

  /// Returns a chip for the delivery state.
  static func chip(_ message: OutboxEntry) -> Markup {
    switch message.state {
    case .waiting: message.tries > 0 ? Chip.look("retrying") : Chip.off("pending")
    case .sent: Chip.on("sent")
    case .failed: Chip.bad("failed")
    case .expired: Chip.off("expired")
    }
  }

  static func name(_ filter: MessageFilter) -> String {
    switch filter {
    case .all: "All"
    case .waiting: "Pending"
    case .failed: "Failed"
    }
  }
}
