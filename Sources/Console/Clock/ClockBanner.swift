import HTTP
import Identity
import Templating

/// The banner on every page of the console while the server's clock isn't trusted.
struct ClockBanner: ViewModel {
  let sentence: String
  /// Where an owner confirms the time; nil for anyone else.
  let link: Link?

  init(_ doubt: ClockDoubt, mayConfirm: Bool, _ times: Times) {
    let expected = times.words(doubt.expected)
    sentence =
      "It shows \(times.words(doubt.shown)), \(doubt.isBehind ? "before \(expected)" : "long after \(expected)"), the \(doubt.isBehind ? "newest stored time" : "last time it was right"). Until the time is confirmed, expired data isn’t deleted and no email is sent."
    link = mayConfirm ? Link(text: "Confirm the time…", href: ConsolePaths.clock()) : nil
  }

  static let keys: Keys<Self> = [
    .text("heading") { _ in "The server’s clock may be wrong." },
    .text("sentence") { $0.sentence },
    .optional("link") { $0.link },
  ]
}
