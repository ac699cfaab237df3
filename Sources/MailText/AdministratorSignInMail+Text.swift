import Identity
import Localization

extension AdministratorSignInMail {
  var subject: Message { Message("mail.subject-administrator-sign-in") }

  var body: Message {
    Message(
      "mail.administrator-sign-in",
      [
        "email": .text(email), "browser": .message(BrowserText.name(origin.userAgent)),
        "address": .text(origin.address), "at": .moment(at), "link": .text(link),
      ])
  }
}
