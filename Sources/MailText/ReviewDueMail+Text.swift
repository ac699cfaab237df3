import Identity
import Localization

extension ReviewDueMail {
  private var project: Message.Value { .text(SafeName.plain(scope.projectName)) }

  var subject: Message { Message("mail.subject-review-due", ["project": project]) }

  var body: Message {
    Message(
      "mail.review-due",
      [
        "project": project, "signed": .date(LocalDate(Day(signOff.signedAt))),
        "due": .date(LocalDate(signOff.dueOn)), "link": .text(link),
      ])
  }
}
