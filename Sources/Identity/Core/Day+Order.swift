extension Day {
  /// The next day; the last representable day returns itself.
  public var next: Day { Day(start.advanced(bySeconds: 86_400)) }

  /// The start of the day in UTC.
  public var start: Instant {
    // Counts in eras of 400 years that begin on March 1.
    let shifted = Int64(month <= 2 ? year - 1 : year)
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let dayOfYear = Int64((153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1)
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return Instant(seconds: (era * 146_097 + dayOfEra - 719_468) * 86_400)
  }
}
