import Crypto
import Database
import JSON
import Synchronization
import Text

/// Builds the links in emails.
final class ActionLinks: Sendable {
  private let publicURL = Mutex("")
  private let profile: Profile

  init(profile: Profile) { self.profile = profile }

  /// The path of the page that opens a link in a browser.
  static let page = "/__/auth/action"

  /// Sets the public URL of the server.
  func lead(to address: String) { publicURL.withLock { $0 = address } }

  /// The public URL of the server, without a trailing slash.
  var origin: String { publicURL.withLock { $0 } }

  /// The URL of a code.
  func link(
    _ code: String, _ kind: OutOfBandCode.Kind, in scope: Scope, apiKey: String,
    continueURL: String?, language: String, handler: String?
  ) -> String {
    let path = profile == .emulator ? "/emulator/action" : Self.page
    var link = handler ?? origin + path
    link += link.contains("?") ? "&" : "?"
    link +=
      "mode=\(kind.mode)&lang=\(language)&oobCode=\(code)&apiKey=\(URIComponent.encode(apiKey))"
    if let continueURL { link += "&continueUrl=\(URIComponent.encode(continueURL))" }
    if let tenant = scope.tenant { link += "&tenantId=\(URIComponent.encode(tenant.text))" }
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

/// A project's settings for email links.
struct LinkSettings: Sendable {
  /// The authorized domains, which continue URLs must be on.
  let domains: [String]
  /// The application's own page for email links; nil to use the server's.
  var handler: String?
  /// An API key of the project.
  let apiKey: String
  /// The project's email settings (`notification.sendEmail`); nil for a tenant that doesn't inherit
  /// them.
  let mails: JSON?

  static func read(
    _ scope: Scope, _ profile: Profile, _ connection: borrowing Connection
  ) throws -> LinkSettings {
    let project = scope.project.text
    let row = try connection.first(
      """
      SELECT p.authorized_domains, CASE WHEN json_valid(s.members) THEN
        json_extract(s.members, '$.notification.sendEmail') || '' END
      FROM scope s JOIN project p USING (project_id)
      WHERE s.project_id = \(project) AND s.tenant_id = ''
      """
    ) { row in (domains: try row.value(0) as String, mails: try row.value(1) as String?) }
    let inherits = try scope.tenant == nil || inheritsMails(scope, connection)
    let mails = inherits ? row?.mails.flatMap { try? JSON.parse(Array($0.utf8)) } : nil
    let key = try connection.first(
      """
      SELECT api_key FROM api_key WHERE project_id = \(project)
      ORDER BY created_at, api_key LIMIT 1
      """
    ) { try $0.value(0) as String }
    let domains = row?.domains.split(separator: "\n").map(String.init) ?? []
    // The domain may have been removed from the authorized domains since.
    let handler = (mails?["callbackUri"]?.textValue?.text).flatMap { text in
      LinkTargets.isUsable(text, domains, profile) ? text : nil
    }
    return LinkSettings(
      domains: domains, handler: handler,
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

  /// Whether a tenant inherits its project's email settings (`inheritance.emailSendingConfig`).
  private static func inheritsMails(
    _ scope: Scope, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.first(
      """
      SELECT CASE WHEN json_valid(members) THEN
        ifnull(json_extract(members, '$.inheritance.emailSendingConfig') IN (1, 'true'), 0)
        ELSE 0 END
      FROM scope WHERE scope_key = \(scope.key)
      """
    ) { try $0.value(0) } ?? false
  }
}
