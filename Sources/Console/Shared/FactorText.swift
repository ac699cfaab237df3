import Identity
import Localization
import Templating

extension Factor.Kind {
  /// The kind's name in lists and chips.
  var name: Message {
    switch self {
    case .totp: Message("TOTP")
    case .phone: Message("phone")
    }
  }

  /// The kind's name on its own.
  var title: Message {
    switch self {
    case .totp: Message("TOTP")
    case .phone: Message("Phone")
    }
  }
}

enum FactorText {
  /// Returns the kinds that an account has: `TOTP, phone`.
  static func kinds(_ account: AccountSummary) -> Message {
    let kinds = Factor.Kind.allCases.filter(account.has).map(\.name)
    return kinds.isEmpty ? Message("none") : Message.value(.sequence(kinds))
  }

  /// Returns whether the user is notified by email, as a sentence; nil for a user without an
  /// address.
  static func mail(to account: Account, in pool: Pool, isCarried: Bool) -> Message? {
    if pool.kind == .countersign {
      return Message("The other Countersign notifies the user by email.")
    }
    let addresses = account.addresses
    guard let first = addresses.first else { return nil }
    guard isCarried else {
      return Message("Email isn’t set up. The user won’t be notified.")
    }
    return addresses.count == 1
      ? Message(
        "The user is notified by email at {address}.", ["address": .name(Formatted.short(first))])
      : Message(
        one: "The user is notified by email at {count} address.",
        other: "The user is notified by email at {count} addresses.",
        ["count": .number(addresses.count)])
  }

  static func names(_ factors: [Factor]) -> [Message] {
    factors.map { Message("“{name}”", ["name": name($0)]) }
  }

  static func name(_ factor: Factor) -> Message.Value {
    .name(Formatted.short(factor.label))
  }

  /// `pool` is needed where another server may know when the factor was used.
  static func facts(_ factor: Factor, _ times: Times, in pool: Pool? = nil) -> [Fact] {
    var facts = [
      Fact(Message("Name"), HTML.isolated(Formatted.short(factor.label))),
      Fact(Message("Type"), factor.kind.title),
    ]
    facts.add(Message("Number"), factor.phoneNumber.map(HTML.isolated))
    if let offset = factor.clockOffset {
      facts.append(Fact(Message("Clock offset"), clock(offset)))
    }
    return facts + [
      Fact(Message("Enrolled"), times.past(factor.enrolledAt)),
      Fact(
        Message("Last used"),
        factor.lastUsedAt.map(times.past) ?? pool.map(AccountChips.lastUse) ?? AccountChips.never),
    ]
  }

  /// Returns how far the clock of a factor's device is off, in intervals.
  static func clock(_ offset: Int) -> Message {
    let count = Message.Value.number(abs(offset))
    return switch offset {
    case 0: Message("on time")
    case ..<0:
      Message(one: "{count} interval slow", other: "{count} intervals slow", ["count": count])
    default:
      Message(one: "{count} interval fast", other: "{count} intervals fast", ["count": count])
    }
  }

  static func facts(_ hold: RemovalHold, _ times: Times) -> [Fact] {
    [
      Fact(Message("Removed"), times.past(hold.removedAt)),
      Fact(Message("Removed by"), HTML.isolated(hold.removerName)),
      Fact(Message("Restorable until"), times.moment(hold.until)),
    ]
  }
}
