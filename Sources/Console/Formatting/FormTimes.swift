import HTTP
import Identity

extension Times {
  /// The name of the hidden field with the time zone in which a form was shown.
  static let zoneField = "time-zone"

  var hiddenZone: HiddenField { HiddenField(name: Self.zoneField, value: zoneName) }
}

extension SignedIn {
  /// Formats and reads the dates and times of a submitted form in the time zone that the form named.
  ///
  /// The administrator may have chosen another one for their account since they opened the form. The
  /// zone is that of the account if the form has none.
  ///
  /// - Throws: ``Refusal/unreadableForm`` for a zone that can't be selected.
  var formTimes: Times { get throws { try times(of: form) } }

  /// Formats and reads the dates and times of a form that was submitted before.
  ///
  /// - Returns: Those of the zone. The account's own zone may have been selected before an update of
  ///   the system removed it, and is then UTC, as on pages.
  /// - Throws: ``Refusal/unreadableForm`` for another zone that can't be selected.
  func times(of form: Form) throws -> Times {
    let zone = form.trimmed(Times.zoneField)
    guard !zone.isEmpty, ![times.zoneName, session.preferences.timeZone].contains(zone) else {
      return times
    }
    guard Zone.names.contains(zone) else { throw Refusal.unreadableForm }
    return Times(catalog, zone: zone)
  }
}
