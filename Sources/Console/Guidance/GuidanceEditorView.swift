import Identity
import Localization
import Templating

struct GuidanceEditorView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let draft: GuidanceDraft

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("action") { ConsolePaths.guidanceVersions($0.context.pool) },
    .text("previewAction") { ConsolePaths.guidanceEditor($0.context.pool) },
    .text("cancel") { ConsolePaths.poolGuidance($0.context.pool) },
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .text("version") { String($0.draft.version) },
    .text("poolName") { $0.context.pool.name },
    .text("text") { $0.draft.text },
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
