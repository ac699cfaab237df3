/// Percentages in forms and addresses, such as `99.95`, as hundredths of a percent.
enum Percentage {
  /// The percentage without a sign, and without zeros at its end.
  static func text(_ basisPoints: Int) -> String {
    let (whole, rest) = basisPoints.quotientAndRemainder(dividingBy: 100)
    if rest == 0 { return "\(whole)" }
    if rest % 10 == 0 { return "\(whole).\(rest / 10)" }
    return "\(whole).\(rest < 10 ? "0" : "")\(rest)"
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
