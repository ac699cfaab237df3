import Crypto
import Database
import JSON
import Synchronization

/// Where links in mails lead to.
final class ActionLinks: Sendable {
  private let publicURL = Mutex("")
  private let profile: Profile

  init(profile: Profile) { self.profile = profile }

  /// The path of the page that a browser opens a link at.
  static let page = "/__/auth/action"

  /// Says under which address the server is reached.
  func lead(to address: String) { publicURL.withLock { $0 = address } }

  /// The address under which the server is reached, without a slash at its end.
  var origin: String { publicURL.withLock { $0 } }

  /// The link of a code.
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
  /// An address with more parameters in its query, as an application gets the code of a link that
  /// signs in.
  ///
  /// What the address has already stays, and so does its fragment.
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

/// What a project says about its links.
struct LinkSettings: Sendable {
  /// The domains that links may go on to.
  let domains: [String]
  /// The page of the application's own that links lead to, in place of ours.
  var handler: String?
  /// A key of the project.
  let apiKey: String
  /// What the project says about its mails (`notification.sendEmail`); nil for a tenant that does
  /// not follow it.
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
    // A domain may have been removed since the page was set.
    let handler = (mails?["callbackUri"]?.textValue?.text).flatMap { text in
      LinkTargets.isUsable(text, domains, profile) ? text : nil
    }
    return LinkSettings(
      domains: domains, handler: handler,
      apiKey: key ?? "fake-api-key", mails: mails)
  }

  /// The same with links at a domain of the project's choice; nil is the usual address.
  ///
  /// Whoever serves the domain gets the codes, so it has to be an authorized domain itself; being
  /// below one isn't enough.
  func leading(to domain: String?) throws(OutOfBandError) -> LinkSettings {
    guard let domain else { return self }
    let known = domains.first { $0.lowercased().isSameBytes(as: domain.lowercased()) }
    guard let known else { throw .unknownLinkDomain }
    var prerequisites = self
    prerequisites.handler = "https://\(known)\(ActionLinks.page)"
    return prerequisites
  }

  /// Whether a tenant sends its mails as its project does (`inheritance.emailSendingConfig`).
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
