import HTTP
import Identity
import Templating

/// That the server's clock isn't trusted, for every page of the console.
struct ClockBanner: ViewModel {
  let sentence: String
  /// Where an owner confirms the time; nil for everybody else.
  let link: Link?

  init(_ doubt: ClockDoubt, mayConfirm: Bool, _ times: Times) {
    let expected = times.words(doubt.expected)
    sentence =
      "It shows \(times.words(doubt.shown)), \(doubt.isBehind ? "before \(expected)" : "long after \(expected)"), the \(doubt.isBehind ? "newest stored time" : "last time it was right"). Until the time is confirmed, nothing is deleted for its age and no email is sent."
    link = mayConfirm ? Link(text: "Confirm the time…", href: ConsolePaths.clock()) : nil
  }

  static let keys: Keys<Self> = [
    .text("heading") { _ in "The server’s clock may be wrong." },
    .text("sentence") { $0.sentence },
    .optional("link") { $0.link },
  ]
}
