import HTTP
import Identity
import Localization
import Templating

final class UserRow: ViewModel {
  /// Everything that determines a row's markup, as the key of the markup cache.
  ///
  /// The pool isn't part of it, because an account never changes its pool.
  struct Source: Hashable {
    let account: AccountSummary
    let lock: CodeLock
    let isSuspended: Bool
    /// What a search found the user by; nil if the list shows it.
    let foundBy: FoundBy?
    let exemptUntil: Instant?
    /// Whether the row has a checkbox, for a ``UserSelection`` around the list.
    let isSelecting: Bool
    let times: Times

    init(
      _ account: AccountSummary, foundBy match: FoundAccounts.Match? = nil,
      exemptUntil: Instant? = nil, isSelecting: Bool, columns: UserColumns, at now: Instant,
      times: Times
    ) {
      self.account = account
      self.isSelecting = isSelecting
      self.exemptUntil = exemptUntil
      foundBy =
        switch match {
        case .phone? where !columns.shown.contains(.phone):
          account.phoneNumber.flatMap { $0 == account.label ? nil : .phone($0) }
        case .factor(let factor)?: .factor(factor.label)
        case .phone?, nil: nil
        }
      lock = account.codeLock(at: now)
      isSuspended = account.isSuspended(at: now)
      self.times = times
    }

    /// Hashes the account alone, which is enough to tell rows apart.
    func hash(into hasher: inout Hasher) { hasher.combine(account) }
  }

  enum FoundBy: Equatable {
    case phone(String)
    case factor(String)

    var message: Message {
      switch self {
      case .phone(let number):
        Message("Phone number {number} matches", ["number": .name(number)])
      case .factor(let name):
        Message("Second factor “{name}” matches", ["name": .name(Formatted.short(name, 60))])
      }
    }
  }

  private let source: Source
  private let pool: Pool

  private var account: AccountSummary { source.account }

  init(_ source: Source, in pool: Pool) {
    self.source = source
    self.pool = pool
  }

  static let keys: Keys<UserRow> = [
    .text("href") { ConsolePaths.user($0.pool, $0.account.id.text) },
    .flag("isSelecting") { $0.source.isSelecting },
    .text("name") { $0.account.label },
    .text("alias") {
      $0.account.email == nil ? nil : $0.account.displayName.map { Formatted.short($0, 60) }
    },
    .text("uid") { $0.account.id.text },
    .text("foundBy") { $0.source.foundBy?.message },
    .text("phone") { $0.account.label == $0.account.phoneNumber ? nil : $0.account.phoneNumber },
    .text("factor") { FactorText.kinds($0.account) },
    .text("exempt") { row in
      row.source.exemptUntil.map {
        Message("exempt until {end}", ["end": row.source.times.endValue($0)])
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
