import HTTP

/// `POST S/guidance/edit`: shows the text as support agents would see it, without saving it.
struct PreviewGuidance: Sendable {
  let editor: GuidanceEditorPage

  func perform(_ context: PoolContext) async throws -> Response {
    var draft = try GuidanceDraft(context.signedIn.form)
    switch draft.rendered() {
    case .success(let preview):
      draft.preview = preview
      return try await editor.page(context, draft)
    case .failure(let fault):
      return try await editor.page(context, draft, fault: fault.text)
    }
  }
}
