import Identity
import Localization

extension ReviewDueMail {
  private var project: Message.Value { .text(SafeName.plain(pool.projectName)) }

  var subject: Message { Message("{project}: policy review due", ["project": project]) }

  var body: Message {
    let signed = Message.Value.date(LocalDate(Day(signOff.signedAt)))
    let due = Message.Value.date(LocalDate(signOff.dueOn))
    guard isToReviewer else {
      return Message(
        """
        The next review of the MFA policies of {project} is due on {due}. {reviewer} signed off \
        the last one on {signed}, but can't sign off anymore.

        Review the policies and sign off:

        {link}

        """,
        [
          "project": project, "signed": signed, "due": due, "link": .text(link),
          "reviewer": .text(SafeName.plain(signOff.reviewerName)),
        ])
    }
    return Message(
      """
      The next review of the MFA policies of {project} is due on {due}. You signed off the last \
      one on {signed}.

      Review the policies and sign off:

      {link}

      """,
      ["project": project, "signed": signed, "due": due, "link": .text(link)])
  }
}
