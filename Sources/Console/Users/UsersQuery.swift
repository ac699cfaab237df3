import HTTP
import Identity
import Localization
import Text

struct UsersQuery: Sendable {
  var text: String
  var filter: Accounts.Filter
  var sort: Accounts.Sort
  let size: PageSize
  let after: String?

  init(_ form: Form) {
    text = form.trimmed("q")
    let filters = [form.trimmed("factor"), form.trimmed("state")]
    filter =
      filters.lazy.compactMap(Accounts.Filter.init(rawValue:)).first { $0 != .all } ?? .all
    sort = Accounts.Sort(rawValue: form.trimmed("sort")) ?? .newest
    size = PageSize(form)
    after = form.text("after")
  }

  var listing: AccountListing { AccountListing(text: text, filter: filter, sort: sort) }

  var part: SearchPart { SearchPart(after: after.flatMap { Int($0) } ?? 0, size: size.rows) }

  /// The query without the position in the list.
  var form: Form {
    var form = kept
    if !text.isEmpty { form.add("q", text) }
    return form
  }

  /// The filter, order, and size of a page, which a new search keeps.
  var kept: Form {
    var form = Form()
    if let name = filter.parameter { form.add(name, filter.rawValue) }
    if sort != .newest { form.add("sort", sort.rawValue) }
    return size.added(to: form)
  }

  /// The query with which a bulk removal is previewed for the users of all pages.
  var selectingAll: Form {
    var form = form
    form.add("all", "1")
    return form
  }

  /// Returns the list whose users are all selected; nil if the query doesn't select all.
  static func selected(by form: Form) -> AccountListing? {
    form["all"] == "1" ? UsersQuery(form).listing : nil
  }

  var words: Message {
    text.isEmpty
      ? filter.phrase
      : Message(
        "users.matching",
        ["users": .message(filter.phrase), "text": .name(Formatted.short(text, 60))])
  }

  func with(_ filter: Accounts.Filter) -> Form {
    var query = self
    query.filter = filter
    return query.form
  }

  func with(_ sort: Accounts.Sort) -> Form {
    var query = self
    query.sort = sort
    return query.form
  }
}

extension Accounts.Filter {
  fileprivate var parameter: String? {
    switch self {
    case .all: nil
    case .none, .exempt, .totp, .phone: "factor"
    case .locked, .suspended, .disabled, .unverified: "state"
    }
  }

  func number(_ counts: AccountCounts, suspended: Int, _ exempt: ExemptionCounts) -> Int {
    switch self {
    case .all: counts.users
    case .none: counts.users - counts.enrolledUsers - exempt.withoutFactor
    case .exempt: exempt.all
    case .totp: counts.totpUsers
    case .phone: counts.phoneUsers
    case .locked: counts.locked
    case .suspended: suspended
    case .disabled: counts.disabled
    case .unverified: counts.unverifiedEmails
    }
  }

  func words(_ number: Int) -> Message {
    let number = Message.Value.number(number)
    return switch self {
    case .all: Message("users.tab-all", ["number": number])
    case .none: Message("users.tab-none", ["number": number])
    case .exempt: Message("users.tab-exempt", ["number": number])
    case .totp: Message("users.tab-totp", ["number": number])
    case .phone: Message("users.tab-phone", ["number": number])
    case .locked: Message("users.tab-locked", ["number": number])
    case .suspended: Message("users.tab-suspended", ["number": number])
    case .disabled: Message("users.tab-disabled", ["number": number])
    case .unverified: Message("users.tab-unverified", ["number": number])
    }
  }

  var phrase: Message {
    switch self {
    case .all: Message("users.filtered-all")
    case .none: Message("users.filtered-none")
    case .exempt: Message("users.filtered-exempt")
    case .totp: Message("users.filtered-totp")
    case .phone: Message("users.filtered-phone")
    case .locked: Message("users.filtered-locked")
    case .suspended: Message("users.filtered-suspended")
    case .disabled: Message("users.filtered-disabled")
    case .unverified: Message("users.filtered-unverified")
    }
  }

  var startingPhrase: Message {
    switch self {
    case .all: Message("users.starting-all")
    case .none: Message("users.starting-none")
    case .exempt: Message("users.starting-exempt")
    case .totp: Message("users.starting-totp")
    case .phone: Message("users.starting-phone")
    case .locked: Message("users.starting-locked")
    case .suspended: Message("users.starting-suspended")
    case .disabled: Message("users.starting-disabled")
    case .unverified: Message("users.starting-unverified")
    }
  }

  func phrase(of count: Int) -> Message {
    switch self {
    case .all: Message("users.count", ["count": .number(count)])
    case .none: Message("users.count-none", ["count": .number(count)])
    case .exempt: Message("users.count-exempt", ["count": .number(count)])
    case .totp: Message("users.count-totp", ["count": .number(count)])
    case .phone: Message("users.count-phone", ["count": .number(count)])
    case .locked: Message("users.count-locked", ["count": .number(count)])
    case .suspended: Message("users.count-suspended", ["count": .number(count)])
    case .disabled: Message("users.count-disabled", ["count": .number(count)])
    case .unverified: Message("users.count-unverified", ["count": .number(count)])
    }
  }

  var noMatch: Message {
    switch self {
    case .all: Message("users.no-match")
    case .none: Message("users.no-match-none")
    case .exempt: Message("users.no-match-exempt")
    case .totp: Message("users.no-match-totp")
    case .phone: Message("users.no-match-phone")
    case .locked: Message("users.no-match-locked")
    case .suspended: Message("users.no-match-suspended")
    case .disabled: Message("users.no-match-disabled")
    case .unverified: Message("users.no-match-unverified")
    }
  }
}

extension Accounts.Sort {
  var words: Message {
    switch self {
    case .newest: Message("users.newest")
    case .email: Message("common.email")
    case .name: Message("common.name")
    case .lastSignIn: Message("users.last-sign-in")
    }
  }

  /// The order, for the end of a sentence.
  var phrase: Message {
    switch self {
    case .newest: Message("users.newest-first")
    case .email: Message("users.by-email")
    case .name: Message("users.by-name")
    case .lastSignIn: Message("users.most-recent-sign-in-first")
    }
  }
}
