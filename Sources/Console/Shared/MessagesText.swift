import Identity
import Localization
import Templating

enum MessagesText {
  static var noGateway: Message {
    Message(
      """
      There is no SMS gateway, so no phone receives a code. Codes are stored in Messages. Opening \
      them requires the {roles} role.
      """, ["roles": Permission.readMessages.roleNames])
  }

  static func purpose(_ message: OutboxEntry) -> Message {
    purpose(message.purpose) ?? Message.verbatim(message.purpose)
  }

  static func purpose(_ code: String) -> Message? {
    if let notice = UserNotice.Kind(rawValue: code) {
      return Message("Notice: {change}", ["change": .message(change(notice))])
    }
    return MessagePurpose(rawValue: code).map(name)
  }

  private static func name(_ purpose: MessagePurpose) -> Message {
    switch purpose {
    case .passwordReset: Message("Password reset link")
    case .verifyEmail: Message("Email verification link")
    case .signIn: Message("Sign-in link")
    case .changeEmail: Message("Email change link")
    case .recoverEmail: Message("Link to restore previous email")
    case .revertFactor: Message("Link to undo second factor enrollment")
    case .smsEnrollment: Message("Phone enrollment code")
    case .smsSecondFactor: Message("Second factor code")
    case .smsSignIn: Message("Sign-in code")
    case .policyWeakened: Message("Notice to owners: MFA policy weakened")
    case .signInNarrowed: Message("Notice: users without a sign-in method")
    case .reviewDue: Message("Reminder: policy review due")
    case .passkey: Message("Notice: passkey changed")
    case .administratorAuthenticator: Message("Notice: administrator authenticator app changed")
    case .administratorPassword: Message("Notice: administrator password changed")
    case .administratorRecoveryCodes: Message("Notice: new recovery codes for an administrator")
    case .administratorProvider:
      Message("Notice: sign-in provider link of an administrator changed")
    case .administratorSecondFactors: Message("Notice: second factors of an administrator reset")
    case .changesLocked: Message("Alert: change reported by user")
    case .activity: Message("Alert: unusual activity")
    case .usersShown: Message("Alert: many users viewed")
    case .breakGlass: Message("Break-glass sign-in")
    case .administratorSignIn: Message("Administrator sign-in from a new browser")
    case .grantGiven: Message("Administrator role granted")
    case .grantChanged: Message("End date of administrator role changed")
    case .grantRevoked: Message("Administrator role revoked")
    case .grantEnded: Message("Administrator role ended")
    case .grantEnding: Message("Administrator role ends within a week")
    case .callerCode: Message("Code to verify a caller")
    case .notices: Message("Security notices")
    case .enrollmentLink: Message("Enrollment link")
    case .linkCode: Message("Code for an enrollment link")
    }
  }

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
    case .factorResynchronized: Message("second factor resynchronized")
    case .clockOffsetCleared: Message("clock offset cleared")
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
    case .passwordSet: Message("password set")
    case .passwordRemoved: Message("password removed")
    case .phoneNumberSet: Message("phone number set")
    case .phoneNumberRemoved: Message("phone number removed")
    case .emailLinkAdded, .providerLinked: Message("sign-in method added")
    case .providerUnlinked: Message("sign-in method removed")
    case .emailChanged: Message("email changed")
    case .accountDeleted, .ownAccountDeleted: Message("account deleted")
    case .manyChanges: Message("many changes")
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

extension DeliveryProblem {
  var short: Message {
    if case .response(let text) = self { .verbatim(Formatted.short(text, 120)) } else { message }
  }

  /// The error; a mail server's response is shown as it is.
  var message: Message {
    switch self {
    case .undecryptable: Message("The text can’t be decrypted.")
    case .restored: Message("Not sent: a backup was restored after the message was created.")
    case .invalidRecipient: Message("Email can’t be sent to this address.")
    case .invalidField(let name):
      Message(
        "The {field} header field contains a character that isn’t allowed.", ["field": .text(name)])
    case .quoted(let code) where code.isEmpty:
      Message("The response quoted the message and isn’t stored.")
    case .quoted(let code):
      Message("{code} The response quoted the message and isn’t stored.", ["code": .text(code)])
    case .response(let text): .verbatim(text)
    }
  }
}
