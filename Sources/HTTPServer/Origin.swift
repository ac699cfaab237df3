import HTTP
import Network
import Text

/// The origin of a request, as reported by trusted proxies.
struct Origin {
  let peer: String
  /// The network that the request's body counts for.
  let network: NetworkAddress
  let isSecure: Bool
  /// The proxy's own ID of the request; nil for none.
  let proxyID: String?

  init(of exchange: Exchange, _ configuration: ServerConfiguration) {
    let proxies = configuration.trustedProxies
    guard !proxies.isEmpty, let address = exchange.connection.address,
      proxies.contains(where: { $0.contains(address) })
    else {
      peer = exchange.connection.peer
      network = Connections.network(exchange.connection.address)
      isSecure = configuration.tls != nil
      proxyID = nil
      return
    }
    let client = Origin.client(exchange.fields.all(.xForwardedFor), through: proxies)
    peer = client?.description ?? exchange.connection.peer
    network = Connections.network(client ?? exchange.connection.address)
    isSecure = exchange.fields[.xForwardedProto]?.isSameToken(as: "https") ?? false
    proxyID = exchange.fields[.xRequestID].flatMap(Self.proxyID)
  }

  /// The maximum length of a proxy's ID, in bytes.
  static let longestProxyID = 128

  /// Returns an ID of visible ASCII characters; nil for anything else.
  private static func proxyID(_ text: String) -> String? {
    let bytes = text.utf8
    guard (1...longestProxyID).contains(bytes.count), bytes.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
    else { return nil }
    return text
  }

  /// Returns the client's address behind trusted proxies; nil when it can't be determined.
  ///
  /// Each proxy appends the address that it sees, so the list is read from its end. The first
  /// address that isn't a trusted proxy is the client's; everything before it was sent by the
  /// client. If all addresses are trusted, the first in the list is the client's. A hop that isn't
  /// an address ends the search, since nothing before it can be trusted.
  static func client(_ lines: [String], through proxies: [AddressRange]) -> NetworkAddress? {
    var farthest: NetworkAddress?
    // As bytes: to Swift, a comma after certain characters, such as U+0600, is part of theirs.
    let hops = lines.flatMap {
      $0.utf8.split(separator: UInt8(ascii: ","), omittingEmptySubsequences: false)
    }
    for hop in hops.reversed() {
      guard let address = address(ofHop: Substring(hop)) else { return farthest }
      farthest = address
      guard proxies.contains(where: { $0.contains(address) }) else { return address }
    }
    return farthest
  }

  /// Parses `address`, `address:port`, `[address]`, and `[address]:port`.
  private static func address(ofHop text: Substring) -> NetworkAddress? {
    let isBlank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
    var hop = text.drop(while: isBlank)
    while let last = hop.last, isBlank(last) { hop.removeLast() }
    guard hop.utf8.count <= 64 else { return nil }
    if hop.utf8.first == UInt8(ascii: "[") {
      guard let end = hop.firstIndex(of: "]") else { return nil }
      let rest = hop[hop.index(after: end)...]
      guard rest.isEmpty || isPort(rest) else { return nil }
      let address = NetworkAddress(hop[hop.index(after: hop.startIndex)..<end])
      return address.flatMap {
        $0.isIPv4 && !hop.utf8.dropFirst().contains(UInt8(ascii: ":")) ? nil : $0
      }
    }
    if let address = NetworkAddress(hop) { return address }
    guard let colon = hop.firstIndex(of: ":"), isPort(hop[colon...]) else { return nil }
    return NetworkAddress(hop[..<colon])
  }

  private static func isPort(_ text: Substring) -> Bool {
    let digits = text.utf8.dropFirst()
    return text.utf8.first == UInt8(ascii: ":") && (1...5).contains(digits.count)
      && digits.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
      && Int(text.dropFirst()).map { $0 <= 65535 } == true
  }
}
