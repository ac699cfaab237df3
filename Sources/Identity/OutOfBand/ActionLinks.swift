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

  func lead(to address: String) { publicURL.withLock { $0 = address } }

  /// The public URL of the server, without a trailing slash; empty while it isn't known.
  var origin: String { publicURL.withLock { $0 } ?? "" }

  /// Whether the public URL is known: to a command, once a server has started.
  var isKnown: Bool { publicURL.withLock { $0 != nil } }

  func link(
    _ code: String, _ kind: OutOfBandCode.Kind, in pool: Pool, apiKey: String,
    continueURL: String?, language: String, handler: String?
  ) -> String {
    let path = profile == .emulator ? "/emulator/action" : Self.page
    var link = handler ?? origin + path
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
    prerequisites.handler = "https://\(known)\(ActionLinks.page)"
    return prerequisites
  }
}
