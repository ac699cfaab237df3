import Identity
import Localization
import MailText

/// A value of a changed policy that is probably a mistake.
enum PolicyWarning: Equatable {
  /// The change makes enrollment mandatory from a day in the past.
  case startIsPast(Day)
  /// The change enables SMS codes, which no phone receives.
  case noGateway

  /// Returns the warnings about a change.
  ///
  /// - Parameters:
  ///   - old: The policy before the change.
  ///   - new: The policy after the change.
  ///   - now: The current time.
  ///   - carriesText: Whether this server sends text messages.
  /// - Returns: The warnings; empty for most changes.
  static func all(
    from old: PolicyEdit, to new: PolicyEdit, at now: Instant, carriesText: Bool
  ) -> [PolicyWarning] {
    var warnings: [PolicyWarning] = []
    if let day = new.mandatoryFrom, day != old.mandatoryFrom, day.start < now {
      warnings.append(.startIsPast(day))
    }
    if new.configuration.isSMSOn, !old.configuration.isSMSOn, !carriesText {
      warnings.append(.noGateway)
    }
    return warnings
  }

  /// The sentence.
  var message: Message {
    switch self {
    case .startIsPast(let day): Message("policy.start-is-past", ["day": Times.value(day)])
    case .noGateway:
      Message(
        "policy.no-sms-gateway", ["holder": .message(Permission.readMessages.holder)])
    }
  }
}
