import HTTP
import Identity
import Localization
import Markdown
import Templating
import Text

/// `S/guidance/edit`: the editor of a pool's support playbook, which previews it and saves it as a
/// new version.
struct GuidanceEditorPage: Sendable {
  let guidance: PoolGuidance
  let frames: Frames
  let view: Template<GuidanceEditorView>

  func show(_ context: PoolContext) async throws -> Response {
    let newest = try await guidance.read(context.pool)
    var draft = GuidanceDraft(text: newest?.text ?? "", version: newest?.version.number ?? 0)
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
    var frame = try await frames.frame(Message("Edit · Support playbook"), in: context)
    frame.crumbs = [
      Link(
        text: Message("Support playbook"),
        href: ConsolePaths.poolGuidance(context.pool))
    ]
    frame.errors = fault.map { [FieldError(field: "text", text: $0)] } ?? []
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
  var restored: Int?
  var preview: Markup?
  /// The version that someone else saved in the meantime; nil if none.
  var theirs: GuidanceText?

  init(text: String, version: Int) {
    self.text = text
    self.version = version
  }

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
      return .success(try GuidanceProse.draft(text))
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
