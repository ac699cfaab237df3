import HTTP
import Identity

/// What a guide leaves open: `{{address}}` and so on in its text.
enum GuideGap: String, CaseIterable, Sendable {
  case address, host, port, project, tenant, key
  /// The user pool in the path of a call with a token.
  case pool
  /// The member that names the tenant, with a comma in front, in bodies that need it.
  case tenantMember
  /// The window in force, inside a sentence.
  case window
}

/// What fills the gaps of a guide: the values of a scope, or words that stand for them.
struct GuideValues: Sendable {
  private var texts: [GuideGap: String]

  subscript(_ gap: GuideGap) -> String { texts[gap] ?? "" }

  /// The words that stand for values.
  init(_ publicURL: PublicURL) {
    let (host, port) = publicURL.hostAndPort
    texts = [
      .address: publicURL.origin, .host: host, .port: port, .project: "PROJECT_ID",
      .tenant: "TENANT_ID", .key: "API_KEY",
      .pool: "projects/PROJECT_ID",
      .window:
        "within the window that the MFA policy sets, 5 adjacent intervals of 30 seconds on each side when nothing was set",
    ]
  }

  /// The values of a scope.
  ///
  /// The key stays a word where the reader may not see it, and so does an id with characters that a
  /// shell or a program would read otherwise.
  init(_ publicURL: PublicURL, scope: Scope, key: APIKey?, configuration: MFAConfiguration?) {
    self.init(publicURL)
    fill(.project, scope.project.text)
    fill(.key, key?.text)
    texts[.pool] = "projects/\(self[.project])"
    if let tenant = scope.tenant {
      fill(.tenant, tenant.text)
      texts[.pool] = "projects/\(self[.project])/tenants/\(self[.tenant])"
      texts[.tenantMember] = ", \"tenantId\": \"\(self[.tenant])\""
    }
    guard let configuration else { return }
    let intervals = configuration.window.adjacentIntervals
    let steps =
      intervals == 0
      ? "in its own 30 seconds only"
      : "within \(Words.count(intervals, "adjacent interval", "adjacent intervals")) of 30 seconds on each side"
    texts[.window] = steps + (configuration.isTOTPOn ? "" : ", as soon as TOTP is switched on")
  }

  /// Fills a gap with an id, if there is one that means nothing to a shell or a program.
  private mutating func fill(_ gap: GuideGap, _ id: String?) {
    guard let id, !id.isEmpty, id.utf8.allSatisfy(Self.isPlain) else { return }
    texts[gap] = id
  }

  private static func isPlain(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
      true
    default: false
    }
  }
}

extension PublicURL {
  /// The host and the port for those who ask for them apart; the scheme's own port where none is
  /// given.
  fileprivate var hostAndPort: (String, String) {
    let host = origin.dropFirst(isSecure ? 8 : 7)
    let bracket = host.lastIndex(of: "]") ?? host.startIndex
    guard let colon = host[bracket...].lastIndex(of: ":") else {
      return (String(host), isSecure ? "443" : "80")
    }
    return (String(host[..<colon]), String(host[host.index(after: colon)...]))
  }
}

extension Scope {
  /// The address of a guide, or of their list, with the values of this scope.
  func guidance(_ path: String = ConsolePaths.guidance()) -> String {
    var query: Form = ["project": project.text]
    if let tenant { query.add("tenant", tenant.text) }
    return query.query(of: path)
  }
}
