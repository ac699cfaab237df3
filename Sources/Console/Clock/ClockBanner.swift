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
      ? Message(
        """
        It shows {shown}, before {expected}, the expected time. Until the time is confirmed, \
        expired data isn’t deleted and no email is sent.
        """, ["shown": shown, "expected": expected])
      : Message(
        """
        It shows {shown}, long after {expected}, the expected time. Until the time is confirmed, \
        expired data isn’t deleted and no email is sent.
        """, ["shown": shown, "expected": expected])
    link =
      mayConfirm
      ? Link(text: Message("Confirm the time…"), href: ConsolePaths.clock()) : nil
  }

  static let keys: Keys<Self> = [
    .text("heading") { _ in Message("The server’s clock may be wrong.") },
    .text(\.sentence),
    .optional(\.link),
    .text("roles") { _ in Message.value(Permission.protectUsers.roleNames) },
  ]
}
