import Identity

extension OffsetHistogram {
  /// The number of accepted codes.
  var acceptedCodes: Int { accepted.reduce(0, +) }
  /// The number of confirmed codes outside the window.
  var confirmedCodes: Int { confirmed.reduce(0, +) }
  /// The number of unconfirmed codes outside the window.
  var unconfirmedCodes: Int { unconfirmed.reduce(0, +) }
}
