import Identity

/// `S/users/{uid}/notes/{note}/removal`: deletes a note about a user.
struct DeleteNote: SupportAction {
  static let action = ConsoleAction.deleteNote

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    guard let number = Int64(target.object) else { throw .notFound }
    let (account, note) = try await pages.finding { () async throws(ActionDenial) in
      try await pages.support.note(target.scope, target.user, number)
    }
    var question = SupportConfirmation(
      user: account, title: "Delete note",
      heading: HTML.heading("Delete the note about", account.label),
      consequences: [
        "The note is removed from the user’s page for everyone.",
        "The audit log keeps its text, author, and time. The user isn’t notified.",
      ], button: "Delete note", factsHeading: "Note",
      facts: [
        Fact("Text", HTML.isolated(note.text)), Fact("Author", HTML.isolated(note.author)),
        Fact("Created", target.times.moment(note.writtenAt)),
      ])
    question.reasons = [.mistake, .asked, .other]
    return question
  }

  func perform(
    _ target: SupportTarget, _ request: ActionRequest
  ) async throws(ActionDenial) -> SupportResult {
    guard let number = Int64(target.object) else { throw .accountNotFound }
    _ = try await pages.support.takeBackNote(target.scope, target.user, number, request)
    return SupportResult(
      Flash(text: "Note deleted. The audit log keeps its text."), renewed: nil)
  }

  func closing(_ denial: ActionDenial) -> SupportClosing? {
    guard case .nothingToDo = denial else { return nil }
    return SupportClosing(text: "The note was already deleted.", checksUser: true)
  }
}
