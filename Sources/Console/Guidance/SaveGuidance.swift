import HTTP
import Identity
import Localization

/// `POST S/guidance/versions`: saves the text as a new version.
struct SaveGuidance: Sendable {
  let editor: GuidanceEditorPage

  func perform(_ context: PoolContext) async throws -> Response {
    var draft = try GuidanceDraft(context.signedIn.form)
    if case .failure(let fault) = draft.rendered() {
      return try await editor.page(context, draft, fault: fault.text)
    }
    do {
      let number = try await editor.guidance.write(
        context.pool, draft.text, expecting: draft.version, context.signedIn.plainRequest)
      editor.frames.leave(
        number == draft.version
          ? Message("No changes made. This text is already saved.")
          : Message(
            "Saved as version {number}, effective immediately.", ["number": .text(String(number))]),
        for: context.signedIn)
      return .redirect(to: ConsolePaths.poolGuidance(context.pool))
    } catch let error as GuidanceError {
      switch error {
      case .tooLong(let bytes):
        return try await editor.page(context, draft, fault: GuidanceFault.tooLong(bytes).text)
      case .changedMeanwhile(let newest):
        draft.theirs = newest
        draft.version = newest.version.number
        return try await editor.page(context, draft)
      case .poolNotFound: throw Refusal.notFound
      }
    } catch let denial as ActionDenial {
      throw Refusal.of(denial, ConsoleAction.editGuidance.requirements.permission)
    }
  }
}
