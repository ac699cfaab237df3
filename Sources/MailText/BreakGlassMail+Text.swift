import Identity
import Localization

extension BreakGlassMail {
  var subject: Message { Message("mail.subject-break-glass") }

  var body: Message {
    Message(
      "mail.break-glass",
      [
        "name": .text(SafeName.unlinked(name)), "email": .text(email),
        "browser": .message(BrowserText.name(origin.userAgent)),
        "address": .text(origin.address), "at": .moment(at), "link": .text(link),
      ])
  }
}
