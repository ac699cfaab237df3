import HTTP
import Identity
import Localization
import Templating

/// A page that asks for a passkey.
struct PasskeyUseView: ViewModel {
  let frame: FrameView
  let heading: Message
  let sentence: Message
  let action: String
  /// The form; nil if passkeys can't be used.
  let passkey: PasskeyFields?
  /// Why passkeys can't be used.
  let unusable: Message?
  /// The way out.
  let other: Link
  /// The page for a recovery code instead; nil if none is accepted.
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
