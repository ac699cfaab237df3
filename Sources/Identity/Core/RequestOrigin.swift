public struct RequestOrigin: Sendable, Equatable {
  /// The IP address; empty if unknown.
  public let address: String
  /// The user agent; empty if not sent.
  public let userAgent: String

  /// The maximum stored length of a user agent, in bytes.
  public static let longestUserAgent = 200

  /// Creates an origin and truncates a long user agent.
  public init(address: String = "", userAgent: String = "") {
    self.address = address
    self.userAgent = Self.shortened(userAgent)
  }

  /// Truncates text at a Unicode scalar boundary.
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
