import HTTP
import Localization
import Templating

struct KeyRevocationView: ViewModel {
  let frame: FrameView
  let heading: Markup
  let button: Message
  let action: String
  let csrf: String
  let consequences: [Message]
  let facts: [Fact]
  let fields: ActionFields
  /// The page with the keys.
  let keep: String

  static let keys: Keys<Self> = [
    .object(\.frame),
    .markup(\.heading),
    .text(\.button),
    .text(\.action),
    .text(\.csrf),
    .texts("consequences") { $0.consequences },
    .list(\.facts),
    .object("authorization") { $0.fields },
    .text(\.keep),
  ]
}
