extension JSON {
  /// A JSON number, kept as written.
  ///
  /// `9007199254740993` and `1.10` are therefore preserved exactly, and callers that need an
  /// integer can distinguish 5 from 5.5.
  public struct Number: Sendable, Hashable {
    /// The number in the syntax of RFC 8259.
    public let text: String

    /// Creates an integer.
    public init(_ value: Int64) { text = String(value) }

    /// Creates an integer.
    public init(_ value: Int) { text = String(value) }

    /// Creates a number from text; nil when it isn't in the syntax of RFC 8259.
    public init?(text: String) {
      guard case .number(let number) = try? JSON.parse(Array(text.utf8)), number.text == text
      else { return nil }
      self = number
    }

    init(checked text: String) { self.text = text }
  }
}

extension JSON.Number {
  /// The exact value if the number is a 64-bit integer; `5.0` and `5e0` are 5.
  public var int64: Int64? { Int64(text) ?? wholeValue }

  /// The nearest double-precision value; nil when the number is out of range.
  public var double: Double? {
    guard let value = Double(text), value.isFinite else { return nil }
    return value
  }

  /// The integer value of a number with a fraction or an exponent.
  private var wholeValue: Int64? {
    var digits: [UInt8] = []
    var fractionDigits = 0
    var isFraction = false
    var exponent = 0
    var rest = text.utf8[...]
    let isNegative = rest.first == UInt8(ascii: "-")
    if isNegative { rest.removeFirst() }
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "."): isFraction = true
      case UInt8(ascii: "e"), UInt8(ascii: "E"):
        // With an exponent beyond the range of Int, only zero is still a 64-bit integer.
        guard let value = Int(Substring(rest)) else { return digits.allSatisfy(isZero) ? 0 : nil }
        exponent = value
        rest = rest[rest.endIndex...]
      default:
        digits.append(byte)
        if isFraction { fractionDigits += 1 }
      }
    }
    while let last = digits.last, isZero(last) {
      digits.removeLast()
      fractionDigits -= 1
    }
    guard !digits.isEmpty else { return 0 }
    let (zeros, overflow) = exponent.subtractingReportingOverflow(fractionDigits)
    let significant = digits.drop(while: isZero)
    guard !overflow, zeros >= 0, zeros <= 19, significant.count + zeros <= 19 else { return nil }
    let sign = isNegative ? "-" : ""
    let written = String(decoding: significant, as: UTF8.self)
    return Int64(sign + written + String(repeating: "0", count: zeros))
  }

  private func isZero(_ digit: UInt8) -> Bool { digit == UInt8(ascii: "0") }
}
