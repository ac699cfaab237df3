import Identity
import Localization

extension NoticeMail {
  private var application: Message.Value { .application(pool) }
  private var when: Message.Value { .moment(at) }

  var subject: Message {
    switch notice {
    case .factorsRemoved(let names):
      Message(
        one: "{application}: a second factor was removed",
        other: "{application}: your second factors were removed",
        ["count": .number(names.count), "application": application])
    case .factorWithdrawn, .factorReverted:
      Message("{application}: a second factor was removed", ["application": application])
    case .factorsAdded(let names):
      Message(
        one: "{application}: a second factor was added",
        other: "{application}: second factors were added",
        ["count": .number(names.count), "application": application])
    case .factorEnrolled:
      Message("{application}: a second factor was enrolled", ["application": application])
    case .factorsRestored(let names):
      Message(
        one: "{application}: a second factor was restored",
        other: "{application}: your second factors were restored",
        ["count": .number(names.count), "application": application])
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
      Message(
        "{application}: your account was unlocked", ["application": application])
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

  private var happened: Message {
    switch notice {
    case .factorWithdrawn(let name):
      Message(
        """
        On {at}, the second factor {factor} was removed from your account by someone signed in to \
        it.
        """,
        ["at": when, "factor": .factor(name)])
    case .factorReverted(let name):
      Message(
        """
        On {at}, the second factor {factor} was removed from your account with the link in the \
        notification email.
        """, ["at": when, "factor": .factor(name)])
    case .factorEnrolled(let name):
      Message(
        """
        On {at}, the second factor {factor} was enrolled for your account by someone signed in to \
        it.
        """, ["at": when, "factor": .factor(name)])
    case .factorsRemoved(let names):
      bySupport(
        Message(
          one: "On {at}, the second factor {factors} was removed from your account.",
          other: "On {at}, the second factors {factors} were removed from your account.",
          [
            "count": .number(names.count), "at": when, "factors": .factors(names),
          ]))
    case .factorsAdded(let names):
      bySupport(
        Message(
          one: "On {at}, the second factor {factors} was added to your account.",
          other: "On {at}, the second factors {factors} were added to your account.",
          [
            "count": .number(names.count), "at": when, "factors": .factors(names),
          ]))
    case .factorsRestored(let names):
      bySupport(
        Message(
          one: "On {at}, the second factor {factors} was restored.",
          other: "On {at}, the second factors {factors} were restored.",
          ["count": .number(names.count), "at": when, "factors": .factors(names)]))
    case .factorSuspended(let name, let until):
      bySupport(
        Message(
          "On {at}, the second factor {factor} was suspended through {until}.",
          ["at": when, "factor": .factor(name), "until": .end(until)]))
    case .factorResumed(let name):
      bySupport(
        Message(
          "On {at}, the second factor {factor} became active again.",
          ["at": when, "factor": .factor(name)]))
    case .factorResynchronized(let name):
      bySupport(
        Message(
          "On {at}, the second factor {factor} was resynchronized with two of its codes.",
          ["at": when, "factor": .factor(name)]))
    case .clockOffsetCleared(let name):
      bySupport(
        Message(
          "On {at}, the clock offset of the second factor {factor} was cleared.",
          ["at": when, "factor": .factor(name)]))
    case .factorRenamed(let old, let new):
      bySupport(
        Message(
          "On {at}, the second factor {factor} was renamed to {name}.",
          ["at": when, "factor": .factor(old), "name": .factor(new)]))
    case .changesAllowed:
      bySupport(
        Message(
          "On {at}, your account, which was locked after your report, was unlocked.",
          ["at": when]))
    case .codesUnlocked:
      bySupport(
        Message(
          "On {at}, your codes, which were locked after too many incorrect attempts, were unlocked.",
          ["at": when]))
    case .sessionsEnded:
      bySupport(Message("On {at}, you were signed out everywhere.", ["at": when]))
    case .temporaryCodeMade(let until):
      bySupport(
        Message(
          """
          On {at}, a temporary code was generated. It can be used once, until {until}, instead \
          of a code from your authenticator app.
          """, ["at": when, "until": .moment(until)]))
    case .temporaryCodeEnded:
      bySupport(Message("On {at}, a temporary code was revoked.", ["at": when]))
    case .recoveryCodesMade:
      byUser(
        Message(
          "On {at}, recovery codes were generated, and any earlier ones were revoked.",
          ["at": when]))
    case .recoveryCodesVoided:
      bySupport(Message("On {at}, your recovery codes were revoked.", ["at": when]))
    case .recoveryCodeUsed(let left):
      byUser(
        left == 0
          ? Message("On {at}, your last recovery code was used to sign in.", ["at": when])
          : Message(
            one: "On {at}, a recovery code was used to sign in. {count} recovery code is left.",
            other: """
              On {at}, a recovery code was used to sign in. {count} recovery codes are left.
              """, ["count": .number(left), "at": when]))
    case .enrollmentLinkSent:
      bySupport(
        Message(
          "On {at}, a link to set up an authenticator app was sent to your email address.",
          ["at": when]))
    case .factorEnrolledByLink(let name):
      Message(
        "On {at}, the second factor {factor} was set up with a link that was sent to you.",
        ["at": when, "factor": .factor(name)])
    case .passwordChanged:
      bySupport(
        Message(
          "On {at}, the password of your account was changed.", ["at": when]))
    case .passwordSet:
      byUser(Message("On {at}, a password was set for your account.", ["at": when]))
    case .passwordRemoved:
      byUser(Message("On {at}, the password of your account was removed.", ["at": when]))
    case .phoneNumberSet:
      byUser(Message("On {at}, the phone number of your account was set.", ["at": when]))
    case .phoneNumberRemoved:
      byUser(Message("On {at}, the phone number of your account was removed.", ["at": when]))
    case .emailLinkAdded:
      byUser(
        Message(
          "On {at}, sign-in with a link sent to your email address was added to your account.",
          ["at": when]))
    case .providerLinked(let name):
      Message(
        "On {at}, sign-in with {provider} was added to your account.",
        ["at": when, "provider": .text(SafeName.plain(name))])
    case .providerUnlinked(let name):
      byUser(
        Message(
          "On {at}, sign-in with {provider} was removed from your account.",
          ["at": when, "provider": .text(SafeName.plain(name))]))
    case .emailChanged(let old):
      bySupport(
        Message(
          """
          On {at}, the email address of your account at {application} was changed. It's no longer \
          {email}.
          """,
          ["at": when, "application": application, "email": .text(old)]))
    case .accountDeleted:
      bySupport(Message("On {at}, your account was deleted.", ["at": when]))
    case .ownAccountDeleted:
      byUser(Message("On {at}, your account was deleted.", ["at": when]))
    case .manyChanges(let until):
      Message(
        """
        On {at}, your account was changed again, after we had sent emails about other changes. \
        Until {until}, we don't send one about each change.
        """, ["at": when, "until": .moment(until)])
    }
  }

  private func bySupport(_ happened: Message) -> Message {
    Message(
      "{happened} This was done by the {application} support team or one of its systems.",
      ["happened": .message(happened), "application": application])
  }

  private func byUser(_ happened: Message) -> Message {
    Message(
      "{happened} This was done by someone signed in to your account.",
      ["happened": .message(happened)])
  }

  private var consequence: Message {
    switch notice {
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
