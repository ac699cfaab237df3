import Identity
import Localization
import MailText

enum PolicyWarning: Equatable {
  case startIsPast(Day)
  /// The change enables SMS codes, which no phone receives.
  case noGateway

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

  var message: Message {
    switch self {
    case .startIsPast(let day):
      Message(
        "The start date, {day}, is in the past: enrollment is mandatory immediately.",
        ["day": Times.value(day)])
    case .noGateway:
      Message(
        """
        There is no SMS gateway, so no phone receives a code. Codes are stored in Messages. \
        Opening them requires the {roles} role.
        """, ["roles": Permission.readMessages.roleNames])
    }
  }
}
