public import Identity
public import Localization
import OTP

extension Enforcement {
  public var message: Message {
    let (day, count) = (Message.Value.date(LocalDate(from)), Message.Value.number(graceDays))
    return switch mode {
    case .claim:
      Message(
        one: "flag in ID token from {day}, {count}-day grace period",
        other: "flag in ID token from {day}, {count}-day grace period",
        ["day": day, "count": count])
    case .refuse:
      Message(
        one: "block sign-in from {day}, {count}-day grace period",
        other: "block sign-in from {day}, {count}-day grace period",
        ["day": day, "count": count])
    }
  }
}

extension PolicyChange.Value {
  public var message: Message {
    switch self {
    case .totp(.disabled): Message("off")
    case .totp(.enabled): Message("on")
    case .totp(.mandatory): Message("on (mandatory)")
    case .totp(.unspecified): Message("on (state unset)")
    case .adjacentIntervals(nil): Message("none")
    case .adjacentIntervals(.standard?):
      Message("{number} (default)", ["number": .number(Window.standard.adjacentIntervals)])
    case .adjacentIntervals(.number(let number)?): .value(.number(number))
    case .adjacentIntervals(.unsaid?): Message("0 or default")
    case .sms(.off): Message("off")
    case .sms(.on): Message("on")
    case .sms(.listed): Message("off (listed, but the state is not on)")
    case .state(nil): Message("not set")
    case .state(.unspecified?): Message("unspecified")
    case .state(.disabled?): Message("disabled")
    case .state(.enabled?): Message("enabled")
    case .state(.mandatory?): Message("mandatory")
    case .pattern(nil, from: _): Message("none")
    case .pattern(.mandatory?, from: nil): Message("Mandatory at sign-up")
    case .pattern(.mandatory?, from: let day?):
      Message("Mandatory from {day}", ["day": .date(LocalDate(day))])
    case .pattern(.skippable?, from: _): Message("Skippable at sign-up")
    case .pattern(.account?, from: _): Message("From the account page")
    case .pattern(.stepUp?, from: _): Message("Step-up")
    case .enforcement(nil): Message("off")
    case .enforcement(let enforcement?): enforcement.message
    }
  }
}
