public import Network

/// The addresses that a client may connect to.
///
/// These are the globally reachable ones, and those that the operator allows. Addresses of the IANA
/// special-purpose registries (RFC 6890), and those at which clouds serve credentials, aren't
/// reachable otherwise, so that a URL can't turn the server against its own network.
public struct AddressPolicy: Sendable {
  private let allowed: [AddressRange]

  /// Creates a policy.
  ///
  /// - Parameter allowed: Addresses to allow although they're private or special.
  public init(allowing allowed: [AddressRange] = []) { self.allowed = allowed }

  /// Returns whether a client may connect to an address.
  public func allows(_ address: NetworkAddress) -> Bool {
    allowed.contains { $0.contains(address) } || Self.isGlobal(address)
  }

  private static func isGlobal(_ address: NetworkAddress) -> Bool {
    if address.isIPv4 { return !special.contains { $0.contains(address) } }
    // Networks without IPv4 reach an IPv4 address through its NAT64 address (RFC 6052).
    if nat64.contains(where: { $0.contains(address) }) {
      return isGlobal(NetworkAddress(high: 0, low: 0xFFFF << 32 | address.low & 0xFFFF_FFFF))
    }
    return unicast.contains { $0.contains(address) } && !special.contains { $0.contains(address) }
  }

  private static let nat64 = ranges("64:ff9b::/96")
  /// Addresses that IANA has assigned for global unicast (RFC 4291 section 2.4).
  private static let unicast = ranges("2000::/3")

  private static let special = ranges(
    "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
    "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15",
    "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
    // Virtual machines of Azure get credentials at this public address.
    "168.63.129.16/32",
    "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

  private static func ranges(_ texts: String...) -> [AddressRange] {
    texts.compactMap { AddressRange($0) }
  }
}
