import HTTP
import Identity
import Localization
import OTP

/// The placeholders of guides, such as `{{address}}`.
enum GuideGap: String, CaseIterable, Sendable {
  case address, host, port, project, tenant, key
  /// The pool in the path of an API call with a token.
  case pool
  /// The path of the configuration of MFA in an API call with a token.
  case configuration
  /// The member of the configuration, and its field mask.
  case member
  /// The beginning of the Node.js Admin SDK's call that writes the configuration.
  case nodeUpdate
  /// The JSON member that names the tenant, after a comma; empty for a project.
  case tenantMember
  /// The claim `firebase.tenant` of the pool's ID tokens, in JavaScript; `undefined` for a project.
  case tenantClaim
  /// What ``tenantClaim`` is, as a sentence: ``GuideValues/tenantComparison``.
  case tenantComparison
  /// The current code acceptance window, as a phrase within a sentence: ``GuideValues/window``.
  case window
}

/// The values for a guide's placeholders: those of a pool, or generic names.
struct GuideValues: Sendable {
  private var texts: [GuideGap: String]
  private(set) var window = Message(
    """
    within the window that the MFA policy sets (by default, 5 adjacent intervals of 30 seconds on \
    each side)
    """)
  /// What the claim `firebase.tenant` is compared with, and whether to replace it.
  private(set) var tenantComparison = Message(
    """
    TENANT_ID below is a placeholder: replace it with the ID of your tenant. For the project’s \
    own users, replace it and its quotation marks with undefined; otherwise, none of these users \
    get through.
    """)

  subscript(_ gap: GuideGap) -> String { texts[gap] ?? "" }

  /// Creates generic values, such as `PROJECT_ID`.
  init(_ publicURL: PublicURL) {
    texts = [
      .address: publicURL.origin, .host: publicURL.host, .port: publicURL.port,
      .project: "PROJECT_ID",
      .tenant: "TENANT_ID", .key: "API_KEY",
      .pool: "projects/PROJECT_ID", .configuration: "projects/PROJECT_ID/config", .member: "mfa",
      .nodeUpdate: "projectConfigManager().updateProjectConfig({",
      .tenantClaim: "\"TENANT_ID\"",
    ]
  }

  /// The key stays generic if the reader can't view it, and so does an ID with characters that have
  /// a special meaning in a shell or a program.
  init(_ publicURL: PublicURL, pool: Pool, key: APIKey?, configuration: MFAConfiguration?) {
    self.init(publicURL)
    fill(.project, pool.project.text)
    fill(.key, key?.text)
    texts[.pool] = "projects/\(self[.project])"
    texts[.configuration] = "projects/\(self[.project])/config"
    texts[.tenantClaim] = "undefined"
    tenantComparison = Message(
      """
      For the project’s own users, as here, the comparison is with undefined. For the users of a \
      tenant, replace this with the tenant’s ID in quotation marks.
      """)
    if let tenant = pool.tenant {
      fill(.tenant, tenant.text)
      texts[.pool] = "projects/\(self[.project])/tenants/\(self[.tenant])"
      texts[.configuration] = texts[.pool]
      texts[.member] = "mfaConfig"
      texts[.nodeUpdate] = "tenantManager().updateTenant(\"\(self[.tenant])\", {"
      texts[.tenantMember] = ", \"tenantId\": \"\(self[.tenant])\""
      texts[.tenantClaim] = "\"\(self[.tenant])\""
      tenantComparison =
        self[.tenant] == tenant.text
        ? Message(
          """
          The comparison is with the ID of this tenant. For the project’s own users, replace it \
          and its quotation marks with undefined.
          """)
        : Message(
          """
          TENANT_ID below is a placeholder: replace it with the ID of your tenant. For the \
          project’s own users, replace it and its quotation marks with undefined; otherwise, none \
          of these users get through.
          """)
    }
    guard let configuration else { return }
    window = Self.window(configuration)
  }

  private static func window(_ configuration: MFAConfiguration) -> Message {
    let intervals = configuration.window.adjacentIntervals
    guard intervals > 0 else {
      return configuration.isTOTPOn
        ? Message("only within its own 30 seconds")
        : Message("only within its own 30 seconds, as soon as TOTP is turned on")
    }
    return configuration.isTOTPOn
      ? Message(
        one: "within {count} adjacent interval of 30 seconds on each side",
        other: "within {count} adjacent intervals of 30 seconds on each side",
        ["count": .number(intervals)])
      : Message(
        one: """
          within {count} adjacent interval of 30 seconds on each side, as soon as TOTP is turned \
          on
          """,
        other: """
          within {count} adjacent intervals of 30 seconds on each side, as soon as TOTP is turned \
          on
          """, ["count": .number(intervals)])
  }

  /// Fills a placeholder with an ID, if it's safe in a shell or a program.
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

extension Pool {
  func guidance(_ path: String = ConsolePaths.guidance()) -> String {
    var query: Form = ["project": project.text]
    if let tenant { query.add("tenant", tenant.text) }
    return query.query(of: path)
  }
}
