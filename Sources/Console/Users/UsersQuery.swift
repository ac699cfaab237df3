import HTTP
import Identity

/// The query of a list of users, from the address.
struct UsersQuery: Sendable {
  var text: String
  var filter: Accounts.Filter
  var sort: Accounts.Sort
  let after: String?

  init(_ form: Form) {
    text = form.trimmed("q")
    let filters = [form.trimmed("factor"), form.trimmed("state")]
    filter =
      filters.lazy.compactMap(Accounts.Filter.init(rawValue:)).first { $0 != .all } ?? .all
    sort = Accounts.Sort(rawValue: form.trimmed("sort")) ?? .newest
    after = form.text("after")
  }

  /// The part of the search results to show.
  var part: SearchPart { SearchPart(after: after.flatMap { Int($0) } ?? 0) }

  /// The query without the position in the list.
  var form: Form {
    var form = kept
    if !text.isEmpty { form.add("q", text) }
    return form
  }

  /// The filter and order, which a new search keeps.
  var kept: Form {
    var form = Form()
    if let name = filter.parameter { form.add(name, filter.rawValue) }
    if sort != .newest { form.add("sort", sort.rawValue) }
    return form
  }

  /// The query as text.
  var words: String {
    text.isEmpty ? filter.phrase : "\(filter.phrase) matching “\(Words.short(text, 60))”"
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
  /// The name of the query parameter.
  fileprivate var parameter: String? {
    switch self {
    case .all: nil
    case .none, .totp, .phone: "factor"
    case .locked, .disabled, .unverified: "state"
    }
  }

  /// Returns the label of the filter's tab, with its number of users.
  func words(_ counts: AccountCounts) -> String {
    switch self {
    case .all: "All (\(Words.number(counts.users)))"
    case .none: "No MFA (\(Words.number(counts.users - counts.enrolledUsers)))"
    case .totp: "TOTP (\(Words.number(counts.totpUsers)))"
    case .phone: "Phone (\(Words.number(counts.phoneUsers)))"
    case .locked: "Locked (\(Words.number(counts.locked)))"
    case .disabled: "Disabled (\(Words.number(counts.disabled)))"
    case .unverified: "Unverified (\(Words.number(counts.unverifiedEmails)))"
    }
  }

  /// The filtered users, for use in a sentence.
  var phrase: String {
    switch self {
    case .all: "users"
    case .none: "users without a second factor"
    case .totp: "users with an authenticator app"
    case .phone: "users with a phone as a second factor"
    case .locked: "locked users"
    case .disabled: "disabled users"
    case .unverified: "users with an unverified email"
    }
  }
}

extension Accounts.Sort {
  /// The label of the sort option.
  var words: String {
    switch self {
    case .newest: "Newest"
    case .email: "Email"
    case .name: "Name"
    case .lastSignIn: "Last sign-in"
    }
  }

  /// The order, for the end of a sentence.
  var phrase: String {
    switch self {
    case .newest: "newest first"
    case .email: "by email"
    case .name: "by name"
    case .lastSignIn: "most recent sign-in first"
    }
  }
}
