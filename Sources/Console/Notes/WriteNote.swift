import Identity

/// `S/users/{uid}/notes/new`: adds a note about a user.
struct WriteNote: SupportAction {
  static let action = ConsoleAction.writeNote

  let pages: SupportPages

  func question(_ target: SupportTarget) async throws(Refusal) -> SupportConfirmation {
    let account = try await pages.account(target)
    var question = SupportConfirmation(
      user: account, title: "Add note",
      heading: HTML.heading("Add a note about", account.label, ""),
      consequences: [
        "Everyone who can view this user can read the note: \(Permission.findUsers.holders). The user isn’t notified.",
        "The note is kept until it’s deleted or the user is deleted; the newest \(Support.mostNotes) are shown. The audit log keeps it after that.",
        "Notes don’t change the account, so they don’t require a code and don’t count toward your hourly action limit.",
      ], button: "Save note")
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
      text: "Undo", href: ConsolePaths.noteRemoval(target.scope, target.uid, String(note.id)))
    return SupportResult(Flash(text: "Note saved.", link: undo), renewed: nil)
  }
}
