import Identity
import Templating

extension Factor.Kind {
  /// The kind in tables and files.
  var name: String {
    switch self {
    case .totp: "TOTP"
    case .phone: "phone"
    }
  }

  /// What is switched on and off for it, in a sentence.
  var method: String {
    switch self {
    case .totp: "TOTP"
    case .phone: "codes by SMS"
    }
  }
}

/// Second factors in words.
enum FactorWords {
  /// The kinds that an account has, `TOTP, phone`.
  static func kinds(_ account: AccountSummary) -> String {
    let kinds = Factor.Kind.allCases.filter(account.has).map(\.name)
    return kinds.isEmpty ? "none" : kinds.joined(separator: ", ")
  }

  /// What is off for some factors: `TOTP is off here`.
  static func off(_ factors: [Factor]) -> String {
    let kinds = Factor.Kind.allCases.filter { kind in factors.contains { $0.kind == kind } }
    let methods = kinds.map(\.method).joined(separator: " and ")
    return "\(methods) \(kinds == [.totp] ? "is" : "are") off here"
  }

  /// Whether an email tells a user of a change; nil for a user without an address.
  static func mail(to account: Account, isCarried: Bool) -> String? {
    let addresses = account.addresses
    guard let first = addresses.first else { return nil }
    guard isCarried else { return "Email isn’t configured, so the user isn’t notified." }
    return addresses.count == 1
      ? "An email to \(Words.isolated(first)) notifies the user."
      : "Emails to \(addresses.count) addresses notify the user."
  }

  /// Factors by name, for a sentence: `the factor “Pixel 9”`.
  static func list(_ factors: [Factor]) -> String {
    let names = factors.map { "“\(Words.isolated($0.label))”" }
    return "the \(factors.count == 1 ? "factor" : "factors") \(Words.list(names))"
  }

  /// What is known of a factor, for a page that is about it alone.
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
