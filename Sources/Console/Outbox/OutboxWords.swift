import Identity
import Templating

/// Messages to users in words.
enum OutboxWords {
  /// What a message is for.
  static func purpose(_ message: OutboxEntry) -> String {
    purposes[message.purpose]
      ?? Words.sentence(message.purpose.split(separator: "-").joined(separator: " "))
  }

  static let purposes = [
    "reset-password": "Link to a new password",
    "verify-email": "Link that verifies the address",
    "sign-in": "Link that signs in",
    "verify-new-email": "Link that changes the address",
    "recover-email": "Way back to the former address",
    "revert-factor": "Way to undo a new second factor",
    "sms-enrollment": "Code to enroll a phone",
    "sms-second-factor": "Code for a second factor",
    "sms-sign-in": "Code that signs in",
    "notice-factor-withdrawn": "Notice: second factor withdrawn",
    "notice-factors-removed": "Notice: second factor removed",
    "notice-factor-reverted": "Notice: new second factor undone",
    "notice-factors-added": "Notice: second factor added",
    "notice-new-factor": "Notice: second factor enrolled",
    "notice-changes-allowed": "Notice: changes allowed again",
    "notice-factors-restored": "Notice: second factor restored",
    "notice-factor-suspended": "Notice: second factor suspended",
    "notice-factor-resumed": "Notice: end of a suspension",
    "notice-factor-renamed": "Notice: second factor renamed",
    "notice-codes-unlocked": "Notice: codes unlocked",
    "notice-sessions-ended": "Notice: sessions ended",
    "notice-policy-weakened": "Notice to owners: MFA policy weakened",
    "alert-changes-locked": "Alert: change disowned by a user",
    "enrollment-link": "Link to set an authenticator app up",
    "notice-enrollment-link": "Notice: link to set an authenticator app up sent",
    "notice-factor-enrolled": "Notice: authenticator app set up",
    "notice-recovery-code-used": "Notice: recovery code used",
    "notice-recovery-codes": "Notice: recovery codes made",
    "notice-recovery-codes-voided": "Notice: recovery codes ended",
    "notice-temporary-code": "Notice: temporary code made",
    "notice-temporary-code-ended": "Notice: temporary code ended",
    "notice-provider-linked": "Notice: way to sign in added",
    "notice-password-changed": "Notice: password changed",
    "notice-email-changed": "Notice: address changed",
    "notice-account-deleted": "Notice: account deleted",
  ]

  /// What has become of it, in a word.
  static func chip(_ message: OutboxEntry) -> Markup {
    switch message.state {
    case .waiting: message.tries > 0 ? Chip.look("trying") : Chip.off("waiting")
    case .sent: Chip.on("sent")
    case .failed: Chip.bad("failed")
    case .expired: Chip.off("expired")
    }
  }

  static func name(_ filter: MessageFilter) -> String {
    switch filter {
    case .all: "All"
    case .waiting: "Waiting"
    case .failed: "Failed"
    }
  }
}
