import Identity
import Localization

extension NoticeMail {
  private var application: Message.Value { .application(pool) }
  private var when: Message.Value { .moment(at) }
  private var factor: Message.Value { .factor(notice.name) }
  private var factors: Message.Value { .factors(notice.names) }
  private var count: Message.Value { .number(notice.names.count) }

  var subject: Message {
    switch notice.kind {
    case .factorsRemoved:
      Message(
        one: "{application}: a second factor was removed",
        other: "{application}: your second factors were removed",
        ["count": count, "application": application])
    case .factorWithdrawn, .factorReverted:
      Message("{application}: a second factor was removed", ["application": application])
    case .factorsAdded:
      Message(
        one: "{application}: a second factor was added",
        other: "{application}: second factors were added",
        ["count": count, "application": application])
    case .factorEnrolled:
      Message("{application}: a second factor was enrolled", ["application": application])
    case .factorsRestored:
      Message(
        one: "{application}: a second factor was restored",
        other: "{application}: your second factors were restored",
        ["count": count, "application": application])
    case .factorSuspended:
      Message("{application}: a second factor was suspended", ["application": application])
    case .factorResumed:
      Message("{application}: a second factor is active again", ["application": application])
    case .factorResynchronized:
      Message("{application}: a second factor was resynchronized", ["application": application])
    case .clockOffsetCleared:
      Message(
        "{application}: a clock offset of a second factor was cleared",
        ["application": application])
    case .factorRenamed:
      Message("{application}: a second factor was renamed", ["application": application])
    case .changesAllowed:
      Message("{application}: your account was unlocked", ["application": application])
    case .codesUnlocked:
      Message("{application}: your codes work again", ["application": application])
    case .sessionsEnded:
      Message("{application}: you were signed out everywhere", ["application": application])
    case .temporaryCodeMade:
      Message("{application}: a temporary code was generated", ["application": application])
    case .temporaryCodeEnded:
      Message("{application}: a temporary code was revoked", ["application": application])
    case .recoveryCodesMade:
      Message("{application}: new recovery codes were generated", ["application": application])
    case .recoveryCodesVoided:
      Message("{application}: your recovery codes were revoked", ["application": application])
    case .recoveryCodeUsed:
      Message("{application}: a recovery code was used", ["application": application])
    case .enrollmentLinkSent:
      Message(
        "{application}: a link to set up an authenticator app was sent",
        ["application": application])
    case .factorEnrolledByLink:
      Message("{application}: an authenticator app was set up", ["application": application])
    case .passwordChanged:
      Message("{application}: your password was changed", ["application": application])
    case .passwordSet:
      Message("{application}: a password was set", ["application": application])
    case .passwordRemoved:
      Message("{application}: your password was removed", ["application": application])
    case .phoneNumberSet:
      Message("{application}: your phone number was set", ["application": application])
    case .phoneNumberRemoved:
      Message("{application}: your phone number was removed", ["application": application])
    case .providerLinked, .emailLinkAdded:
      Message("{application}: another sign-in method was added", ["application": application])
    case .providerUnlinked:
      Message("{application}: a sign-in method was removed", ["application": application])
    case .emailChanged:
      Message("{application}: your email address was changed", ["application": application])
    case .accountDeleted, .ownAccountDeleted:
      Message("{application}: your account was deleted", ["application": application])
    case .manyChanges:
      Message("{application}: your account was changed many times", ["application": application])
    }
  }

  var body: Message {
    Message(
      """
      Hello,

      {happened}

      {consequence}

      {advice}

      {about} You can't turn off these emails, and replies aren't read.

      """,
      [
        "happened": .message(happened), "consequence": .message(consequence),
        "advice": advice, "about": .message(about),
      ])
  }

  private var about: Message {
    email.map {
      Message(
        "This security notice is about your account {email} at {application}.",
        ["email": .text($0), "application": application])
    }
      ?? Message(
        """
        This security notice is about your account at {application}, which has this email address \
        on file.
        """, ["application": application])
  }

  private var advice: Message.Value {
    reportLink.map { .reporting($0, pool) }
      ?? .message(
        Message(
          """
          If you didn't do or request this, someone may be trying to access your account. Contact \
          the {application} support team immediately.
          """, ["application": application]))
  }

  private var change: Message {
    switch notice.kind {
    case .factorWithdrawn:
      Message(
        """
        On {at}, the second factor {factor} was removed from your account by someone signed in to \
        it.
        """, ["at": when, "factor": factor])
    case .factorReverted:
      Message(
        """
        On {at}, the second factor {factor} was removed from your account with the link in the \
        notification email.
        """, ["at": when, "factor": factor])
    case .factorEnrolled:
      Message(
        """
        On {at}, the second factor {factor} was enrolled for your account by someone signed in to \
        it.
        """, ["at": when, "factor": factor])
    case .factorsRemoved:
      Message(
        one: "On {at}, the second factor {factors} was removed from your account.",
        other: "On {at}, the second factors {factors} were removed from your account.",
        ["count": count, "at": when, "factors": factors])
    case .factorsAdded:
      Message(
        one: "On {at}, the second factor {factors} was added to your account.",
        other: "On {at}, the second factors {factors} were added to your account.",
        ["count": count, "at": when, "factors": factors])
    case .factorsRestored:
      Message(
        one: "On {at}, the second factor {factors} was restored.",
        other: "On {at}, the second factors {factors} were restored.",
        ["count": count, "at": when, "factors": factors])
    case .factorSuspended:
      Message(
        "On {at}, the second factor {factor} was suspended through {until}.",
        ["at": when, "factor": factor, "until": .end(notice.until)])
    case .factorResumed:
      Message(
        "On {at}, the second factor {factor} became active again.",
        ["at": when, "factor": factor])
    case .factorResynchronized:
      Message(
        "On {at}, the second factor {factor} was resynchronized with two of its codes.",
        ["at": when, "factor": factor])
    case .clockOffsetCleared:
      Message(
        "On {at}, the clock offset of the second factor {factor} was cleared.",
        ["at": when, "factor": factor])
    case .factorRenamed:
      Message(
        "On {at}, the second factor {factor} was renamed to {name}.",
        ["at": when, "factor": factor, "name": .factor(notice.newName)])
    case .changesAllowed:
      Message(
        "On {at}, your account, which was locked after your report, was unlocked.",
        ["at": when])
    case .codesUnlocked:
      Message(
        "On {at}, your codes, which were locked after too many incorrect attempts, were unlocked.",
        ["at": when])
    case .sessionsEnded:
      Message("On {at}, you were signed out everywhere.", ["at": when])
    case .temporaryCodeMade:
      Message(
        """
        On {at}, a temporary code was generated. It can be used once, until {until}, instead \
        of a code from your authenticator app.
        """, ["at": when, "until": .moment(notice.until)])
    case .temporaryCodeEnded:
      Message("On {at}, a temporary code was revoked.", ["at": when])
    case .recoveryCodesMade:
      Message(
        "On {at}, recovery codes were generated, and any earlier ones were revoked.",
        ["at": when])
    case .recoveryCodesVoided:
      Message("On {at}, your recovery codes were revoked.", ["at": when])
    case .recoveryCodeUsed:
      notice.left == 0
        ? Message("On {at}, your last recovery code was used to sign in.", ["at": when])
        : Message(
          one: "On {at}, a recovery code was used to sign in. {count} recovery code is left.",
          other: """
            On {at}, a recovery code was used to sign in. {count} recovery codes are left.
            """, ["count": .number(notice.left), "at": when])
    case .enrollmentLinkSent:
      Message(
        "On {at}, a link to set up an authenticator app was sent to your email address.",
        ["at": when])
    case .factorEnrolledByLink:
      Message(
        "On {at}, the second factor {factor} was set up with a link that was sent to you.",
        ["at": when, "factor": factor])
    case .passwordChanged:
      Message("On {at}, the password of your account was changed.", ["at": when])
    case .passwordSet:
      Message("On {at}, a password was set for your account.", ["at": when])
    case .passwordRemoved:
      Message("On {at}, the password of your account was removed.", ["at": when])
    case .phoneNumberSet:
      Message("On {at}, the phone number of your account was set.", ["at": when])
    case .phoneNumberRemoved:
      Message("On {at}, the phone number of your account was removed.", ["at": when])
    case .emailLinkAdded:
      Message(
        "On {at}, sign-in with a link sent to your email address was added to your account.",
        ["at": when])
    case .providerLinked:
      Message(
        "On {at}, sign-in with {provider} was added to your account.",
        ["at": when, "provider": .text(SafeName.plain(notice.name))])
    case .providerUnlinked:
      Message(
        "On {at}, sign-in with {provider} was removed from your account.",
        ["at": when, "provider": .text(SafeName.plain(notice.name))])
    case .emailChanged:
      Message(
        """
        On {at}, the email address of your account at {application} was changed. It's no longer \
        {email}.
        """, ["at": when, "application": application, "email": .text(notice.name)])
    case .accountDeleted, .ownAccountDeleted:
      Message("On {at}, your account was deleted.", ["at": when])
    case .manyChanges:
      Message(
        """
        On {at}, your account was changed again, after we had sent emails about other changes. \
        Until {until}, we don't send one about each change.
        """, ["at": when, "until": .moment(notice.until)])
    }
  }

  private var happened: Message {
    switch notice.kind {
    case .factorWithdrawn, .factorReverted, .factorEnrolled, .factorEnrolledByLink, .providerLinked,
      .manyChanges:
      change
    case let kind where !kind.isAlert:
      Message(
        "{happened} This was done by the {application} support team or one of its systems.",
        ["happened": .message(change), "application": application])
    default:
      Message(
        "{happened} This was done by someone signed in to your account.",
        ["happened": .message(change)])
    }
  }

  private var consequence: Message {
    switch notice.kind {
    case .factorWithdrawn: Message("Codes from a removed factor are no longer required to sign in.")
    case .factorReverted, .factorsRemoved:
      Message(
        """
        Codes from a removed factor are no longer required to sign in. You've been signed out \
        everywhere.
        """)
    case .factorsAdded, .factorEnrolled:
      Message("From now on, you may be asked for a code from an added factor when you sign in.")
    case .factorsRestored:
      Message("From now on, you may be asked for a code from a restored factor when you sign in.")
    case .factorSuspended:
      Message(
        """
        A code is still required when you sign in, but codes from this factor are rejected. The \
        suspension ends automatically.
        """)
    case .factorResynchronized:
      Message("Its codes are accepted although its clock differs from ours.")
    case .clockOffsetCleared:
      Message("Its codes are accepted only if its clock is right.")
    case .factorRenamed:
      Message("The new name is shown when you're asked for its code. Its codes still work.")
    case .changesAllowed: Message("You can add and remove second factors again.")
    case .factorResumed, .codesUnlocked:
      Message("Codes from your authenticator app are accepted again.")
    case .sessionsEnded: Message("Sign in again to continue.")
    case .temporaryCodeMade:
      Message("Don't share the code with anyone. We'll never ask you for it.")
    case .temporaryCodeEnded: Message("It can no longer be used to sign in.")
    case .recoveryCodesMade: Message("Each code lets you sign in once without your device.")
    case .recoveryCodesVoided: Message("They can no longer be used to sign in.")
    case .recoveryCodeUsed: Message("It can't be used again.")
    case .enrollmentLinkSent: Message("The link can be used once and expires in 30 minutes.")
    case .factorEnrolledByLink: Message("From now on, its codes are required when you sign in.")
    case .passwordChanged:
      Message("The old password no longer works. You've been signed out everywhere.")
    case .passwordSet:
      Message(
        "An earlier password no longer works. Other devices have been signed out.")
    case .passwordRemoved:
      Message("Neither it nor a link in an email signs in to your account anymore.")
    case .phoneNumberSet:
      Message("From now on, a code sent to this number signs in to your account.")
    case .phoneNumberRemoved: Message("It no longer signs in to your account.")
    case .emailLinkAdded:
      Message("From now on, anyone who can read your email can sign in to your account.")
    case .providerUnlinked: Message("It no longer signs in to your account.")
    case .providerLinked:
      Message(
        "From now on, anyone with access to that provider account can sign in to your account.")
    case .emailChanged:
      Message("Emails about the account go to the new address. You've been signed out everywhere.")
    case .accountDeleted, .ownAccountDeleted:
      Message("No one can sign in to it anymore. You've been signed out everywhere.")
    case .manyChanges:
      Message("Check how you sign in: the password, the phone number, and the second factors.")
    }
  }
}
