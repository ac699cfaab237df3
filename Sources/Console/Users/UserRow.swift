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
    /// The row's checkbox, for a ``UserSelection`` around the list; nil for none.
    let box: SelectionBox?
    let times: Times

    init(
      _ account: AccountSummary, foundBy match: FoundAccounts.Match? = nil,
      exemptUntil: Instant? = nil, box: SelectionBox? = nil, columns: UserColumns,
      at now: Instant, times: Times
    ) {
      self.account = account
      self.box = box
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
    .optional("box") { $0.source.box },
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
        Message("exempt through {end}", ["end": row.source.times.endValue($0)])
      }
    },
    .markup("state") {
      AccountChips.state($0.account, $0.source.lock, isSuspended: $0.source.isSuspended)
    },
    .markup("lastSignIn") {
      $0.account.lastLoginAt.map($0.source.times.past) ?? AccountChips.never
    },
    .markup("lastCode") {
      $0.account.lastCodeAt.map($0.source.times.past) ?? AccountChips.lastUse(in: $0.pool)
    },
    .markup("created") { $0.source.times.day($0.account.createdAt) },
  ]
}

/// A column of the list of users that can be hidden; the first column names the user.
enum UserColumn: String, TableColumn {
  case phone, factor, state, lastSignIn = "last-sign-in", lastCode = "last-code", created

  var heading: Message {
    switch self {
    case .phone: Message("Phone")
    case .factor: Message("Second factor")
    case .state: Message("State")
    case .lastSignIn: Message("Last sign-in")
    case .lastCode: Message("Last code")
    case .created: Message("Created")
    }
  }

  var hidingClass: String {
    switch self {
    case .phone: "no-phone"
    case .factor: "no-factor"
    case .state: "no-state"
    case .lastSignIn: "no-last-sign-in"
    case .lastCode: "no-last-code"
    case .created: "no-created"
    }
  }
}

/// The columns that an administrator chose, which the browser remembers in a cookie.
struct UserColumns: Sendable {
  private static let separator: Character = "."

  let shown: Set<UserColumn>
  /// Whether the request chooses them, so that the response remembers them.
  let isChosen: Bool

  /// Reads the choice from a request's form, otherwise from the cookie's value; all by default.
  init(_ query: Form, remembered: String?) {
    let chosen = ColumnsForm.chosen(in: query)
    isChosen = chosen != nil
    if let chosen {
      shown = Set(chosen.compactMap { UserColumn(rawValue: $0) })
    } else if let remembered {
      let names = remembered.split(separator: Self.separator).map(String.init)
      shown = Set(names.compactMap { UserColumn(rawValue: $0) })
    } else {
      shown = Set(UserColumn.allCases)
    }
  }

  /// The value of the cookie, which is never empty.
  var remembered: String {
    let names = UserColumn.allCases.filter(shown.contains).map(\.rawValue)
    return names.isEmpty ? "none" : names.joined(separator: String(Self.separator))
  }

  /// The classes of a table that hides the other columns.
  var hidingClasses: String {
    UserColumn.allCases.filter { !shown.contains($0) }.map { " \($0.hidingClass)" }.joined()
  }

  func form(action: String, kept: Form) -> ColumnsForm {
    ColumnsForm(action: action, kept: kept, shown: shown)
  }
}
