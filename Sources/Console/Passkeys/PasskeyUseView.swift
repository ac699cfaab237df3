import HTTP
import Identity
import Localization
import Templating

struct PasskeyUseView: ViewModel {
  let frame: FrameView
  let heading: Message
  let sentence: Message
  let action: String
  let passkey: PasskeyFields?
  let unusable: Message?
  let other: Link
  var recovery: String?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.heading),
    .text(\.sentence),
    .text(\.action),
    .optional(\.passkey),
    .text(\.unusable),
    .text(\.recovery),
    .text("other") { $0.other.href },
    .text("otherText") { $0.other.text },
  ]
}
