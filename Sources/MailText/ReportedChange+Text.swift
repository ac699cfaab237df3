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
    switch self {
    case .factorWithdrawn(let name), .factorReverted(let name): Self.removed([name])
    case .factorsRemoved(let names): Self.removed(names)
    case .factorsAdded(let names):
      Message(
        "mail.fact-factors-added", ["count": .number(names.count), "factors": .factors(names)])
    case .factorEnrolled(let name):
      Message("mail.fact-factor-enrolled", ["factor": .factor(name)])
    case .factorsRestored(let names):
      Message(
        "mail.fact-factors-restored",
        ["count": .number(names.count), "factors": .factors(names)])
    case .factorSuspended(let name, let until):
      Message(
        "mail.fact-factor-suspended", ["factor": .factor(name), "until": .end(until)])
    case .factorResumed(let name): Message("mail.fact-factor-resumed", ["factor": .factor(name)])
    case .factorRenamed(let old, let new):
      Message("mail.fact-factor-renamed", ["factor": .factor(old), "name": .factor(new)])
    case .changesAllowed: Message("mail.fact-changes-allowed")
    case .codesUnlocked: Message("mail.fact-codes-unlocked")
    case .sessionsEnded: Message("mail.fact-sessions-ended")
    case .temporaryCodeMade(let until):
      Message("mail.fact-temporary-code", ["until": .moment(until)])
    case .temporaryCodeEnded: Message("mail.fact-temporary-code-ended")
    case .recoveryCodesMade: Message("mail.fact-recovery-codes")
    case .recoveryCodesVoided: Message("mail.fact-recovery-codes-voided")
    case .recoveryCodeUsed(let left):
      left == 0
        ? Message("mail.fact-last-recovery-code-used")
        : Message("mail.fact-recovery-code-used", ["count": .number(left)])
    case .enrollmentLinkSent: Message("mail.fact-enrollment-link")
    case .factorEnrolledByLink(let name):
      Message("mail.fact-factor-enrolled-by-link", ["factor": .factor(name)])
    case .passwordChanged: Message("mail.fact-password-changed")
    case .providerLinked(let name):
      Message("mail.fact-provider-linked", ["provider": .text(SafeName.plain(name))])
    case .emailChanged: Message("mail.fact-email-changed")
    case .accountDeleted: Message("mail.fact-account-deleted")
    }
  }

  private static func removed(_ names: [String]) -> Message {
    Message(
      "mail.fact-factors-removed", ["count": .number(names.count), "factors": .factors(names)])
  }
}

extension ReportedChangeMail {
  var subject: Message {
    Message("mail.subject-reported-change", ["application": .application(change.scope)])
  }

  var body: Message {
    guard let account else {
      return Message(
        "mail.reported-change-of-hidden-account",
        [
          "at": .moment(at), "application": .application(change.scope),
          "changedAt": .moment(change.at), "fact": .message(change.fact.sentence),
        ])
    }
    return Message(
      "mail.reported-change",
      [
        "at": .moment(at), "application": .application(change.scope),
        "changedAt": .moment(change.at), "fact": .message(change.fact.sentence),
        "account": .text(SafeName.plain(account.label)),
        "uid": .text(SafeName.plain(account.id.text)), "link": .text(account.link),
      ])
  }
}
