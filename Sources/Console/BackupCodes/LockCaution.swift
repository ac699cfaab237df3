import Identity
import Localization
import Templating

/// A warning that temporary and recovery codes are locked like all others, with a link to unlock
/// them.
struct LockCaution: ViewModel {
  let sentence: Message
  /// The link to unlock the codes; nil without the permission.
  let link: Link?

  /// Creates the warning; nil if codes aren't locked.
  init?(_ account: Account, at now: Instant, in context: ScopeContext) {
    let times = context.signedIn.times
    guard let words = CodeAttemptText.waiting(account, at: now, times) else { return nil }
    sentence = words
    let may =
      context.signedIn.administrator.denial(of: .unlockCodes, on: account, in: context.scope) == nil
    link =
      may
      ? Link(
        text: Message("backup-codes.unlock-codes"),
        href: ConsolePaths.unlock(context.scope, account.id.text)) : nil
  }

  static let keys: Keys<Self> = [
    .text(\.sentence),
    .optional(\.link),
  ]
}
