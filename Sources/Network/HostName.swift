/// Rules for the names of hosts in URLs.
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

  private static let loopback = NetworkAddress(high: 0, low: 1)

  /// Returns whether a host, without brackets, is this machine: `localhost` or an address of it,
  /// but no name that looks like one, such as `127.0.0.example`.
  public static func isLoopback(_ host: String) -> Bool {
    guard let address = NetworkAddress(host) else { return host == "localhost" }
    return address == loopback || address.isIPv4 && address.low >> 24 & 0xFF == 127
  }
}
