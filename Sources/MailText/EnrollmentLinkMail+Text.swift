import Identity
import Localization

extension EnrollmentLinkMail {
  var subject: Message { Message("mail.subject-enroll", ["application": .application(scope)]) }

  var body: Message {
    let (application, advice) = (
      Message.Value.application(scope), Message.Value.reporting(reportLink, scope)
    )
    guard isRequired else {
      return Message(
        "mail.enroll",
        [
          "application": application, "email": .text(email), "link": .text(link), "advice": advice,
        ])
    }
    return Message(
      "mail.enroll-required",
      ["application": application, "email": .text(email), "link": .text(link), "advice": advice])
  }
}
