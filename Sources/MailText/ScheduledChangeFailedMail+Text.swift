import Identity
import Localization

extension ScheduledChangeFailedMail {
  var subject: Message { Message("mail.subject-scheduled-change", ["place": scope.place]) }

  func body(in catalog: Catalog) -> Message {
    Message(
      "mail.scheduled-change",
      [
        "by": .text(SafeName.unlinked(by)), "place": scope.place, "time": .moment(applyAt),
        "changes": changes.lines(in: catalog), "why": .message(failure.sentence),
      ])
  }
}
