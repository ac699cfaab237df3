import HTTP
import Identity
import Localization
import Markdown
import Templating
import Text

/// `S/guidance/edit`: the editor of a pool's support playbook, which previews it and saves it as a
/// new version.
struct GuidanceEditorPage: ConsolePage {
  let parts: ConsoleParts
  let view: Template<GuidanceEditorView>

  var guidance: PoolGuidance { identity.guidance }

  func show(_ context: PoolContext) async throws -> Response {
    let newest = try await guidance.read(context.pool)
    let stored = newest?.text ?? ""
    var draft = GuidanceDraft(text: stored, version: newest?.version.number ?? 0)
    draft.stored = stored
    if let asked = context.signedIn.query.text("version") {
      guard let number = Int(asked) else { throw Refusal.notFound }
      let old = try await guidance.read(context.pool, version: number)
      guard let old else { throw Refusal.notFound }
      draft.text = old.text
      draft.restored = number
    }
    return try await page(context, draft)
  }

  /// Shows the editor; the status is 422 for a fault, and 409 when someone else saved a version.
  func page(
    _ context: PoolContext, _ draft: GuidanceDraft, fault: Message? = nil
  ) async throws -> Response {
    let frame = try await frames.frame(
      Message("Edit · Support playbook"), in: context,
      crumbs: [
        Link(
          text: Message("Support playbook"),
          href: ConsolePaths.poolGuidance(context.pool))
      ], errors: fault.map { [FieldError(field: "text", text: $0)] } ?? [])
    var draft = draft
    if draft.stored == nil { draft.stored = try await guidance.read(context.pool)?.text }
    let model = GuidanceEditorView(frame: FrameView(frame), context: context, draft: draft)
    let status: Status =
      fault != nil ? .unprocessableContent : draft.theirs != nil ? .conflict : .ok
    return .html(view.render(model), status: status)
  }
}

struct GuidanceDraft: Sendable {
  var text: String
  /// The version that was the newest when editing started.
  var version: Int
  /// The text of the newest version; nil until it's read.
  var stored: String?
  var restored: Int?
  var preview: Markup?
  /// The version that someone else saved in the meantime; nil if none.
  var theirs: GuidanceText?

}

extension GuidanceDraft {
  init(_ form: Form) throws {
    guard let text = form.text("text", atMost: Form.longestText),
      let version = Int(form.trimmed("version"))
    else {
      throw Refusal.unreadableForm
    }
    self.init(text: text, version: version)
  }

  func rendered() -> Result<Markup, GuidanceFault> {
    let bytes = text.utf8.count(where: { $0 != 13 })
    guard bytes <= PoolGuidance.longest else { return .failure(.tooLong(bytes)) }
    do {
      return .success(try GuidanceProse.render(text, headingLevel: 3))
    } catch {
      return .failure(GuidanceFault(error))
    }
  }
}

struct GuidanceFault: Error {
  let text: Message

  private init(text: Message) {
    self.text = text
  }

  init(_ error: MarkdownError) {
    text =
      switch error {
      case .tooLong(let bytes):
        Message(
          "The text has {bytes} bytes, but the limit is {limit}. Shorten it.",
          ["bytes": .text(String(bytes)), "limit": .text(String(MarkdownError.mostBytes))])
      case .tooDeep(let line):
        Message(
          "Line {line} is nested more than {limit} levels deep. Simplify it.",
          ["line": .text(String(line)), "limit": .number(MarkdownError.mostLevels)])
      case .tooManyImages:
        Message(
          "The text has more than {limit} images. Remove some.",
          ["limit": .text(String(MarkdownError.mostImages))])
      case .outOfMemory:
        Message("The server doesn’t have enough memory to show this text. Shorten or simplify it.")
      }
  }

  static func tooLong(_ bytes: Int) -> GuidanceFault {
    let longest = PoolGuidance.longest
    return GuidanceFault(
      text: Message(
        one: """
          The text has {length} bytes, but the limit is {limit}. Shorten it by at least {count} \
          byte. Nothing was saved.
          """,
        other: """
          The text has {length} bytes, but the limit is {limit}. Shorten it by at least {count} \
          bytes. Nothing was saved.
          """,
        [
          "length": .number(bytes), "limit": .number(longest),
          "count": .number(bytes - longest),
        ]))
  }
}

struct GuidanceEditorView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let draft: GuidanceDraft

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { ConsolePaths.guidanceVersions($0.context.pool) },
    .text("previewAction") { ConsolePaths.guidanceEditor($0.context.pool) },
    .text("cancel") { ConsolePaths.poolGuidance($0.context.pool) },
    .text("version") { String($0.draft.version) },
    .text("poolName") { $0.context.pool.name },
    .text("text") { $0.draft.text },
    .text("stored") { $0.draft.stored },
    .text("error") { $0.frame.error(at: "text") },
    .text("longest") { _ in Message.value(.number(PoolGuidance.longest >> 10)) },
    .text("restored") { view in
      view.draft.restored.map {
        Message(
          "This is the text of version {number}. Saving restores it as a new version.",
          ["number": .text(String($0))])
      }
    },
    .optional("race") { view in
      view.draft.theirs.map { NewerVersion(text: $0, times: view.frame.times) }
    },
    .flag("showsPreview") { $0.draft.preview != nil },
    .markup("preview") { $0.draft.preview },
  ]

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

extension GuidanceEditorPage {
  /// `POST S/guidance/edit`: shows the text as support agents would see it, without saving it.
  func preview(_ context: PoolContext) async throws -> Response {
    var draft = try GuidanceDraft(context.signedIn.form)
    switch draft.rendered() {
    case .success(let preview):
      draft.preview = preview
      return try await page(context, draft)
    case .failure(let fault):
      return try await page(context, draft, fault: fault.text)
    }
  }

  /// `POST S/guidance/versions`: saves the text as a new version.
  func save(_ context: PoolContext) async throws -> Response {
    var draft = try GuidanceDraft(context.signedIn.form)
    if case .failure(let fault) = draft.rendered() {
      return try await page(context, draft, fault: fault.text)
    }
    do {
      let number = try await guidance.write(
        context.pool, draft.text, expecting: draft.version,
        by: .console(context.signedIn.plainRequest)
      ).value
      return frames.leave(
        number == draft.version
          ? Message("No changes made. This text is already saved.")
          : Message(
            "Saved as version {number}, effective immediately.", ["number": .text(String(number))]),
        for: context.signedIn, to: ConsolePaths.poolGuidance(context.pool))
    } catch let error as GuidanceError {
      switch error {
      case .tooLong(let bytes):
        return try await page(context, draft, fault: GuidanceFault.tooLong(bytes).text)
      case .changedMeanwhile(let newest):
        draft.theirs = newest
        draft.version = newest.version.number
        return try await page(context, draft)
      }
    } catch let denial as ActionDenial {
      throw Refusal.of(denial, ConsoleAction.editGuidance.requirements.permission)
    }
  }
}
