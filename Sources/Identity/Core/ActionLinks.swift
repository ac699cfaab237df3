import Synchronization
import Text

final class ActionLinks: Sendable {
  /// The public URL of the server that last started, for the links in emails that commands cause.
  static let lastURL = InstanceValue("public_url")

  private let publicURL = Mutex<String?>(nil)
  private let profile: Profile

  init(profile: Profile) { self.profile = profile }

  /// The path of the page that opens a link in a browser.
  static let page = "/__/auth/action"
  /// The path of links that open an app, where it's installed, as in production.
  static let appPage = "/__/auth/links"

  func lead(to address: String) { publicURL.withLock { $0 = address } }

  /// The public URL of the server, without a trailing slash; empty while it isn't known.
  var origin: String { publicURL.withLock { $0 } ?? "" }

  /// Whether the public URL is known: to a command, once a server has started.
  var isKnown: Bool { publicURL.withLock { $0 != nil } }

  var ownPage: String {
    origin + (profile == .emulator ? "/emulator/action" : Self.page)
  }

  /// Returns the link that opens an app with an address.
  ///
  /// `origin` is that of an authorized domain; nil for the server's.
  func opening(_ address: String, at origin: String?) -> String {
    let link = URIComponent.encode(address, keeping: ":/?")
    return "\(origin ?? self.origin)\(Self.appPage)?link=\(link)"
  }

  /// Whether an address is this server's page for email links, or one that such a link may lead to
  /// with these authorized domains.
  func mayOpen(_ address: String, _ domains: [String]) -> Bool {
    guard let host = ContinueURL.host(of: address, atMost: Self.longestAddress) else {
      return false
    }
    return address.hasSameBytes(atStart: ownPage + "?") || profile == .emulator
      || ContinueURL.isAuthorized(host, domains)
  }

  /// The maximum length of the address in an app's link, in bytes: an encoded continue URL and the
  /// rest of an action link.
  private static let longestAddress = 10_000
}

/// Checks continue URLs, such as `https://app.example.com/welcome`.
enum ContinueURL {
  private static let longest = 2_048

  /// The lowercase host of an absolute http or https URL; nil for anything else.
  ///
  /// Rejects what browsers can interpret differently than it looks: user names, backslashes,
  /// whitespace, and non-ASCII hosts.
  static func host(of text: String, atMost longest: Int = Self.longest) -> String? {
    guard text.utf8.count <= longest,
      text.unicodeScalars.allSatisfy({ $0.value > 0x20 && !(0x7F...0x9F).contains($0.value) }),
      !text.utf8.contains(UInt8(ascii: "\\"))
    else { return nil }
    let lower = text.lowercased()
    guard let scheme = ["https://", "http://"].first(where: lower.hasPrefix) else { return nil }
    let authority = lower.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
    let bracket = authority.lastIndex(of: "]") ?? authority.startIndex
    let colon = authority[bracket...].firstIndex(of: ":") ?? authority.endIndex
    let host = authority[..<colon]
    let port = authority[colon...].dropFirst()
    guard port.utf8.count <= 5, port.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    if host.hasPrefix("[") {
      guard host.hasSuffix("]"), host.utf8.count > 3,
        host.dropFirst().dropLast().allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
      else { return nil }
      return String(host)
    }
    guard !host.isEmpty, host.first != ".", host.utf8.allSatisfy(isOfHosts) else { return nil }
    return String(host)
  }

  private static func isOfHosts(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
      true
    default: false
    }
  }

  /// Whether a host is one of the domains or a subdomain of one; IPv4 addresses must match exactly.
  static func isAuthorized(_ host: String, _ domains: [String]) -> Bool {
    domains.contains { domain in
      let domain = domain.lowercased()
      if host.isSameBytes(as: domain) { return true }
      let isNumber = domain.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2E }
      return !isNumber && host.hasSuffix("." + domain)
    }
  }
}
