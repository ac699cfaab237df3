import Identity
import Localization
import Templating

struct LockCaution: ViewModel {
  let sentence: Message
  let link: Link?

  init?(_ account: Account, at now: Instant, in context: PoolContext) {
    let times = context.signedIn.times
    guard let words = CodeAttemptText.waiting(account, at: now, times) else { return nil }
    sentence = words
    let may =
      context.signedIn.administrator.denial(of: .unlockCodes, on: account, in: context.pool) == nil
    link =
      may
      ? Link(
        text: Message("Unlock codes…"),
        href: ConsolePaths.unlock(context.pool, account.id.text)) : nil
  }

  static let keys: Keys<Self> = [
    .text(\.sentence),
    .optional(\.link),
  ]
}
