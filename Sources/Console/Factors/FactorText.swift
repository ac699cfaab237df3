import Identity
import Localization
import Templating

extension Factor.Kind {
  /// The kind's name in lists and chips.
  var name: Message {
    switch self {
    case .totp: Message("common.totp")
    case .phone: Message("factors.phone")
    }
  }

  /// The kind's name on its own.
  var title: Message {
    switch self {
    case .totp: Message("common.totp")
    case .phone: Message("factors.phone-alone")
    }
  }
}

enum FactorText {
  /// Returns the kinds that an account has: `TOTP, phone`.
  static func kinds(_ account: AccountSummary) -> Message {
    let kinds = Factor.Kind.allCases.filter(account.has).map(\.name)
    return kinds.isEmpty ? Message("factors.no-kind") : Message.value(.sequence(kinds))
  }

  /// Returns whether the user is notified by email, as a sentence; nil for a user without an
  /// address.
  static func mail(to account: Account, isCarried: Bool) -> Message? {
    let addresses = account.addresses
    guard let first = addresses.first else { return nil }
    guard isCarried else { return Message("factors.not-notified") }
    return addresses.count == 1
      ? Message("factors.notified", ["address": .name(Formatted.short(first))])
      : Message("factors.notified-at-all", ["count": .number(addresses.count)])
  }

  static func names(_ factors: [Factor]) -> [Message] {
    factors.map { Message("factors.quoted", ["name": name($0)]) }
  }

  static func name(_ factor: Factor) -> Message.Value {
    .name(Formatted.short(factor.label))
  }

  static func facts(_ factor: Factor, _ times: Times) -> [Fact] {
    var facts = [
      Fact(Message("common.name"), HTML.isolated(Formatted.short(factor.label))),
      Fact(Message("factors.kind"), factor.kind.title),
    ]
    if let number = factor.phoneNumber {
      facts.append(Fact(Message("factors.number"), HTML.isolated(number)))
    }
    return facts + [
      Fact(Message("common.enrolled"), times.past(factor.enrolledAt)),
      Fact(Message("common.last-used"), factor.lastUsedAt.map(times.past) ?? AccountChips.never),
    ]
  }

  static func facts(_ hold: RemovalHold, _ times: Times) -> [Fact] {
    [
      Fact(Message("users.removed"), times.past(hold.removedAt)),
      Fact(Message("factors.removed-by"), HTML.isolated(hold.removerName)),
      Fact(Message("users.restorable-until"), times.moment(hold.until)),
    ]
  }
}
