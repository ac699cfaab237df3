import HTTP
import Identity
import Templating

/// `S/users/{uid}/factors/{enrolment}/removal`: asks, and removes a factor.
struct RemovalPage: Sendable {
  let unenrolments: Unenrolments
  let frames: Frames
  let view: Template<RemovalView>

  func ask(
    _ context: ScopeContext, _ uid: String, _ enrolment: String
  ) async throws(Refusal) -> Response {
    try await page(context, uid, enrolment, reason: "", note: "", errors: [])
  }

  func remove(
    _ context: ScopeContext, _ uid: String, _ enrolment: String
  ) async throws(Refusal) -> Response {
    let typed = context.signedIn.form.trimmed("reason")
    let note = context.signedIn.form.trimmed("note")
    guard let reason = DeskReason(rawValue: typed) else {
      let fault = FieldError(field: "reason", text: "Choose the reason that fits best.")
      return try await page(context, uid, enrolment, reason: typed, note: note, errors: [fault])
    }
    let removal: Removal
    do {
      removal = try await unenrolments.remove(
        context.scope, ID(uid), ID(enrolment), reason: reason, note: note,
        by: context.signedIn.author)
    } catch {
      let fault = try Self.fault(error)
      return try await page(context, uid, enrolment, reason: typed, note: note, errors: [fault])
    }
    frames.leave(Self.words(removal), for: context.signedIn)
    return .redirect(to: ConsolePaths.user(context.scope, uid))
  }

  /// What was done, for the page that follows.
  private static func words(_ removal: Removal) -> String {
    let name = Words.isolated(removal.factor.label)
    let sessions = SessionWords.ended(removal.sessionsEnded)
    let next =
      removal.factorsLeft == 0
      ? "The password alone lets this user in until they enrol again."
      : "\(Words.count(removal.factorsLeft, "other factor stays", "other factors stay"))."
    return "Removed the factor “\(name)”. \(sessions) \(next)"
  }

  private func page(
    _ context: ScopeContext, _ uid: String, _ enrolment: String, reason: String, note: String,
    errors: [FieldError]
  ) async throws(Refusal) -> Response {
    let removal: Removal
    do {
      removal = try await unenrolments.consequences(context.scope, ID(uid), ID(enrolment))
    } catch {
      guard case .unavailable = error else { throw .notFound }
      throw .unavailable(error)
    }
    let scope = context.scope
    let user = Words.isolated(removal.account.label)
    var frame = try await frames.frame(
      "Remove a factor · \(user) · Users", in: context, tab: .users)
    frame.errors = errors
    frame.crumbs = Link.crumbs(to: removal.account, in: scope)
    let model = RemovalView(
      frame: FrameView(frame), context: context, removal: removal, reason: reason, note: note)
    return .html(view.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }

  static func fault(_ error: UnenrolmentError) throws(Refusal) -> FieldError {
    switch error {
    case .noteRequired:
      FieldError(field: "note", text: "Say in the note what the other reason is.")
    case .noteTooLong:
      FieldError(
        field: "note",
        text: "Shorten the note to \(Words.number(Unenrolments.longestNote)) characters.")
    case .accountNotFound, .factorNotFound: throw .notFound
    case .unavailable: throw .unavailable(error)
    }
  }
}
