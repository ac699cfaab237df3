import Identity
import Localization

extension ActionLinkMail {
  private var name: Message.Value { .text(SafeName.oneLine(project)) }

  var subject: Message {
    switch kind {
    case .passwordReset: Message("mail.subject-password-reset", ["project": name])
    case .verifyEmail: Message("mail.subject-verify-email", ["project": name])
    case .signIn: Message("mail.subject-sign-in", ["project": name])
    case .changeEmail: Message("mail.subject-change-email", ["project": name])
    case .recoverEmail: Message("mail.subject-recover-email", ["project": name])
    case .revertFactor: Message("mail.subject-revert-factor", ["project": name])
    }
  }

  var body: Message {
    Message(
      "mail.action-link",
      ["reason": .message(reason), "link": .text(link), "end": .message(end)])
  }

  private var reason: Message {
    switch kind {
    case .passwordReset:
      return Message("mail.password-reset", ["email": .text(email), "project": name])
    case .verifyEmail: return verification
    case .signIn: return Message("mail.sign-in", ["email": .text(email), "project": name])
    case .changeEmail:
      guard let newEmail else { return verification }
      return Message(
        "mail.change-email",
        ["project": name, "newEmail": .text(newEmail), "email": .text(email)])
    case .recoverEmail:
      guard let newEmail else {
        return Message("mail.recover-removed-email", ["project": name, "email": .text(email)])
      }
      return Message(
        "mail.recover-email",
        ["project": name, "email": .text(email), "newEmail": .text(newEmail)])
    case .revertFactor:
      let quoted = Message(
        "mail.factor-name", ["name": .text(SafeName.unlinked(factor ?? ""))])
      return Message(
        "mail.revert-factor",
        ["factor": .message(quoted), "email": .text(email), "project": name])
    }
  }

  private var verification: Message {
    Message("mail.verify-email", ["email": .text(email), "project": name])
  }

  private var expires: Message {
    let hours = Int(kind.lifetime / 3_600)
    if hours == 1 { return Message("mail.link-expires-in-an-hour") }
    return hours < 48
      ? Message("mail.link-expires-in-hours", ["count": .number(hours)])
      : Message("mail.link-expires-in-days", ["count": .number(hours / 24)])
  }

  private var end: Message {
    switch kind {
    case .recoverEmail, .revertFactor:
      Message("mail.no-action-needed", ["expires": .message(expires)])
    default: Message("mail.ignore-this-email", ["expires": .message(expires)])
    }
  }
}
