import Crypto
import Database
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

  private var ownPage: String {
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

  func link(
    _ code: String, _ kind: OutOfBandCode.Kind, in pool: Pool, apiKey: String,
    continueURL: String?, language: String, handler: String?
  ) -> String {
    var link = handler ?? ownPage
    link += link.contains("?") ? "&" : "?"
    link +=
      "mode=\(kind.mode)&lang=\(language)&oobCode=\(code)&apiKey=\(URIComponent.encode(apiKey))"
    if let continueURL { link += "&continueUrl=\(URIComponent.encode(continueURL))" }
    if let tenant = pool.tenant { link += "&tenantId=\(URIComponent.encode(tenant.text))" }
    return link
  }
}

extension OutOfBandCode {
  /// Adds parameters to the query of a URL, to pass the code of a sign-in link to an application.
  ///
  /// The existing query and fragment are kept.
  public static func address(_ text: String, with parameters: [(name: String, value: String)])
    -> String
  {
    let fragment = text.firstIndex(of: "#") ?? text.endIndex
    var address = String(text[..<fragment])
    var separator = address.contains("?") ? "&" : "?"
    if let last = address.last, last == "?" || last == "&" { separator = "" }
    for (name, value) in parameters {
      address += "\(separator)\(URIComponent.encode(name))=\(URIComponent.encode(value))"
      separator = "&"
    }
    return address + text[fragment...]
  }
}

struct LinkSettings: Sendable {
  /// The authorized domains, which continue URLs must be on.
  let domains: [String]
  /// The application's own page for email links; nil to use the server's.
  var handler: String?
  /// The origin of links that open an app; nil to use the server's.
  var appOrigin: String?
  let apiKey: String
  let mails: PoolEmailSettings

  static func read(
    _ pool: Pool, _ profile: Profile, _ connection: borrowing Connection
  ) throws -> LinkSettings {
    let project = pool.project.text
    let domains = try connection.first(
      """
      SELECT authorized_domains FROM project WHERE project_id = \(project)
      """
    ) { try $0.next() as String }
    let mails = try PoolEmailSettings.read(pool, connection)
    let key = try connection.first(
      """
      SELECT api_key FROM api_key WHERE project_id = \(project)
      ORDER BY created_at, api_key LIMIT 1
      """
    ) { try $0.next() as String }
    let authorized = domains?.split(separator: "\n").map(String.init) ?? []
    // The domain may have been removed from the authorized domains since.
    let handler = mails.handler.flatMap { text in
      AccessSettings.isUsable(text, authorized, profile) ? text : nil
    }
    return LinkSettings(
      domains: authorized, handler: handler,
      apiKey: key ?? "fake-api-key", mails: mails)
  }

  /// Returns the settings with links at the given domain; unchanged if it's nil.
  ///
  /// The operator of the domain receives the codes, so it must be an authorized domain itself; a
  /// subdomain of one isn't enough.
  func leading(to domain: String?) throws(OutOfBandError) -> LinkSettings {
    guard let domain else { return self }
    let known = domains.first { $0.lowercased().isSameBytes(as: domain.lowercased()) }
    guard let known else { throw .unknownLinkDomain }
    var prerequisites = self
    prerequisites.appOrigin = "https://\(known)"
    prerequisites.handler = "https://\(known)\(ActionLinks.page)"
    return prerequisites
  }

  /// The authorized domains of all projects.
  static func domainsOfAllProjects(_ connection: borrowing Connection) throws -> [String] {
    try connection.all(
      "SELECT authorized_domains FROM project WHERE project_id > '' AND deleted_at IS NULL"
    ) { try $0.next() as String }.flatMap { $0.split(separator: "\n").map(String.init) }
  }
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
