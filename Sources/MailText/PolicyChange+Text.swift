public import Identity
public import Localization
import OTP

extension PolicyChange.Value {
  /// The value as a part of a list of settings.
  public var message: Message {
    switch self {
    case .totp(.disabled): Message("mail.totp-off")
    case .totp(.enabled): Message("mail.totp-on")
    case .totp(.mandatory): Message("mail.totp-mandatory")
    case .totp(.unspecified): Message("mail.totp-unspecified")
    case .adjacentIntervals(.none): Message("mail.intervals-none")
    case .adjacentIntervals(.standard):
      Message(
        "mail.intervals-default", ["number": .number(Window.standard.adjacentIntervals)])
    case .adjacentIntervals(.number(let number)): .value(.number(number))
    case .sms(.off): Message("mail.sms-off")
    case .sms(.on): Message("mail.sms-on")
    case .sms(.listed): Message("mail.sms-listed")
    case .state(nil): Message("mail.state-not-set")
    case .state(.unspecified?): Message("mail.state-unspecified")
    case .state(.disabled?): Message("mail.state-disabled")
    case .state(.enabled?): Message("mail.state-enabled")
    case .state(.mandatory?): Message("mail.state-mandatory")
    case .pattern(nil, from: _): Message("mail.pattern-none")
    case .pattern(.mandatory?, from: nil): Message("mail.pattern-mandatory")
    case .pattern(.mandatory?, from: let day?):
      Message("mail.pattern-mandatory-from", ["day": .text(day.description)])
    case .pattern(.skippable?, from: _): Message("mail.pattern-skippable")
    case .pattern(.account?, from: _): Message("mail.pattern-account")
    case .pattern(.stepUp?, from: _): Message("mail.pattern-step-up")
    }
  }
}
