/// Percentages in forms, addresses, and files, such as `99.95`, which are the same in every language.
enum Percentage {
  /// The percentage without a sign, and without zeros at its end.
  ///
  /// `number` is in units of the last decimal place, at least 0.
  static func text(_ number: Int, places: Int = 2) -> String {
    var (number, places) = (number, places)
    while places > 0, number % 10 == 0 { (number, places) = (number / 10, places - 1) }
    guard places > 0 else { return String(number) }
    var digits = String(number)
    while digits.utf8.count <= places { digits = "0" + digits }
    return "\(digits.dropLast(places)).\(digits.suffix(places))"
  }

  /// The hundredths of a percent; nil unless it's digits, with at most two after a point or comma.
  static func basisPoints(_ text: String) -> Int? {
    let parts = text.utf8.split(omittingEmptySubsequences: false) {
      $0 == UInt8(ascii: ".") || $0 == UInt8(ascii: ",")
    }
    let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
    guard parts.count <= 2, parts[0].count <= 3,
      parts.allSatisfy({ !$0.isEmpty && $0.allSatisfy(digits.contains) })
    else { return nil }
    let decimals = parts.count == 2 ? parts[1] : "0".utf8[...]
    guard decimals.count <= 2, let whole = Int(Substring(parts[0])),
      let rest = Int(Substring(decimals))
    else { return nil }
    return whole * 100 + (decimals.count == 1 ? rest * 10 : rest)
  }
}
