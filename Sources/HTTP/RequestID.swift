/// An ID for a request in the access log and on error pages: 12 characters, unique per run.
///
/// It isn't secret and can be guessed.
public struct RequestID: Hashable, Sendable, CustomStringConvertible {
  /// The number behind the text, below 2^60.
  public let number: UInt64

  /// Creates an ID from a number, using its lower 60 bits.
  public init(_ number: UInt64) {
    self.number = number & (1 << 60 - 1)
  }

  /// The 12 characters: digits and uppercase letters except I, L, O, and U.
  public var text: String {
    var text = ""
    text.reserveCapacity(12)
    for index in 0..<12 { text.unicodeScalars.append(Unicode.Scalar(character(index))) }
    return text
  }

  /// The 12 characters.
  public var description: String { text }

  /// Returns one character of the text as ASCII.
  ///
  /// - Parameter index: The position, 0 to 11 from the left.
  /// - Returns: A digit or an uppercase letter.
  public func character(_ index: Int) -> UInt8 {
    let digit = UInt8(truncatingIfNeeded: number >> UInt64(5 * (11 - index))) & 31
    return switch digit {
    case 0...9: UInt8(ascii: "0") + digit
    case 10...17: UInt8(ascii: "A") + digit - 10
    case 18...19: UInt8(ascii: "J") + digit - 18
    case 20...21: UInt8(ascii: "M") + digit - 20
    case 22...26: UInt8(ascii: "P") + digit - 22
    default: UInt8(ascii: "V") + digit - 27
    }
  }
}
