import HTTP
import Identity

/// `S/users/{uid}/notes/new`: asks for a note about a user, and keeps it; and
/// `S/users/{uid}/notes/{note}/removal`, which takes one back.
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
      text: "Take it back",
      href: ConsolePaths.noteRemoval(context.scope, uid, String(note.id)))
    return leave(Flash(text: "The note is kept.", link: undo), uid, context)
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
        return try await pages.leaveGone("The note is gone already.", uid, context)
      }
      let faults = try ActionErrorText.faults(error, context.signedIn.times)
      return try await removalPage(context, uid, id, answers, errors: faults)
    }
    return leave(
      Flash(text: "The note is taken back. The audit log keeps what it said."), uid, context)
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
      title: "Write a note", heading: HTML.heading("Write a note about", account.label, ""),
      consequences: [
        "Whoever may see this user reads it: owners, support and auditors. The user is not told.",
        "It stays until it is taken back or the user is deleted; the newest \(Support.mostNotes) are shown. The audit log keeps it beyond that.",
        "It changes nothing about the account, so it asks for no code of your own and is none of your actions in the hour.",
      ], button: "Keep the note", keep: "Write none",
      action: ConsolePaths.newNote(context.scope, uid))
    question.isDestructive = false
    question.isNote = true
    question.measure = .words
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
      title: "Take a note back",
      heading: HTML.heading("Take back the note about", found.account.label),
      consequences: [
        "It goes from the user’s page at once, for everybody.",
        "The audit log keeps what it said, with who wrote it and when. The user is not told.",
      ], button: "Take the note back", keep: "Leave it",
      action: ConsolePaths.noteRemoval(context.scope, uid, id), factsHeading: "The note",
      facts: [
        Fact("Text", HTML.isolated(note.text)), Fact("By", HTML.isolated(note.author)),
        Fact("Written", context.signedIn.times.moment(note.writtenAt)),
      ])
    question.measure = .words
    question.reasons = [.mistake, .asked, .other]
    return try await pages.ask(
      question, about: found.account, context, answers, errors: errors)
  }
}
