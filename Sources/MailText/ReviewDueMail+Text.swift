import Identity
import Localization

extension ReviewDueMail {
  private var project: Message.Value { .text(SafeName.plain(scope.projectName)) }

  var subject: Message { Message("mail.subject-review-due", ["project": project]) }

  var body: Message {
    let signed = Message.Value.date(LocalDate(Day(signOff.signedAt)))
    let due = Message.Value.date(LocalDate(signOff.dueOn))
    guard isToReviewer else {
      return Message(
        "mail.review-due-other",
        [
          "project": project, "signed": signed, "due": due, "link": .text(link),
          "reviewer": .text(SafeName.plain(signOff.reviewerName)),
        ])
    }
    return Message(
      "mail.review-due",
      ["project": project, "signed": signed, "due": due, "link": .text(link)])
  }
}
