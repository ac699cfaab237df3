import HTTP
import Identity
import Templating

struct UsersView: ViewModel {
  let frame: FrameView
  let scope: Scope
  let rows: [UserRow]
  let filter: FilterView
  let tabs: [Tab]
  let caption: String
  let pager: PagerView
  let empty: EmptyView

  init(
    frame: Frame, scope: Scope, page: Page<Account>, query: String, filter: Accounts.Filter,
    after: String?, limit: Int
  ) {
    self.frame = FrameView(frame)
    self.scope = scope
    rows = page.items.map { UserRow($0, in: scope, times: frame.times) }
    let list = ConsolePaths.users(scope)
    self.filter = FilterView(
      action: list, label: "Find a user by e-mail or uid", query: query)
    tabs = Accounts.Filter.allCases.map { each in
      Tab(
        text: each.words, href: Self.query(query, each).query(of: list), isCurrent: each == filter)
    }
    let isCut = !query.isEmpty && page.items.count >= limit
    caption =
      query.isEmpty
      ? "Newest first."
      : isCut
        ? "The first \(limit) whose e-mail or uid begins with what you typed. Type more to narrow it."
        : "E-mail or uid begins with what you typed."
    pager = PagerView(
      shown: Words.count(rows.count, "user", "users"), path: list,
      query: Self.query(query, filter), after: after, next: page.next)
    empty = Self.empty(query: query, filter: filter, list: list)
  }

  private static func query(_ query: String, _ filter: Accounts.Filter) -> Form {
    var form = Form()
    if !query.isEmpty { form.add("q", query) }
    if filter != .all { form.add("factor", filter.rawValue) }
    return form
  }

  private static func empty(query: String, filter: Accounts.Filter, list: String) -> EmptyView {
    if query.isEmpty && filter == .all {
      return EmptyView(
        heading: "No user yet",
        sentence:
          "Users come from your application: they sign up through the REST calls, or an import brings them. They cannot be made here.",
        link: EmptyLink(text: "How users come to enrol", href: ConsolePaths.guidance()))
    }
    return EmptyView(
      heading: "No such user",
      sentence: query.isEmpty
        ? "Nobody here is on this list."
        : "No e-mail address and no uid of this user pool begins with that.",
      link: EmptyLink(text: "Show all users", href: list))
  }

  static let keys: Keys<Self> = [
    .object("frame") { $0.frame },
    .text("kindInSentence") { $0.scope.kindInSentence },
    .text("scopeName") { $0.scope.name },
    .object("filter") { $0.filter },
    .list("tabs") { $0.tabs },
    .text("caption") { $0.caption },
    .flag("hasRows") { !$0.rows.isEmpty },
    .list("rows") { $0.rows },
    .object("pager") { $0.pager },
    .object("empty") { $0.empty },
  ]
}

extension Accounts.Filter {
  fileprivate var words: String {
    switch self {
    case .all: "All"
    case .none: "None enrolled"
    case .totp: "TOTP"
    }
  }
}

final class UserRow: ViewModel {
  let href: String
  let account: Account
  let times: Times

  init(_ account: Account, in scope: Scope, times: Times) {
    self.times = times
    href = ConsolePaths.user(scope, account.id.text)
    self.account = account
  }

  static let keys: Keys<UserRow> = [
    .text("href") { $0.href },
    .text("name") { $0.account.label },
    .text("alias") {
      $0.account.email == nil ? nil : $0.account.displayName.map { Words.short($0, 60) }
    },
    .text("uid") { $0.account.id.text },
    .markup("factor") { $0.account.factors.isEmpty ? AccountChips.noFactor : AccountChips.totp },
    .markup("state") { AccountChips.state($0.account) },
    .markup("lastSignIn") { $0.account.lastLoginAt.map($0.times.past) ?? AccountChips.never },
    .markup("created") { $0.times.day($0.account.createdAt) },
  ]
}

/// The states of an account as chips.
enum AccountChips {
  static let totp = Chip.on("TOTP")
  static let noFactor = Chip.off("none")
  static let never = Markup(trusted: "<span class=\"soft\">never</span>")
  private static let verified = Chip.on("e-mail verified")
  private static let unverified = Chip.look("e-mail not verified")
  private static let noEmail = Chip.off("no e-mail")
  private static let disabled = Chip.bad("disabled")

  /// The one thing about an account that matters most in a list.
  static func state(_ account: Account) -> Markup {
    account.disabled ? disabled : email(account)
  }

  static func email(_ account: Account) -> Markup {
    account.email == nil ? noEmail : account.emailVerified ? verified : unverified
  }

  /// Everything about an account, for its own page.
  static func all(_ account: Account, at now: Instant) -> Markup {
    var html = HTML()
    html.add(email(account))
    html.raw(" ")
    html.add(account.factors.isEmpty ? Chip.off("no second factor") : totp)
    if account.disabled {
      html.raw(" ")
      html.add(disabled)
    }
    if let until = account.codesBlockedUntil, until > now {
      html.raw(" ")
      html.add(Chip.look("codes blocked for a while"))
    }
    return html.markup
  }
}
