import Text

/// Checks continue URLs, such as `https://app.example.com/welcome`.
enum ContinueURL {
  private static let longest = 2_048

  /// The lowercase host of an absolute http or https URL; nil for anything else.
  ///
  /// Rejects what browsers can interpret differently than it looks: user names, backslashes,
  /// whitespace, and non-ASCII hosts.
  static func host(of text: String) -> String? {
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

  /// The emulator accepts any domain if the project's list is the default, because Google's
  /// emulator has no list.
  static func check(
    _ text: String, _ domains: [String], _ profile: Profile
  ) throws(OutOfBandError) {
    guard let host = host(of: text) else { throw .invalidContinueURL }
    if profile == .emulator, domains == ["localhost"] { return }
    guard isAuthorized(host, domains) else { throw .unauthorizedDomain }
  }
}
