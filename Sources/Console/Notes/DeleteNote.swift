import Identity
import Localization
import Templating

/// `S/users/{uid}/notes/{note}/removal`: deletes a note about a user.
struct DeleteNote: SupportAction {
  let action = ConsoleAction.deleteNote

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    guard let number = Int64(target.object) else { throw .notFound }
    let (account, note) = try await pages.finding { () async throws(ActionDenial) in
      try await pages.support.note(target.scope, target.user, number)
    }
    var question = SupportConfirmation(
      user: account, title: Message("notes.delete"),
      heading: Markup(
        html: Message("notes.delete-heading", ["user": .name(Formatted.short(account.label))])),
      consequences: [
        Message("notes.deletion-for-everyone"),
        Message("notes.deletion-keeps-audit-log"),
      ], button: Message("notes.delete"), factsHeading: Message("notes.note"),
      facts: [
        Fact(Message("notes.text"), HTML.isolated(note.text)),
        Fact(Message("notes.author"), HTML.isolated(note.author)),
        Fact(Message("common.created"), target.times.past(note.writtenAt)),
      ])
    question.reasons = [.mistake, .asked, .other]
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    guard let number = Int64(target.object) else { throw .accountNotFound }
    _ = try await pages.support.deleteNote(target.scope, target.user, number, request)
    return SupportResult(Flash(text: Message("notes.deleted")), renewed: nil)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    guard case .nothingToDo = denial else { return nil }
    return SupportClosing(text: Message("notes.already-deleted"), checksUser: true)
  }
}
