public import Identity
public import Localization

extension ReportedChange.Fact {
  public var sentence: Message {
    switch self {
    case .notice(let notice): notice.sentence
    case .clause(let clause): .verbatim(clause.prefix(1).uppercased() + clause.dropFirst() + ".")
    }
  }
}

extension UserNotice {
  public var sentence: Message {
    switch kind {
    case .factorWithdrawn, .factorReverted: Self.removed([name])
    case .factorsRemoved: Self.removed(names)
    case .factorsAdded:
      Message(
        one: "The second factor {factors} was added.",
        other: "The second factors {factors} were added.",
        ["count": .number(names.count), "factors": .factors(names)])
    case .factorEnrolled:
      Message("The second factor {factor} was enrolled.", ["factor": .factor(name)])
    case .factorsRestored:
      Message(
        one: "The second factor {factors} was restored.",
        other: "The second factors {factors} were restored.",
        ["count": .number(names.count), "factors": .factors(names)])
    case .factorSuspended:
      Message(
        "The second factor {factor} was suspended through {until}.",
        ["factor": .factor(name), "until": .end(until)])
    case .factorResumed:
      Message("The second factor {factor} became active again.", ["factor": .factor(name)])
    case .factorResynchronized:
      Message(
        "The second factor {factor} was resynchronized with two of its codes.",
        ["factor": .factor(name)])
    case .clockOffsetCleared:
      Message(
        "The clock offset of the second factor {factor} was cleared.", ["factor": .factor(name)])
    case .factorRenamed:
      Message(
        "The second factor {factor} was renamed to {name}.",
        ["factor": .factor(name), "name": .factor(newName)])
    case .changesAllowed:
      Message("Your account, which was locked after your report, was unlocked.")
    case .codesUnlocked:
      Message("Your codes, which were locked after too many incorrect attempts, were unlocked.")
    case .sessionsEnded: Message("You were signed out everywhere.")
    case .temporaryCodeMade:
      Message(
        """
        A temporary code was generated. It can be used once, until {until}, instead of a code \
        from your authenticator app.
        """, ["until": .moment(until)])
    case .temporaryCodeEnded: Message("A temporary code was revoked.")
    case .recoveryCodesMade:
      Message("Recovery codes were generated, and any earlier ones were revoked.")
    case .recoveryCodesVoided: Message("Your recovery codes were revoked.")
    case .recoveryCodeUsed:
      left == 0
        ? Message("Your last recovery code was used to sign in.")
        : Message(
          one: "A recovery code was used to sign in. {count} recovery code is left.",
          other: "A recovery code was used to sign in. {count} recovery codes are left.",
          ["count": .number(left)])
    case .enrollmentLinkSent:
      Message("A link to set up an authenticator app was sent to your email address.")
    case .factorEnrolledByLink:
      Message(
        "The second factor {factor} was set up with a link that was sent to you.",
        ["factor": .factor(name)])
    case .passwordChanged: Message("Your password was changed.")
    case .providerLinked:
      Message("Sign-in with {provider} was added.", ["provider": .text(SafeName.plain(name))])
    case .passwordSet: Message("A password was set for your account.")
    case .passwordRemoved: Message("The password of your account was removed.")
    case .phoneNumberSet: Message("The phone number of your account was set.")
    case .phoneNumberRemoved: Message("The phone number of your account was removed.")
    case .emailLinkAdded: Message("Sign-in with a link sent to your email address was added.")
    case .providerUnlinked:
      Message("Sign-in with {provider} was removed.", ["provider": .text(SafeName.plain(name))])
    case .emailChanged: Message("This email address was replaced with another one.")
    case .accountDeleted, .ownAccountDeleted: Message("Your account was deleted.")
    case .manyChanges: Message("Your account was changed many times within an hour.")
    }
  }

  private static func removed(_ names: [String]) -> Message {
    Message(
      one: "The second factor {factors} was removed.",
      other: "The second factors {factors} were removed.",
      ["count": .number(names.count), "factors": .factors(names)])
  }
}

extension AccountLock.SignIn {
  /// How a locked account signs in.
  public var sentence: Message {
    switch self {
    case .open: Message("It signs in as before.")
    case .afterReset:
      Message(
        """
        No one can sign in to it until its password is reset with a link to the mailbox that \
        reported the change.
        """)
    case .afterDecision: Message("No one can sign in to it until an owner unlocks it.")
    }
  }
}

extension ReportedChangeMail {
  var subject: Message {
    Message(
      "{application}: a user reported a change they didn't make",
      ["application": .application(change.pool)])
  }

  private var effect: Message {
    change.pool.kind == .hosted
      ? Message(
        """
        It was signed out everywhere, and its temporary codes, recovery codes, and enrollment links \
        were revoked. {signIn}
        """, ["signIn": .message(signIn.sentence)])
      : Message("It still signs in as before where its users are: to prevent that, disable it.")
  }

  var body: Message {
    guard let account else {
      return Message(
        """
        Hello,

        On {at}, a user of {application} reported a change that they didn't make or request. It \
        was made on {changedAt}, and the email about it said:

        {fact}

        Only administrators who can search users can see which account it is. It's locked until an \
        owner reviews the report and unlocks it: how its user signs in can't be changed. {effect}

        An owner of {application} can find it on the overview page.

        Contact the user through a different channel than the one used to request the change, and \
        review other changes made by the same person or system.

        """,
        [
          "at": .moment(at), "application": .application(change.pool),
          "changedAt": .moment(change.at), "fact": .message(change.fact.sentence),
          "effect": .message(effect),
        ])
    }
    return Message(
      """
      Hello,

      On {at}, a user of {application} reported a change that they didn't make or request. It was \
      made on {changedAt}, and the email about it said:

      {fact}

      The account is {account} (UID {uid}). It's locked until an owner reviews the report and \
      unlocks it: how its user signs in can't be changed. {effect}

      View the account and its history:

      {link}

      Contact the user through a different channel than the one used to request the change, and \
      review other changes made by the same person or system.

      """,
      [
        "at": .moment(at), "application": .application(change.pool),
        "changedAt": .moment(change.at), "fact": .message(change.fact.sentence),
        "effect": .message(effect), "account": .text(SafeName.plain(account.label)),
        "uid": .text(SafeName.plain(account.id.text)), "link": .text(account.link),
      ])
  }
}
