import Identity
import Localization
import MailText

extension PolicyChange {
  var oldValue: Message { from.message }

  var newValue: Message { to.message }

  /// Both values, such as `off → on`.
  var values: Message {
    Message("policy.change-values", ["from": .message(oldValue), "to": .message(newValue)])
  }
}

extension PolicyChange.Field {
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
