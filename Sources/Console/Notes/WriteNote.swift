import Identity
import Localization
import Templating

/// `S/users/{uid}/notes/new`: adds a note about a user.
struct WriteNote: SupportAction {
  let action = ConsoleAction.writeNote

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    var question = SupportConfirmation(
      user: account, title: Message("notes.add"),
      heading: Markup(
        html: Message("notes.add-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("notes.readers", ["holders": .message(Permission.findUsers.holders)]),
        Message("notes.retention", ["count": .number(Support.mostNotes)]),
        Message("notes.no-code-required"),
      ], button: Message("notes.save"))
    question.isDestructive = false
    question.isNote = true
    question.reasons = [
      .asked, .locked, .lost, .stolen, .compromised, .replaced, .found, .left, .other,
    ]
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    let note = try await pages.support.writeNote(target.scope, target.user, request)
    let undo = Link(
      text: Message("notes.undo"),
      href: ConsolePaths.noteRemoval(target.scope, target.uid, String(note.id)))
    return SupportResult(Flash(text: Message("notes.saved"), link: undo), renewed: nil)
  }
}
