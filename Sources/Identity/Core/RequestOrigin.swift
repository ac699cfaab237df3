/// Where a request came from, and what its program calls itself.
public struct RequestOrigin: Sendable, Equatable {
  /// The address; empty when nobody knows it.
  public let address: String
  /// What the program calls itself; empty when it does not say.
  public let userAgent: String

  /// How much is kept of what a program calls itself, in bytes.
  public static let longestUserAgent = 200

  /// Makes an origin; a program that tells more of itself than anybody reads is cut short.
  public init(address: String = "", userAgent: String = "") {
    self.address = address
    self.userAgent = Self.shortened(userAgent)
  }

  /// The beginning of a text, which does not end within a character of Unicode.
  private static func shortened(_ text: String) -> String {
    guard text.utf8.count > longestUserAgent else { return text }
    var result = String.UnicodeScalarView()
    var left = longestUserAgent
    for scalar in text.unicodeScalars {
      left -= UTF8.width(scalar)
      if left < 0 { break }
      result.append(scalar)
    }
    return String(result)
  }
}
