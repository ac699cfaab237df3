import HTTP
import Identity
import Markdown
import Templating
import Text

/// `S/guidance/edit`: edits a pool's guidance with a preview and saves it as a new version.
struct GuidanceEditorPage: Sendable {
  let guidance: ScopeGuidance
  let prose: GuidanceProse
  let frames: Frames
  let view: Template<GuidanceEditorView>

  /// Opens the editor with the newest version, or with a version to restore.
  func show(_ context: ScopeContext) async throws(Refusal) -> Response {
    let newest = try await newest(context)
    var draft = Draft(text: newest?.text ?? "", version: newest?.version.number ?? 0)
    if let asked = context.signedIn.query.text("version") {
      guard let number = Int(asked) else { throw .notFound }
      let old = try await refusing { try await guidance.read(context.scope, version: number) }
      guard let old else { throw .notFound }
      draft.text = old.text
      draft.restored = number
    }
    return try await page(context, draft)
  }

  /// Handles both buttons: Preview and Save.
  func save(_ context: ScopeContext) async throws(Refusal) -> Response {
    let form = context.signedIn.form
    guard let text = form.text("text", atMost: Form.longestText),
      let version = Int(form.trimmed("version"))
    else {
      throw .unreadableForm
    }
    var draft = Draft(text: text, version: version)
    let bytes = text.utf8.count(where: { $0 != 13 })
    guard bytes <= ScopeGuidance.longest else {
      return try await page(context, draft, fault: Self.tooLong(bytes))
    }
    do {
      draft.preview = try GuidanceProse.draft(text)
    } catch {
      return try await page(context, draft, fault: "\(error) Simplify it there.")
    }
    guard form["step"] == "save" else { return try await page(context, draft) }
    draft.preview = nil
    do {
      let number = try await guidance.write(
        context.scope, text, expecting: version, context.signedIn.plainRequest)
      let isUnchanged = number == version
      frames.leave(
        isUnchanged
          ? "No changes made. This text is already saved."
          : "Saved as version \(number), effective immediately.",
        for: context.signedIn)
      return .redirect(to: ConsolePaths.scopeGuidance(context.scope))
    } catch {
      switch try error.failure(of: .editGuidance) {
      case .tooLong(let bytes):
        return try await page(context, draft, fault: Self.tooLong(bytes))
      case .changedMeanwhile(let newest):
        draft.theirs = newest
        draft.version = newest.version.number
        return try await page(context, draft)
      case .scopeNotFound: throw .notFound
      case .unavailable(let cause): throw .unavailable(cause)
      }
    }
  }

  private static func tooLong(_ bytes: Int) -> String {
    let longest = ScopeGuidance.longest
    return
      "The text is \(Words.number(bytes)) bytes long; the limit is \(Words.number(longest)). Shorten it by at least \(Words.number(bytes - longest)) bytes. Nothing was saved."
  }

  private func newest(_ context: ScopeContext) async throws(Refusal) -> GuidanceText? {
    try await refusing { try await guidance.read(context.scope) }
  }

  private func page(
    _ context: ScopeContext, _ draft: Draft, fault: String? = nil
  ) async throws(Refusal) -> Response {
    var frame = try await frames.frame("Edit · Guidance for support", in: context, tab: .settings)
    frame.crumbs = [
      Link(text: "Guidance for support", href: ConsolePaths.scopeGuidance(context.scope))
    ]
    frame.errors = fault.map { [FieldError(field: "text", text: $0)] } ?? []
    let model = GuidanceEditorView(frame: FrameView(frame), context: context, draft: draft)
    let status: Status =
      fault != nil ? .unprocessableContent : draft.theirs != nil ? .conflict : .ok
    return .html(view.render(model), status: status)
  }

  /// The text being edited.
  struct Draft: Sendable {
    var text: String
    /// The version that was the newest when editing started.
    var version: Int
    /// The version being restored; nil if none.
    var restored: Int?
    var preview: Markup?
    /// The version that someone else saved in the meantime; nil if none.
    var theirs: GuidanceText?
  }
}

struct GuidanceEditorView: ViewModel {
  let frame: FrameView
  let context: ScopeContext
  let draft: GuidanceEditorPage.Draft

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("action") { ConsolePaths.guidanceEditor($0.context.scope) },
    .text("cancel") { ConsolePaths.scopeGuidance($0.context.scope) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("version") { String($0.draft.version) },
    .text("kindInSentence") { $0.context.scope.kindInSentence },
    .text("scopeName") { $0.context.scope.name },
    .text("text") { $0.draft.text },
    .text("error") { $0.frame.error(at: "text") },
    .text("longest") { _ in Words.number(ScopeGuidance.longest >> 10) },
    .text("restored") { view in
      view.draft.restored.map {
        "This is the text of version \($0). Saving restores it as a new version."
      }
    },
    .optional("race") { view in
      view.draft.theirs.map { NewerVersion(text: $0, times: view.frame.times) }
    },
    .flag("showsPreview") { $0.draft.preview != nil },
    .markup("preview") { $0.draft.preview },
  ]

  /// The version that someone else saved in the meantime.
  struct NewerVersion: ViewModel {
    let text: GuidanceText
    let times: Times

    static let keys: Keys<Self> = [
      .text("who") { $0.text.version.writtenBy },
      .markup("at") { $0.times.moment($0.text.version.writtenAt) },
      .number("number") { $0.text.version.number },
      .text("theirs") { $0.text.text },
    ]
  }
}
