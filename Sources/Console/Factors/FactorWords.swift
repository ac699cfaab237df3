import Identity
import Templating

extension Factor.Kind {
  /// The kind's name in tables and files.
  var name: String {
    switch self {
    case .totp: "TOTP"
    case .phone: "phone"
    }
  }

  /// The name of the sign-in method, for use in a sentence.
  var method: String {
    switch self {
    case .totp: "TOTP"
    case .phone: "SMS"
    }
  }
}

/// Second factors as text.
enum FactorWords {
  /// Returns the kinds that an account has: `TOTP, phone`.
  static func kinds(_ account: AccountSummary) -> String {
    let kinds = Factor.Kind.allCases.filter(account.has).map(\.name)
    return kinds.isEmpty ? "none" : kinds.joined(separator: ", ")
  }

  /// Returns which methods of some factors are disabled: `TOTP is disabled`.
  static func off(_ factors: [Factor]) -> String {
    let kinds = Factor.Kind.allCases.filter { kind in factors.contains { $0.kind == kind } }
    let methods = kinds.map(\.method).joined(separator: " and ")
    return "\(methods) \(kinds.count == 1 ? "is" : "are") disabled"
  }

  /// Returns whether the user is notified by email, as a sentence; nil for a user without an
  /// address.
  static func mail(to account: Account, isCarried: Bool) -> String? {
    let addresses = account.addresses
    guard let first = addresses.first else { return nil }
    guard isCarried else { return "Email isn’t configured, so the user isn’t notified." }
    return addresses.count == 1
      ? "An email to \(Words.isolated(first)) notifies the user."
      : "Emails to \(addresses.count) addresses notify the user."
  }

  /// Returns the names of factors, for use in a sentence: `the factor “Pixel 9”`.
  static func list(_ factors: [Factor]) -> String {
    let names = factors.map { "“\(Words.isolated($0.label))”" }
    return "the \(factors.count == 1 ? "factor" : "factors") \(Words.list(names))"
  }

  /// Returns the details of a factor.
  static func facts(_ factor: Factor, _ times: Times) -> [Fact] {
    let kind = Fact("Kind", Words.sentence(factor.kind.name))
    let number = factor.phoneNumber.map { Fact("Number", HTML.isolated($0)) }
    return [Fact("Name", HTML.isolated(Words.short(factor.label))), kind]
      + [number].compactMap { $0 }
      + [
        Fact("Enrolled", times.moment(factor.enrolledAt)),
        Fact("Last used", factor.lastUsedAt.map(times.past) ?? AccountChips.never),
      ]
  }
}
