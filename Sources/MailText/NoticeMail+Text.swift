import Identity
import Localization

extension NoticeMail {
  private var application: Message.Value { .application(scope) }
  private var account: Message.Value { .account(email, in: scope) }
  private var when: Message.Value { .moment(at) }

  var subject: Message {
    switch notice {
    case .factorsRemoved(let names):
      Message(
        "mail.subject-factors-removed",
        ["count": .number(names.count), "application": application])
    case .factorWithdrawn, .factorReverted:
      Message("mail.subject-factor-removed", ["application": application])
    case .factorsAdded(let names):
      Message(
        "mail.subject-factors-added", ["count": .number(names.count), "application": application])
    case .factorEnrolled: Message("mail.subject-factor-enrolled", ["application": application])
    case .factorsRestored(let names):
      Message(
        "mail.subject-factors-restored",
        ["count": .number(names.count), "application": application])
    case .factorSuspended: Message("mail.subject-factor-suspended", ["application": application])
    case .factorResumed: Message("mail.subject-factor-resumed", ["application": application])
    case .factorRenamed: Message("mail.subject-factor-renamed", ["application": application])
    case .changesAllowed: Message("mail.subject-changes-allowed", ["application": application])
    case .codesUnlocked: Message("mail.subject-codes-unlocked", ["application": application])
    case .sessionsEnded: Message("mail.subject-sessions-ended", ["application": application])
    case .temporaryCodeMade: Message("mail.subject-temporary-code", ["application": application])
    case .temporaryCodeEnded:
      Message("mail.subject-temporary-code-ended", ["application": application])
    case .recoveryCodesMade: Message("mail.subject-recovery-codes", ["application": application])
    case .recoveryCodesVoided:
      Message("mail.subject-recovery-codes-voided", ["application": application])
    case .recoveryCodeUsed:
      Message("mail.subject-recovery-code-used", ["application": application])
    case .enrollmentLinkSent: Message("mail.subject-enrollment-link", ["application": application])
    case .factorEnrolledByLink:
      Message("mail.subject-factor-enrolled-by-link", ["application": application])
    case .passwordChanged: Message("mail.subject-password-changed", ["application": application])
    case .providerLinked: Message("mail.subject-provider-linked", ["application": application])
    case .emailChanged: Message("mail.subject-email-changed", ["application": application])
    case .accountDeleted: Message("mail.subject-account-deleted", ["application": application])
    }
  }

  var body: Message {
    Message(
      "mail.notice",
      [
        "happened": .message(happened), "consequence": .message(consequence),
        "advice": advice, "account": account,
      ])
  }

  private var advice: Message.Value {
    reportLink.map { .reporting($0, scope) }
      ?? .message(Message("mail.contact-support", ["application": application]))
  }

  private var happened: Message {
    switch notice {
    case .factorWithdrawn(let name):
      Message(
        "mail.happened-factor-withdrawn",
        ["at": when, "factor": .factor(name), "account": account])
    case .factorReverted(let name):
      Message(
        "mail.happened-factor-reverted", ["at": when, "factor": .factor(name), "account": account])
    case .factorEnrolled(let name):
      Message(
        "mail.happened-factor-enrolled", ["at": when, "factor": .factor(name), "account": account])
    case .factorsRemoved(let names):
      bySupport(
        Message(
          "mail.happened-factors-removed",
          [
            "count": .number(names.count), "at": when, "factors": .factors(names),
            "account": account,
          ]))
    case .factorsAdded(let names):
      bySupport(
        Message(
          "mail.happened-factors-added",
          [
            "count": .number(names.count), "at": when, "factors": .factors(names),
            "account": account,
          ]))
    case .factorsRestored(let names):
      bySupport(
        toAccount(
          Message(
            "mail.happened-factors-restored",
            ["count": .number(names.count), "at": when, "factors": .factors(names)])))
    case .factorSuspended(let name, let until):
      bySupport(
        toAccount(
          Message(
            "mail.happened-factor-suspended",
            ["at": when, "factor": .factor(name), "until": .end(until)])))
    case .factorResumed(let name):
      bySupport(
        toAccount(
          Message("mail.happened-factor-resumed", ["at": when, "factor": .factor(name)])))
    case .factorRenamed(let old, let new):
      bySupport(
        toAccount(
          Message(
            "mail.happened-factor-renamed",
            ["at": when, "factor": .factor(old), "name": .factor(new)])))
    case .changesAllowed:
      bySupport(toAccount(Message("mail.happened-changes-allowed", ["at": when])))
    case .codesUnlocked:
      bySupport(toAccount(Message("mail.happened-codes-unlocked", ["at": when])))
    case .sessionsEnded:
      bySupport(toAccount(Message("mail.happened-sessions-ended", ["at": when])))
    case .temporaryCodeMade(let until):
      bySupport(
        toAccount(
          Message("mail.happened-temporary-code", ["at": when, "until": .moment(until)])))
    case .temporaryCodeEnded:
      bySupport(toAccount(Message("mail.happened-temporary-code-ended", ["at": when])))
    case .recoveryCodesMade:
      byUser(toAccount(Message("mail.happened-recovery-codes", ["at": when])))
    case .recoveryCodesVoided:
      bySupport(toAccount(Message("mail.happened-recovery-codes-voided", ["at": when])))
    case .recoveryCodeUsed(let left):
      byUser(
        toAccount(
          left == 0
            ? Message("mail.happened-last-recovery-code-used", ["at": when])
            : Message(
              "mail.happened-recovery-code-used", ["count": .number(left), "at": when])))
    case .enrollmentLinkSent:
      bySupport(toAccount(Message("mail.happened-enrollment-link", ["at": when])))
    case .factorEnrolledByLink(let name):
      toAccount(
        Message(
          "mail.happened-factor-enrolled-by-link", ["at": when, "factor": .factor(name)]))
    case .passwordChanged:
      bySupport(
        Message("mail.happened-password-changed", ["at": when, "account": account]))
    case .providerLinked(let name):
      Message(
        "mail.happened-provider-linked",
        ["at": when, "provider": .text(SafeName.plain(name)), "account": account])
    case .emailChanged(let old):
      bySupport(
        Message(
          "mail.happened-email-changed",
          ["at": when, "application": application, "email": .text(old)]))
    case .accountDeleted:
      bySupport(Message("mail.happened-account-deleted", ["at": when, "account": account]))
    }
  }

  private func toAccount(_ happened: Message) -> Message {
    Message("mail.happened-to-account", ["happened": .message(happened), "account": account])
  }

  private func bySupport(_ happened: Message) -> Message {
    Message(
      "mail.done-by-support", ["happened": .message(happened), "application": application])
  }

  private func byUser(_ happened: Message) -> Message {
    Message("mail.done-by-user", ["happened": .message(happened)])
  }

  private var consequence: Message {
    switch notice {
    case .factorWithdrawn: Message("mail.consequence-factor-withdrawn")
    case .factorReverted, .factorsRemoved: Message("mail.consequence-factors-removed")
    case .factorsAdded, .factorEnrolled: Message("mail.consequence-factors-added")
    case .factorsRestored: Message("mail.consequence-factors-restored")
    case .factorSuspended: Message("mail.consequence-factor-suspended")
    case .factorRenamed: Message("mail.consequence-factor-renamed")
    case .changesAllowed: Message("mail.consequence-changes-allowed")
    case .factorResumed, .codesUnlocked: Message("mail.consequence-codes-work")
    case .sessionsEnded: Message("mail.consequence-sessions-ended")
    case .temporaryCodeMade: Message("mail.consequence-temporary-code")
    case .temporaryCodeEnded: Message("mail.consequence-temporary-code-ended")
    case .recoveryCodesMade: Message("mail.consequence-recovery-codes")
    case .recoveryCodesVoided: Message("mail.consequence-recovery-codes-voided")
    case .recoveryCodeUsed: Message("mail.consequence-recovery-code-used")
    case .enrollmentLinkSent: Message("mail.consequence-enrollment-link")
    case .factorEnrolledByLink: Message("mail.consequence-factor-enrolled-by-link")
    case .passwordChanged: Message("mail.consequence-password-changed")
    case .providerLinked: Message("mail.consequence-provider-linked")
    case .emailChanged: Message("mail.consequence-email-changed")
    case .accountDeleted: Message("mail.consequence-account-deleted")
    }
  }
}
