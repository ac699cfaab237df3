import HTTP
import Identity
import Localization
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
    /// The name of the second factor that a search found the user by; nil if a listed field matches.
    let foundBy: String?
    /// When the user's exemption from MFA ends; nil without one.
    let exemptUntil: Instant?
    let times: Times

    init(
      _ account: AccountSummary, foundBy: Factor? = nil, exemptUntil: Instant? = nil,
      at now: Instant, times: Times
    ) {
      self.account = account
      self.exemptUntil = exemptUntil
      self.foundBy = foundBy?.label
      lock = account.codeLock(at: now)
      isSuspended = account.isSuspended(at: now)
      self.times = times
    }

    /// Hashes the account alone, which is enough to tell rows apart.
    func hash(into hasher: inout Hasher) { hasher.combine(account) }
  }

  private let source: Source
  private let scope: Scope
  /// Whether the row has a checkbox, for a form around the list.
  private let isSelecting: Bool

  private var account: AccountSummary { source.account }

  init(_ source: Source, in scope: Scope, isSelecting: Bool = false) {
    self.source = source
    self.scope = scope
    self.isSelecting = isSelecting
  }

  static let keys: Keys<UserRow> = [
    .text("href") { ConsolePaths.user($0.scope, $0.account.id.text) },
    .flag("isSelecting") { $0.isSelecting },
    .text("name") { $0.account.label },
    .text("alias") {
      $0.account.email == nil ? nil : $0.account.displayName.map { Formatted.short($0, 60) }
    },
    .text("uid") { $0.account.id.text },
    .text("foundBy") { row in
      row.source.foundBy.map {
        Message("users.found-by-factor", ["name": .name(Formatted.short($0, 60))])
      }
    },
    .text("phone") { $0.account.label == $0.account.phoneNumber ? nil : $0.account.phoneNumber },
    .text("factor") { FactorText.kinds($0.account) },
    .text("exempt") { row in
      row.source.exemptUntil.map {
        Message("users.exempt-until", ["end": row.source.times.value($0)])
      }
    },
    .markup("state") {
      AccountChips.state($0.account, $0.source.lock, isSuspended: $0.source.isSuspended)
    },
    .markup("lastSignIn") {
      $0.account.lastLoginAt.map($0.source.times.past) ?? AccountChips.never
    },
    .markup("created") { $0.source.times.day($0.account.createdAt) },
  ]
}
