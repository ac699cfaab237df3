import HTTP
import Identity
import Localization
import Text

struct UsersQuery: Sendable {
  /// What's selected without a click on each row.
  enum Selected: String, Sendable {
    /// The rows of a page.
    case page
    /// The users of all pages.
    case all
  }

  var text: String
  var filter: Accounts.Filter
  var sort: Accounts.Sort
  let size: PageSize
  let after: String?
  let selected: Selected?

  init(_ form: Form) {
    text = form.trimmed("q")
    let filters = [form.trimmed("factor"), form.trimmed("state")]
    filter =
      filters.lazy.compactMap(Accounts.Filter.init(rawValue:)).first { $0 != .all } ?? .all
    sort = filter.order ?? Accounts.Sort(rawValue: form.trimmed("sort")) ?? .newest
    size = PageSize(form)
    after = form.text("after")
    selected = form.text("select").flatMap(Selected.init(rawValue:))
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
    if sort != .newest, filter.order == nil { form.add("sort", sort.rawValue) }
    return size.added(to: form)
  }

  /// The query of a page with a selection.
  func selecting(_ selected: Selected) -> Form {
    var form = form.at(after)
    form.add("select", selected.rawValue)
    return form
  }

  /// The query with which an action on the users of all pages is previewed.
  var selectingAll: Form {
    var form = form
    form.add("all", "1")
    return form
  }

  /// Returns the list whose users are all selected; nil if the query doesn't select all.
  static func selected(by form: Form) -> AccountListing? {
    form["all"] == "1" ? UsersQuery(form).listing : nil
  }

  /// The filter and the search, for the audit log.
  var words: Message {
    text.isEmpty
      ? filter.name
      : Message(
        "{filter} (search: “{text}”)",
        ["filter": .message(filter.name), "text": .name(Formatted.short(text, 60))])
  }

  func with(_ filter: Accounts.Filter) -> Form {
    var query = self
    // An order that only this list has isn't one that was chosen.
    if query.filter.order != nil { query.sort = .newest }
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
    case .locked, .suspended, .clockOff, .reported, .disabled, .unverified, .inactive: "state"
    }
  }

  /// Returns how many users match; nil for those that are counted only for their own list.
  func number(
    _ counts: AccountCounts, _ marked: MarkedCounts, _ exempt: ExemptionCounts
  ) -> Int? {
    switch self {
    case .all: counts.users
    case .none: counts.users - counts.enrolledUsers - exempt.withoutFactor
    case .exempt: exempt.all
    case .totp: counts.totpUsers
    case .phone: counts.phoneUsers
    case .locked: counts.locked
    case .suspended: marked.suspended
    case .clockOff: marked.clockOff
    case .reported: marked.reported
    case .disabled: counts.disabled
    case .unverified: counts.unverifiedEmails
    case .inactive: nil
    }
  }

  var name: Message {
    switch self {
    case .all: Message("All")
    case .none: Message("No MFA")
    case .exempt: Message("Exempt")
    case .totp: Message("TOTP")
    case .phone: Message("Phone")
    case .locked: Message("Locked")
    case .suspended: Message("Suspended")
    case .clockOff: Message("Clock off")
    case .reported: Message("Reported")
    case .disabled: Message("Disabled")
    case .unverified: Message("Unverified")
    case .inactive:
      Message(
        one: "Inactive {count} day", other: "Inactive {count} days",
        ["count": .number(Self.inactiveDays)])
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
    case .clockOff:
      Message(
        """
        No user is marked. A user is marked when their next codes show that the device’s clock is \
        off.
        """)
    case .reported: Message("No user has reported a change that’s waiting for a decision.")
    case .disabled: Message("There are no disabled users.")
    case .unverified: Message("There are no users with an unverified email.")
    case .inactive:
      Message(
        one: "There are no users who haven’t signed in for {count} day.",
        other: "There are no users who haven’t signed in for {count} days.",
        ["count": .number(Self.inactiveDays)])
    }
  }
}

extension Accounts.Sort {
  /// The heading of the column that sorts by it, or its name in the menu of that of the user.
  var heading: Message { self == .newest ? Message("Created") : words }

  var words: Message {
    switch self {
    case .newest: Message("Recently added")
    case .email: Message("Email")
    case .name: Message("Name")
    case .lastSignIn: Message("Last sign-in")
    }
  }
}

extension Form {
  /// Returns the users of a pool whom a ``UserSelection`` sends; those of other pools are left out.
  func selectedUsers(of pool: Pool) -> [ID<Account>] {
    all("user").compactMap { Self.user(of: pool, at: $0.text) }
  }

  private static func user(of pool: Pool, at address: String) -> ID<Account>? {
    guard address.utf8.count <= 2_000, let segments = Target(address)?.segments,
      let uid = segments.last.flatMap(String.init(pathSegment:)),
      Target(ConsolePaths.user(pool, uid))?.segments == segments
    else { return nil }
    return ID(uid)
  }
}
