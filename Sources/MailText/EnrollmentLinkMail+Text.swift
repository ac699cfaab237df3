import Identity
import Localization

extension EnrollmentLinkMail {
  var subject: Message { Message("mail.subject-enroll", ["application": .application(scope)]) }

  var body: Message {
    Message(
      "mail.enroll",
      [
        "application": .application(scope), "email": .text(email), "link": .text(link),
        "advice": .reporting(reportLink, scope),
      ])
  }
}
