import Localization

/// Formats numbers and names for sentences, without the cost of a formatter.
enum Words {
  /// An integer with thousands separators: `3,918`.
  static func number(_ number: Int) -> String {
    let digits = String(number.magnitude)
    guard digits.utf8.count > 3 else { return number < 0 ? "−" + digits : digits }
    var text = number < 0 ? "−" : ""
    for (index, digit) in digits.utf8.enumerated() {
      if index > 0, (digits.utf8.count - index) % 3 == 0 { text += "," }
      text.unicodeScalars.append(Unicode.Scalar(digit))
    }
    return text
  }

  /// A number with its noun: `1 user`, `3,918 users`.
  static func count(_ number: Int, _ one: String, _ many: String) -> String {
    "\(self.number(number)) \(number == 1 ? one : many)"
  }

  /// A duration: `30 s`, `5 min`, `5 min 30 s`, `1 h`.
  static func duration(seconds: Int) -> String {
    if seconds >= 3_600, seconds % 3_600 == 0 { return "\(seconds / 3_600) h" }
    let (minutes, rest) = seconds.quotientAndRemainder(dividingBy: 60)
    if minutes == 0 { return "\(rest) s" }
    return rest == 0 ? "\(minutes) min" : "\(minutes) min \(rest) s"
  }

  /// A list of names: `Ada`, `Ada and Bo`, `Ada, Bo, and Cy`.
  static func list(_ names: [String], _ conjunction: String = "and") -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ")
      + (names.count > 2 ? ", \(conjunction) " : " \(conjunction) ") + last
  }

  /// A phrase with its first letter capitalized.
  static func sentence(_ phrase: String) -> String {
    phrase.prefix(1).uppercased() + phrase.dropFirst()
  }

  /// A name truncated for titles and sentences.
  static func short(_ name: String, _ limit: Int = 80) -> String {
    guard name.utf8.count > limit, name.count > limit else { return name }
    return name.prefix(limit - 1) + "…"
  }

  /// A duration in hours, or in days if it's a multiple of more than one day: `36 hours`, `3 days`.
  static func hours(_ hours: Int) -> String {
    hours % 24 == 0 && hours > 24
      ? count(hours / 24, "day", "days") : count(hours, "hour", "hours")
  }

  /// A name for running text, isolated so that it can't change the direction of the text around it.
  ///
  /// Markup uses `<bdi>`; page titles and sentences that are escaped as a whole need characters.
  static func isolated(_ name: String) -> String {
    Isolation.isolated(short(name))
  }
}
