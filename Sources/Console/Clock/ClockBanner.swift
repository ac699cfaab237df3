import HTTP
import Identity
import Localization
import Templating

/// The banner on every page of the console while the server's clock isn't trusted.
struct ClockBanner: ViewModel {
  let sentence: Message
  /// Where an owner confirms the time; nil for anyone else.
  let link: Link?

  init(_ doubt: ClockDoubt, mayConfirm: Bool, _ times: Times) {
    let (shown, expected) = (times.value(doubt.shown), times.value(doubt.expected))
    sentence =
      doubt.isBehind
      ? Message("clock.is-behind", ["shown": shown, "expected": expected])
      : Message("clock.is-ahead", ["shown": shown, "expected": expected])
    link =
      mayConfirm
      ? Link(text: Message("clock.confirm-the-time-link"), href: ConsolePaths.clock()) : nil
  }

  static let keys: Keys<Self> = [
    .text("heading") { _ in Message("clock.may-be-wrong") },
    .text(\.sentence),
    .optional(\.link),
    .text("holder") { _ in Permission.protectUsers.holder },
  ]
}
