import Identity
import Localization
import MailText

extension PolicyChange {
  /// The value before the change.
  var oldValue: Message { from.message }

  /// The value after the change.
  var newValue: Message { to.message }

  /// Both values, such as `off → on`.
  var values: Message {
    Message("policy.change-values", ["from": .message(oldValue), "to": .message(newValue)])
  }
}

extension PolicyChange.Field {
  /// The name, for lists and sentences.
  var name: Message {
    switch self {
    case .totp: .verbatim("TOTP")
    case .adjacentIntervals: Message("policy.adjacent-intervals-name")
    case .sms: .verbatim("SMS")
    case .state: Message("policy.state-name")
    case .pattern: Message("policy.pattern-name")
    case .enforcement: Message("policy.enforcement-name")
    }
  }

  /// The name as a label.
  var label: Message {
    switch self {
    case .totp: .verbatim("TOTP")
    case .adjacentIntervals: Message("common.adjacent-intervals")
    case .sms: .verbatim("SMS")
    case .state: Message("common.state")
    case .pattern: Message("policy.enrollment-pattern")
    case .enforcement: Message("policy.server-enforcement")
    }
  }
}
