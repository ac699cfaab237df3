import HTTP
import Identity

/// What a list of users is asked for, as it stands in the address.
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

  /// Which of the hits of a search are asked for.
  var part: SearchPart { SearchPart(after: after.flatMap { Int($0) } ?? 0) }

  /// The query without the place in the list.
  var form: Form {
    var form = kept
    if !text.isEmpty { form.add("q", text) }
    return form
  }

  /// What a search keeps of the list that it is made in.
  var kept: Form {
    var form = Form()
    if let name = filter.parameter { form.add(name, filter.rawValue) }
    if sort != .newest { form.add("sort", sort.rawValue) }
    return form
  }

  /// What is asked for, in words.
  var words: String {
    text.isEmpty ? filter.phrase : "\(filter.phrase) with “\(Words.short(text, 60))”"
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
  /// The name of the parameter that chooses it.
  fileprivate var parameter: String? {
    switch self {
    case .all: nil
    case .none, .totp, .phone: "factor"
    case .locked, .disabled, .unverified: "state"
    }
  }

  /// The name of its tab, with the number of its users where that is kept.
  func words(_ counts: AccountCounts) -> String {
    switch self {
    case .all: "All (\(Words.number(counts.users)))"
    case .none: "None enrolled (\(Words.number(counts.users - counts.enrolledUsers)))"
    case .totp: "TOTP (\(Words.number(counts.totpUsers)))"
    case .phone: "Phone (\(Words.number(counts.phoneUsers)))"
    case .locked: "Locked (\(Words.number(counts.locked)))"
    case .disabled: "Disabled (\(Words.number(counts.disabled)))"
    case .unverified: "Unverified (\(Words.number(counts.unverifiedEmails)))"
    }
  }

  /// Its users, in a sentence.
  var phrase: String {
    switch self {
    case .all: "users"
    case .none: "users without a second factor"
    case .totp: "users with an authenticator app"
    case .phone: "users with a phone as second factor"
    case .locked: "locked users"
    case .disabled: "disabled users"
    case .unverified: "users whose email address is not verified"
    }
  }
}

extension Accounts.Sort {
  /// The name of its link.
  var words: String {
    switch self {
    case .newest: "Newest"
    case .email: "Email"
    case .name: "Name"
    case .lastSignIn: "Last sign-in"
    }
  }

  /// How such a list goes, at the end of a sentence.
  var phrase: String {
    switch self {
    case .newest: "the newest first"
    case .email: "by email address"
    case .name: "by name"
    case .lastSignIn: "by the day of the last sign-in, the latest first"
    }
  }
}
