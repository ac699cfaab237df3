/// The part of an IP address that guesses are counted for.
public enum Network {
  /// Returns whether a text is a single IPv4 or IPv6 address, without a zone or port.
  public static func isAddress(_ text: String) -> Bool {
    guard text.utf8.count <= longest else { return false }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    if parts.count == 4,
      parts.allSatisfy({ UInt8($0)?.description.utf8.elementsEqual($0.utf8) == true })
    {
      return true
    }
    return !text.utf8.contains(UInt8(ascii: "%")) && groups(text) != nil
  }

  /// Returns the complete IPv4 address, or the first 64 bits of an IPv6 address, because a client
  /// with one of its addresses usually controls all of them.
  ///
  /// For any other text, returns its first bytes, up to the length of the longest address.
  static func name(of address: String) -> String {
    guard let groups = groups(address) else {
      return String(decoding: address.utf8.prefix(longest), as: UTF8.self)
    }
    if groups[..<5].allSatisfy({ $0 == 0 }), groups[5] == 0xFFFF {
      let bytes = groups[6...].flatMap { [$0 >> 8, $0 & 0xFF] }
      return bytes.map(String.init).joined(separator: ".")
    }
    return groups[..<4].map { String($0, radix: 16) }.joined(separator: ":") + "::/64"
  }

  /// The length of the longest address in bytes: IPv6 ending with an IPv4 address.
  private static let longest = 45

  /// Returns the eight groups of an IPv6 address (RFC 4291, section 2.2) without its zone; nil for
  /// any other text.
  private static func groups(_ address: String) -> [UInt16]? {
    let text = address.prefix { $0 != "%" }
    guard text.contains(":"), text.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." }) else {
      return nil
    }
    let halves = text.split(separator: "::", omittingEmptySubsequences: false)
    guard halves.count <= 2, let head = run(halves[0]) else { return nil }
    guard halves.count == 2 else { return head.count == 8 ? head : nil }
    guard let tail = run(halves[1]), head.count + tail.count < 8 else { return nil }
    return head + [UInt16](repeating: 0, count: 8 - head.count - tail.count) + tail
  }

  /// Parses groups separated by colons, the last of which may be an IPv4 address.
  private static func run(_ text: Substring) -> [UInt16]? {
    guard !text.isEmpty else { return [] }
    var groups: [UInt16] = []
    for part in text.split(separator: ":", omittingEmptySubsequences: false) {
      let bytes = part.split(separator: ".", omittingEmptySubsequences: false)
      if bytes.count == 4 {
        let numbers = bytes.compactMap { UInt8($0) }
        guard numbers.count == 4 else { return nil }
        groups.append(UInt16(numbers[0]) << 8 | UInt16(numbers[1]))
        groups.append(UInt16(numbers[2]) << 8 | UInt16(numbers[3]))
      } else {
        guard (1...4).contains(part.utf8.count), let group = UInt16(part, radix: 16) else {
          return nil
        }
        groups.append(group)
      }
    }
    return groups
  }
}

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

/// The IP address of a client, and who vouches for it.
public struct ClientAddress: Sendable, Equatable {
  public let text: String
  /// Whether a backend forwarded it, which may send any address; otherwise it was seen on the
  /// connection, or a trusted proxy sent it.
  public let isForwarded: Bool

  public init(seen text: String) { (self.text, isForwarded) = (text, false) }

  public init(forwarded text: String) { (self.text, isForwarded) = (text, true) }

  var network: String { Network.name(of: text) }

  /// The network, for the counters of calls of a pool: the backends of a pool vouch for the addresses
  /// that they forward in this pool only.
  func network(in pool: Int64) -> String { isForwarded ? "\(pool) \(network)" : network }
}

extension ClientAddress: ExpressibleByStringInterpolation {
  public init(stringLiteral text: String) { self.init(seen: text) }
}
