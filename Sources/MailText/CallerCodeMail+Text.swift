import Identity
import Localization

extension CallerCodeMail {
  var subject: Message {
    Message("mail.subject-caller-code", ["application": .application(scope)])
  }

  var body: Message {
    Message(
      "mail.caller-code",
      [
        "application": .application(scope), "email": .text(email),
        "agent": .text(SafeName.unlinked(agent)), "code": .text(grouped),
      ])
  }
}
