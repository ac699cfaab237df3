import Identity
import Localization
import OTP

extension PolicyChange {
  /// The value before the change.
  var oldValue: Message { field.value(in: old) }

  /// The value after the change.
  var newValue: Message { field.value(in: new) }

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
    }
  }

  /// The value in a policy.
  func value(in edit: PolicyEdit) -> Message {
    let configuration = edit.configuration
    switch self {
    case .totp: return Self.totpState(configuration)
    case .adjacentIntervals:
      guard let totp = configuration.totp else { return Message("policy.no-intervals") }
      return totp.adjacentIntervals.map { Message.value(.number($0)) }
        ?? Message(
          "policy.default-intervals", ["number": .number(Window.standard.adjacentIntervals)])
    case .sms:
      guard configuration.smsEnabled else { return Message("common.off") }
      return configuration.isSMSOn ? Message("common.on") : Message("policy.sms-listed")
    case .state: return Self.mfaState(configuration)
    case .pattern: return Self.patternValue(edit)
    }
  }

  private static func totpState(_ configuration: MFAConfiguration) -> Message {
    switch configuration.totp?.state {
    case nil, .disabled: Message("common.off")
    case .enabled: Message("common.on")
    case .mandatory: Message("policy.totp-mandatory")
    case .unspecified: Message("common.on-unset")
    }
  }

  private static func mfaState(_ configuration: MFAConfiguration) -> Message {
    switch configuration.state {
    case nil: Message("policy.state-not-set")
    case .unspecified: Message("policy.state-unspecified")
    case .disabled: Message("policy.state-disabled")
    case .enabled: Message("policy.state-enabled")
    case .mandatory: Message("policy.state-mandatory")
    }
  }

  private static func patternValue(_ edit: PolicyEdit) -> Message {
    switch edit.pattern {
    case nil: Message("policy.no-pattern")
    case .mandatory:
      edit.mandatoryFrom.map {
        Message("policy.pattern-value-mandatory-from", ["day": .text($0.description)])
      } ?? Message("policy.pattern-value-mandatory")
    case .skippable: Message("policy.pattern-value-skippable")
    case .account: Message("policy.pattern-value-account")
    case .stepUp: Message("policy.pattern-value-step-up")
    }
  }
}
