public import Glibc

/// An IPv4 or IPv6 address, without a port.
public struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
  /// The first 8 bytes of the IPv6 address; an IPv4 address is `::ffff:a.b.c.d`.
  package let high: UInt64
  /// The last 8 bytes.
  package let low: UInt64

  /// Creates an address from its two halves.
  package init(high: UInt64, low: UInt64) {
    self.high = high
    self.low = low
  }

  /// Parses an address in the format of `inet_pton`, such as `192.0.2.7` or `2001:db8::7`.
  ///
  /// - Parameter text: The address, without brackets, a port, or a zone.
  public init?(_ text: some StringProtocol) {
    let text = String(text)
    guard text.utf8.count <= 45, !text.utf8.contains(0) else { return nil }
    var four = in_addr()
    if unsafe inet_pton(AF_INET, text, &four) == 1 {
      self.init(UInt32(bigEndian: four.s_addr))
      return
    }
    var six = in6_addr()
    guard unsafe inet_pton(AF_INET6, text, &six) == 1 else { return nil }
    self.init(six)
  }

  /// Creates the address of a peer; nil when it isn't an IP address.
  public init?(_ address: UnsafePointer<sockaddr>) {
    switch unsafe Int32(address.pointee.sa_family) {
    case AF_INET:
      let four = unsafe address.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
        unsafe $0.pointee.sin_addr.s_addr
      }
      self.init(UInt32(bigEndian: four))
    case AF_INET6:
      let six = unsafe address.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
        unsafe $0.pointee.sin6_addr
      }
      self.init(six)
    default: return nil
    }
  }

  private init(_ four: UInt32) {
    self.init(high: 0, low: 0xFFFF << 32 | UInt64(four))
  }

  private init(_ six: in6_addr) {
    var six = six
    let words = unsafe withUnsafeBytes(of: &six) { bytes in
      (
        UInt64(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)),
        UInt64(bigEndian: unsafe bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
      )
    }
    self.init(high: words.0, low: words.1)
  }

  /// Whether it's an IPv4 address.
  public var isIPv4: Bool { high == 0 && low >> 32 == 0xFFFF }

  /// The network of one customer: an IPv4 address or an IPv6 /64.
  public var network: NetworkAddress { isIPv4 ? self : NetworkAddress(high: high, low: 0) }

  /// The address in its shortest text form.
  public var description: String {
    unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      guard let base = buffer.baseAddress else { return "" }
      let written: UnsafePointer<CChar>?
      if isIPv4 {
        var four = in_addr(s_addr: UInt32(truncatingIfNeeded: low).bigEndian)
        unsafe written = inet_ntop(AF_INET, &four, base, 64)
      } else {
        var words = (high.bigEndian, low.bigEndian)
        unsafe written = inet_ntop(AF_INET6, &words, base, 64)
      }
      return unsafe written.map { unsafe String(cString: $0) } ?? ""
    }
  }
}

/// A range of addresses with a common prefix, such as `10.0.0.0/8`, or a single address.
public struct AddressRange: Hashable, Sendable, CustomStringConvertible {
  private let first: NetworkAddress
  /// The prefix length, of the 128 bits of IPv6.
  private let bits: Int

  /// Parses an address, or one with a prefix length (CIDR, RFC 4632).
  ///
  /// - Parameter text: Text such as `192.0.2.7`, `10.0.0.0/8`, or `fd00::/8`; bits after the prefix
  ///   are ignored.
  public init?(_ text: some StringProtocol) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
    guard let address = NetworkAddress(parts[0]) else { return nil }
    let most = address.isIPv4 ? 32 : 128
    var prefix = most
    if parts.count == 2 {
      guard (1...3).contains(parts[1].utf8.count),
        parts[1].utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
        let number = Int(parts[1]), number <= most
      else { return nil }
      prefix = number
    }
    bits = 128 - most + prefix
    first = AddressRange.masked(address, bits)
  }

  /// Returns whether an address is in the range.
  public func contains(_ address: NetworkAddress) -> Bool {
    AddressRange.masked(address, bits) == first
  }

  /// The first address and the prefix length.
  public var description: String { "\(first)/\(first.isIPv4 ? bits - 96 : bits)" }

  private static func masked(_ address: NetworkAddress, _ bits: Int) -> NetworkAddress {
    let high = bits >= 64 ? UInt64.max : ~(UInt64.max >> UInt64(bits))
    let low = bits <= 64 ? 0 : bits >= 128 ? UInt64.max : ~(UInt64.max >> UInt64(bits - 64))
    return NetworkAddress(high: address.high & high, low: address.low & low)
  }
}
