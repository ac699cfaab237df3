import Database
import Text

extension ActionLinks {
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

extension ContinueURL {
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
