public import Identity
public import Localization
import OTP

extension Enforcement {
  public var message: Message {
    let (day, count) = (Message.Value.date(LocalDate(from)), Message.Value.number(graceDays))
    return switch mode {
    case .claim: Message("policy.enforcement-value-claim", ["day": day, "count": count])
    case .refuse: Message("policy.enforcement-value-refuse", ["day": day, "count": count])
    }
  }
}

extension PolicyChange.Value {
  public var message: Message {
    switch self {
    case .totp(.disabled): Message("common.off")
    case .totp(.enabled): Message("common.on")
    case .totp(.mandatory): Message("policy.totp-mandatory")
    case .totp(.unspecified): Message("common.on-unset")
    case .adjacentIntervals(.none): Message("policy.no-intervals")
    case .adjacentIntervals(.standard):
      Message(
        "policy.default-intervals", ["number": .number(Window.standard.adjacentIntervals)])
    case .adjacentIntervals(.number(let number)): .value(.number(number))
    case .sms(.off): Message("common.off")
    case .sms(.on): Message("common.on")
    case .sms(.listed): Message("policy.sms-listed")
    case .state(nil): Message("policy.state-not-set")
    case .state(.unspecified?): Message("policy.state-unspecified")
    case .state(.disabled?): Message("policy.state-disabled")
    case .state(.enabled?): Message("policy.state-enabled")
    case .state(.mandatory?): Message("policy.state-mandatory")
    case .pattern(nil, from: _): Message("policy.no-pattern")
    case .pattern(.mandatory?, from: nil): Message("policy.pattern-value-mandatory")
    case .pattern(.mandatory?, from: let day?):
      Message("policy.pattern-value-mandatory-from", ["day": .date(LocalDate(day))])
    case .pattern(.skippable?, from: _): Message("policy.pattern-value-skippable")
    case .pattern(.account?, from: _): Message("policy.pattern-value-account")
    case .pattern(.stepUp?, from: _): Message("policy.pattern-value-step-up")
    case .enforcement(nil): Message("common.off")
    case .enforcement(let enforcement?): enforcement.message
    }
  }
}
