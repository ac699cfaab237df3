import Foundation

/// Rules for the names of hosts in URLs and email addresses.
public enum HostName {
  /// Returns whether a text has only the characters of a host name or an IPv4 address: ASCII
  /// letters, digits, hyphens, and dots (RFC 1123 section 2.1).
  public static func isValid(_ text: some StringProtocol) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."):
          true
        default: false
        }
      }
  }

  /// Returns a name with A-labels (RFC 5890 section 2.3.2.1), such as `xn--exmple-cua.de` for
  /// `exämple.de` in any spelling.
  ///
  /// - Returns: The name, unchanged if it's ASCII; nil if it isn't a valid internationalized name
  ///   (UTS 46).
  public static func encoded(_ name: String) -> String? {
    guard !name.utf8.allSatisfy({ $0 < 128 }) else { return name }
    guard name.utf8.count <= longest else { return nil }
    var url = URLComponents()
    url.host = name
    // Percent-encoded if it isn't a valid name.
    guard let encoded = url.encodedHost, isValid(encoded) else { return nil }
    return encoded
  }

  /// Returns a name with U-labels, such as `exämple.de` for `xn--exmple-cua.de`.
  ///
  /// - Returns: The name, unchanged if it has no A-labels or is invalid.
  public static func decoded(_ name: String) -> String {
    guard name.utf8.count <= longest, name.utf8.contains("xn--".utf8), isValid(name) else {
      return name
    }
    return URLComponents(string: "https://\(name)")?.host ?? name
  }

  /// The maximum length of an internationalized name in bytes; one with A-labels has 255.
  private static let longest = 1_024

  private static let loopback = NetworkAddress(high: 0, low: 1)

  /// Returns whether a host, without brackets, is this machine: `localhost` or an address of it,
  /// but no name that looks like one, such as `127.0.0.example`.
  public static func isLoopback(_ host: String) -> Bool {
    guard let address = NetworkAddress(host) else { return host == "localhost" }
    return address == loopback || address.isIPv4 && address.low >> 24 & 0xFF == 127
  }
}
