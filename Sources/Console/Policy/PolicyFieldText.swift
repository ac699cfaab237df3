import Identity
import Localization
import MailText

extension PolicyChange {
  var oldValue: Message { from.message }

  var newValue: Message { to.message }

  /// Both values, such as `off → on`.
  var values: Message {
    Message("{from} → {to}", ["from": .message(oldValue), "to": .message(newValue)])
  }
}

extension PolicyChange.Field {
  var name: Message {
    switch self {
    case .totp: .verbatim("TOTP")
    case .adjacentIntervals: Message("adjacent intervals")
    case .sms: .verbatim("SMS")
    case .state: Message("state")
    case .pattern: Message("enrollment pattern")
    case .enforcement: Message("server enforcement")
    }
  }

  var label: Message {
    switch self {
    case .totp: .verbatim("TOTP")
    case .adjacentIntervals: Message("Adjacent intervals")
    case .sms: .verbatim("SMS")
    case .state: Message("State")
    case .pattern: Message("Enrollment pattern")
    case .enforcement: Message("Server enforcement")
    }
  }
}
