import HTTP
import Identity
import Templating

/// A user's row in a list.
final class UserRow: ViewModel {
  /// Everything that determines a row's markup, as the key of the markup cache.
  ///
  /// The scope isn't part of it, because an account never changes its scope.
  struct Source: Hashable {
    let account: AccountSummary
    let lock: CodeLock
    let isSuspended: Bool
    let times: Times

    init(_ account: AccountSummary, at now: Instant, times: Times) {
      self.account = account
      lock = account.codeLock(at: now)
      isSuspended = account.isSuspended(at: now)
      self.times = times
    }

    /// Hashes the account alone, which is enough to tell rows apart.
    func hash(into hasher: inout Hasher) { hasher.combine(account) }
  }

  private let account: AccountSummary
  private let lock: CodeLock
  private let isSuspended: Bool
  private let scope: Scope
  private let times: Times

  init(_ source: Source, in scope: Scope) {
    account = source.account
    lock = source.lock
    isSuspended = source.isSuspended
    times = source.times
    self.scope = scope
  }

  static let keys: Keys<UserRow> = [
    .text("href") { ConsolePaths.user($0.scope, $0.account.id.text) },
    .text("name") { $0.account.label },
    .text("alias") {
      $0.account.email == nil ? nil : $0.account.displayName.map { Words.short($0, 60) }
    },
    .text("uid") { $0.account.id.text },
    .markup("factor") { AccountChips.listed($0.account) },
    .markup("state") { AccountChips.state($0.account, $0.lock, isSuspended: $0.isSuspended) },
    .markup("lastSignIn") { $0.account.lastLoginAt.map($0.times.past) ?? AccountChips.never },
    .markup("created") { $0.times.day($0.account.createdAt) },
  ]
}
