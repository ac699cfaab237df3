import HTTP
import Identity

/// `S/users/{uid}/notes/new`: adds a note about a user; and `S/users/{uid}/notes/{note}/removal`:
/// deletes one.
struct NotePage: Sendable {
  let identity: Identity
  let pages: SupportPages

  private var support: Support { identity.support }

  func ask(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    try await page(context, uid)
  }

  func write(_ context: ScopeContext, _ uid: String) async throws(Refusal) -> Response {
    let answers = ActionInput(context.signedIn.form)
    let note: UserNote
    do {
      note = try await support.writeNote(
        context.scope, ID(uid), answers.request(context.signedIn))
    } catch {
      let faults = try ActionErrorText.faults(error, context.signedIn.times)
      return try await page(context, uid, answers, errors: faults)
    }
    let undo = Link(
      text: "Undo",
      href: ConsolePaths.noteRemoval(context.scope, uid, String(note.id)))
    return leave(Flash(text: "Note saved.", link: undo), uid, context)
  }

  func askForRemoval(
    _ context: ScopeContext, _ uid: String, _ id: String
  ) async throws(Refusal) -> Response {
    try await removalPage(context, uid, id)
  }

  func remove(
    _ context: ScopeContext, _ uid: String, _ id: String
  ) async throws(Refusal) -> Response {
    guard let number = Int64(id) else { throw .notFound }
    let answers = ActionInput(context.signedIn.form)
    do {
      try await support.takeBackNote(
        context.scope, ID(uid), number, answers.request(context.signedIn))
    } catch {
      if case .nothingToDo = error {
        return try await pages.leaveGone("The note was already deleted.", uid, context)
      }
      let faults = try ActionErrorText.faults(error, context.signedIn.times)
      return try await removalPage(context, uid, id, answers, errors: faults)
    }
    return leave(
      Flash(text: "Note deleted. The audit log keeps its text."), uid, context)
  }

  private func leave(_ flash: Flash, _ uid: String, _ context: ScopeContext) -> Response {
    pages.ending.response(
      flash, context.signedIn, renewed: nil, to: ConsolePaths.user(context.scope, uid))
  }

  private func page(
    _ context: ScopeContext, _ uid: String, _ answers: ActionInput = ActionInput(),
    errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    let account = try await pages.account(uid, context, identity)
    var question = SupportConfirmation(
      title: "Add note", heading: HTML.heading("Add a note about", account.label, ""),
      consequences: [
        "Everyone who can view this user can read the note: \(Permission.findUsers.holders). The user isn’t notified.",
        "The note is kept until it’s deleted or the user is deleted; the newest \(Support.mostNotes) are shown. The audit log keeps it after that.",
        "Notes don’t change the account, so they don’t require a code and don’t count toward your hourly action limit.",
      ], button: "Save note", keep: "Cancel",
      action: ConsolePaths.newNote(context.scope, uid))
    question.isDestructive = false
    question.isNote = true
    question.performs = .writeNote
    question.reasons = [
      .asked, .locked, .lost, .stolen, .compromised, .replaced, .found, .left, .other,
    ]
    return try await pages.ask(question, about: account, context, answers, errors: errors)
  }

  private func removalPage(
    _ context: ScopeContext, _ uid: String, _ id: String, _ answers: ActionInput = ActionInput(),
    errors: [FieldError] = []
  ) async throws(Refusal) -> Response {
    guard let number = Int64(id) else { throw .notFound }
    let found: (account: Account, note: UserNote)
    do {
      found = try await support.note(context.scope, ID(uid), number)
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
    let note = found.note
    var question = SupportConfirmation(
      title: "Delete note",
      heading: HTML.heading("Delete the note about", found.account.label),
      consequences: [
        "The note is removed from the user’s page for everyone.",
        "The audit log keeps its text, author, and time. The user isn’t notified.",
      ], button: "Delete note", keep: "Cancel",
      action: ConsolePaths.noteRemoval(context.scope, uid, id), factsHeading: "Note",
      facts: [
        Fact("Text", HTML.isolated(note.text)), Fact("Author", HTML.isolated(note.author)),
        Fact("Created", context.signedIn.times.moment(note.writtenAt)),
      ])
    question.performs = .deleteNote
    question.reasons = [.mistake, .asked, .other]
    return try await pages.ask(
      question, about: found.account, context, answers, errors: errors)
  }
}
