extension Day {
  /// The day after; the last day that can be written has none and is its own.
  public var next: Day { Day(start.advanced(bySeconds: 86_400)) }

  /// The moment at which the day begins in UTC.
  public var start: Instant {
    // Eras of 400 years begin on 1 March.
    let shifted = Int64(month <= 2 ? year - 1 : year)
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = Int64((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1)
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return Instant(seconds: (era * 146_097 + dayOfEra - 719_468) * 86_400)
  }
}
