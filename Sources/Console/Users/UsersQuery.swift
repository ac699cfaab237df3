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
        "{users} matching “{text}”",
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
    case .all: Message("All ({number})", ["number": number])
    case .none: Message("No MFA ({number})", ["number": number])
    case .exempt: Message("Exempt ({number})", ["number": number])
    case .totp: Message("TOTP ({number})", ["number": number])
    case .phone: Message("Phone ({number})", ["number": number])
    case .locked: Message("Locked ({number})", ["number": number])
    case .suspended: Message("Suspended ({number})", ["number": number])
    case .disabled: Message("Disabled ({number})", ["number": number])
    case .unverified: Message("Unverified ({number})", ["number": number])
    }
  }

  var phrase: Message {
    switch self {
    case .all: Message("users")
    case .none: Message("users without a second factor")
    case .exempt: Message("users exempt from MFA")
    case .totp: Message("users with an authenticator app")
    case .phone: Message("users with a phone as a second factor")
    case .locked: Message("locked users")
    case .suspended: Message("users with a suspended second factor")
    case .disabled: Message("disabled users")
    case .unverified: Message("users with an unverified email")
    }
  }

  var startingPhrase: Message {
    switch self {
    case .all: Message("Users")
    case .none: Message("Users without a second factor")
    case .exempt: Message("Users exempt from MFA")
    case .totp: Message("Users with an authenticator app")
    case .phone: Message("Users with a phone as a second factor")
    case .locked: Message("Locked users")
    case .suspended: Message("Users with a suspended second factor")
    case .disabled: Message("Disabled users")
    case .unverified: Message("Users with an unverified email")
    }
  }

  func phrase(of count: Int) -> Message {
    switch self {
    case .all: Message(one: "{count} user", other: "{count} users", ["count": .number(count)])
    case .none:
      Message(
        one: "{count} user without a second factor",
        other: "{count} users without a second factor", ["count": .number(count)])
    case .exempt:
      Message(
        one: "{count} user exempt from MFA",
        other: "{count} users exempt from MFA", ["count": .number(count)])
    case .totp:
      Message(
        one: "{count} user with an authenticator app",
        other: "{count} users with an authenticator app", ["count": .number(count)])
    case .phone:
      Message(
        one: "{count} user with a phone as a second factor",
        other: "{count} users with a phone as a second factor", ["count": .number(count)])
    case .locked:
      Message(one: "{count} locked user", other: "{count} locked users", ["count": .number(count)])
    case .suspended:
      Message(
        one: "{count} user with a suspended second factor",
        other: "{count} users with a suspended second factor", ["count": .number(count)])
    case .disabled:
      Message(
        one: "{count} disabled user", other: "{count} disabled users", ["count": .number(count)])
    case .unverified:
      Message(
        one: "{count} user with an unverified email",
        other: "{count} users with an unverified email", ["count": .number(count)])
    }
  }

  var noMatch: Message {
    switch self {
    case .all: Message("There are no users.")
    case .none: Message("There are no users without a second factor.")
    case .exempt: Message("No user is exempt from MFA.")
    case .totp: Message("There are no users with an authenticator app.")
    case .phone:
      Message(
        """
        No user has a phone as a second factor. Users enroll one in your application if the policy \
        enables SMS.
        """)
    case .locked: Message("There are no locked users.")
    case .suspended: Message("There are no users with a suspended second factor.")
    case .disabled: Message("There are no disabled users.")
    case .unverified: Message("There are no users with an unverified email.")
    }
  }
}

extension Accounts.Sort {
  var words: Message {
    switch self {
    case .newest: Message("Recently added")
    case .email: Message("Email")
    case .name: Message("Name")
    case .lastSignIn: Message("Last sign-in")
    }
  }

  /// The order, for the end of a sentence.
  var phrase: Message {
    switch self {
    case .newest: Message("most recently added first")
    case .email: Message("by email")
    case .name: Message("by name")
    case .lastSignIn: Message("by day of last sign-in, latest first")
    }
  }
}
