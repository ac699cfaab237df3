import Identity
import Templating

/// That codes which stand in for an app wait as all others do, and where an agent unlocks them.
struct LockCaution: ViewModel {
  let sentence: String
  /// Nil for whoever may not unlock the user.
  let link: Link?

  /// Nil while codes are looked at.
  init?(_ account: Account, at now: Instant, in context: ScopeContext) {
    let times = context.signedIn.times
    guard let words = CodeAttemptText.waiting(account, at: now, times) else { return nil }
    sentence = words
    let may = context.may(.removeFactors) && ActionErrorText.refusal(account, context) == nil
    link =
      may
      ? Link(
        text: "Unlock the codes…", href: ConsolePaths.unlock(context.scope, account.id.text)) : nil
  }

  static let keys: Keys<Self> = [
    .text("sentence") { $0.sentence },
    .optional("link") { $0.link },
  ]
}
