import HTTP
import Identity
import Localization

/// `POST S/guidance/versions`: saves the text as a new version.
struct SaveGuidance: Sendable {
  let editor: GuidanceEditorPage

  func perform(_ context: ScopeContext) async throws(Refusal) -> Response {
    var draft = try GuidanceDraft(context.signedIn.form)
    if case .failure(let fault) = draft.rendered() {
      return try await editor.page(context, draft, fault: fault.text)
    }
    do {
      let number = try await editor.guidance.write(
        context.scope, draft.text, expecting: draft.version, context.signedIn.plainRequest)
      editor.frames.leave(
        number == draft.version
          ? Message("No changes made. This text is already saved.")
          : Message(
            "Saved as version {number}, effective immediately.", ["number": .text(String(number))]),
        for: context.signedIn)
      return .redirect(to: ConsolePaths.scopeGuidance(context.scope))
    } catch {
      switch try error.failure(of: .editGuidance) {
      case .tooLong(let bytes):
        return try await editor.page(context, draft, fault: GuidanceFault.tooLong(bytes).text)
      case .changedMeanwhile(let newest):
        draft.theirs = newest
        draft.version = newest.version.number
        return try await editor.page(context, draft)
      case .scopeNotFound: throw .notFound
      case .unavailable(let cause): throw .unavailable(cause)
      }
    }
  }
}
