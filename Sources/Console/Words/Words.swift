/// Numbers and names as sentences want them, without a formatter's cost.
enum Words {
  /// A whole number, grouped by thousands with a narrow space that does not break.
  static func number(_ number: Int) -> String {
    let digits = String(number.magnitude)
    guard digits.utf8.count > 3 else { return number < 0 ? "−" + digits : digits }
    var text = number < 0 ? "−" : ""
    for (index, digit) in digits.utf8.enumerated() {
      if index > 0, (digits.utf8.count - index) % 3 == 0 { text += "\u{202F}" }
      text.unicodeScalars.append(Unicode.Scalar(digit))
    }
    return text
  }

  /// A number with its noun: `1 user`, `3 918 users`.
  static func count(_ number: Int, _ one: String, _ many: String) -> String {
    "\(self.number(number)) \(number == 1 ? one : many)"
  }

  /// A short time: `30 s`, `5 min`, `5 min 30 s`, `1 h`.
  static func duration(seconds: Int) -> String {
    if seconds >= 3_600, seconds % 3_600 == 0 { return "\(seconds / 3_600) h" }
    let (minutes, rest) = seconds.quotientAndRemainder(dividingBy: 60)
    if minutes == 0 { return "\(rest) s" }
    return rest == 0 ? "\(minutes) min" : "\(minutes) min \(rest) s"
  }

  /// Names in a row: `Ada`, `Ada and Bo`, `Ada, Bo and Cy`.
  static func list(_ names: [String]) -> String {
    guard let last = names.last, names.count > 1 else { return names.first ?? "" }
    return names.dropLast().joined(separator: ", ") + " and " + last
  }

  /// A phrase as the beginning of a line: its first letter in capitals.
  static func sentence(_ phrase: String) -> String {
    phrase.prefix(1).uppercased() + phrase.dropFirst()
  }

  /// A name cut to a length that titles and sentences bear.
  static func short(_ name: String, _ limit: Int = 80) -> String {
    guard name.utf8.count > limit, name.count > limit else { return name }
    return name.prefix(limit - 1) + "…"
  }

  /// A time in hours, as days where it is some: `36 hours`, `3 days`.
  static func hours(_ hours: Int) -> String {
    hours % 24 == 0 && hours > 24
      ? count(hours / 24, "day", "days") : count(hours, "hour", "hours")
  }

  /// A name for running text, kept from turning the words around it.
  ///
  /// Where markup is possible `<bdi>` does this; a page's title and a sentence that is escaped
  /// whole have only characters. A name's own direction controls are dropped, since one of them
  /// could end the isolation.
  static func isolated(_ name: String) -> String {
    let short = short(name)
    guard short.utf8.contains(where: { $0 >= 0x80 }) else { return short }
    var text = String.UnicodeScalarView()
    text.append("\u{2068}")
    for scalar in short.unicodeScalars where !isDirectionControl(scalar) { text.append(scalar) }
    text.append("\u{2069}")
    return String(text)
  }

  private static func isDirectionControl(_ scalar: Unicode.Scalar) -> Bool {
    (0x202A...0x202E).contains(scalar.value) || (0x2066...0x2069).contains(scalar.value)
  }
}
