import Database
import JSON
import Network
public import OpenIDConnect
import Text

/// The provider of OpenID Connect with which administrators sign in to the console.
public struct ConsoleProvider: Sendable {
  /// The display name, 1 to 100 characters.
  public var name = ""
  /// The issuer, exactly as the provider names itself.
  public var issuer = ""
  public var clientID = ""
  /// The scopes of requests, separated by spaces.
  public var scopes = ["openid", "profile", "email"].joined(separator: " ")
  public var groupsClaim = "groups"
  /// The values of `acr` and `amr` that mean a second factor.
  ///
  /// By default only `mfa`, since each other method of RFC 8176 is one factor; two methods of different
  /// kinds are then a second factor, too. Values that an owner chose mean one each, and nothing else does.
  public var mfaValues = usualMFAValues
  public var roles: [GroupRole] = []
  /// The only account that can sign in with a password or passkey; nil if all can.
  public var breakGlassAccount: ID<Administrator>?
  var sealedSecret: [UInt8]?

  public var hasSecret: Bool { sealedSecret != nil }

  public static let mostRoles = 200
  public static let mostMFAValues = 20
  static let longestText = 256
  private static let usualMFAValues = ["mfa"]

  public init() {}

  /// Returns whether the provider says that the person used a second factor.
  func hasSecondFactor(_ token: IDToken) -> Bool {
    token.names(oneOf: mfaValues)
      || mfaValues == Self.usualMFAValues && token.methodKinds.count > 1
  }

  func grants(of groups: ProviderGroups) -> Set<Grant> {
    Set(roles.filter { groups.has($0.group) }.map(\.grant))
  }
}

/// A role that everyone in a group of the provider has.
public struct GroupRole: Sendable, Hashable {
  /// The group's name, compared byte for byte.
  public let group: String
  public let grant: Grant

  public init(group: String, grant: Grant) { (self.group, self.grant) = (group, grant) }
}

public enum ConsoleProviderFault: Sendable, Equatable {
  /// The name is empty or longer than 100 characters.
  case invalidName
  /// The issuer isn't an `https` URL, or `http` to this machine, or has a query.
  case invalidIssuer
  case invalidClientID
  case invalidGroupsClaim
  /// The scopes don't include `openid`, or have other characters than scopes do.
  case invalidScopes
  case invalidMFAValues
  /// A group's name is too long; the number of the role, from 1.
  case invalidGroup(Int)
  /// The project or tenant doesn't exist; the number of the role, from 1.
  case placeNotFound(Int)
  case tooManyRoles
  /// Password sign-in can't be turned off by someone who hasn't proved in this session that they can
  /// sign in with the stored provider.
  case notProved
  /// The break-glass account doesn't manage administrators of the instance with a manually granted role
  /// without an end date, or has neither a password nor a passkey.
  case invalidBreakGlassAccount
  /// No owner without an end date has a password or passkey, so that no one who manages administrators
  /// could sign in, since links with another issuer are of no use.
  case noOwnSignIn
  case unreachable(String)
  case discovery(Discovery.Fault)
  /// An address in the discovery document can't be used; its name in the document.
  case invalidAddress(String)
  case noKeys
}

public enum ConsoleProviderError: Error, Sendable {
  /// The problems, in the order of the form.
  case invalid([ConsoleProviderFault])
  /// Someone else changed the provider after the form was opened; this is the present one, nil if it
  /// was removed.
  case changedMeanwhile(ConsoleProvider?)
  /// Password sign-in is off, so only the break-glass account could sign in.
  case passwordSignInOff
  /// No owner without an end date has a password or passkey, so that no one who manages administrators
  /// could sign in.
  case noOwnSignIn
  case notFound
}

// MARK: - Storage

extension ConsoleProvider {
  private static let columns: SQL = """
    name, issuer, client_id, scopes, groups_claim, mfa_values, sealed_secret
    """

  static func find(_ connection: borrowing Connection) throws -> ConsoleProvider? {
    var found = try connection.first(
      "SELECT \(columns) FROM sign_in_provider WHERE provider_id = 1"
    ) { row in
      var provider = ConsoleProvider()
      (provider.name, provider.issuer) = (try row.next(), try row.next())
      (provider.clientID, provider.scopes) = (try row.next(), try row.next())
      (provider.groupsClaim, provider.mfaValues) = (
        try row.next(), try TextList.read(row.next())
      )
      provider.sealedSecret = try row.next()
      return provider
    }
    found?.breakGlassAccount = try PasswordSignIn.find(connection)
    found?.roles = try connection.all(
      """
      SELECT group_name, role, project_id, tenant_id FROM sign_in_provider_role
      WHERE group_name > '' ORDER BY group_name, role, project_id, tenant_id
      """
    ) { GroupRole(group: try $0.next(), grant: try Administrators.grant(&$0)) }
    return found
  }

  static func name(_ connection: borrowing Connection) throws -> String? {
    try connection.first("SELECT name FROM sign_in_provider WHERE provider_id = 1") {
      try $0.next()
    }
  }

  func write(_ connection: borrowing Connection) throws {
    let values = TextList.text(mfaValues)
    try connection.run(
      """
      INSERT INTO sign_in_provider (provider_id, name, issuer, client_id, sealed_secret, scopes,
        groups_claim, mfa_values)
      VALUES (1, \(name), \(issuer), \(clientID), \(sealedSecret), \(scopes), \(groupsClaim),
        \(values))
      ON CONFLICT (provider_id) DO UPDATE SET name = excluded.name, issuer = excluded.issuer,
        client_id = excluded.client_id, sealed_secret = excluded.sealed_secret,
        scopes = excluded.scopes, groups_claim = excluded.groups_claim,
        mfa_values = excluded.mfa_values
      """)
    try connection.run("DELETE FROM sign_in_provider_role WHERE group_name > ''")
    for role in Set(roles) {
      try connection.run(
        """
        INSERT INTO sign_in_provider_role (group_name, role, project_id, tenant_id)
        VALUES (\(role.group), \(role.grant.role), \(role.grant.project?.text ?? ""),
          \(role.grant.tenant?.text ?? ""))
        """)
    }
  }
}

/// A list of texts in a column, as a JSON array.
enum TextList {
  static func text(_ list: [String]) -> String {
    String(decoding: JSON.array(list.map { .string($0) }).serialized(), as: UTF8.self)
  }

  static func read(_ text: String) throws -> [String] {
    guard let array = (try? JSON.parse(Array(text.utf8)))?.arrayValue else {
      throw Failure("unreadable list")
    }
    return array.compactMap { $0.textValue?.text }
  }
}

extension ConsoleProvider {
  /// Returns the problems of the fields, in the order of the form, without asking the provider.
  func faults() -> [ConsoleProviderFault] {
    var faults: [ConsoleProviderFault] = []
    func check(_ isValid: Bool, _ fault: ConsoleProviderFault) {
      if !isValid { faults.append(fault) }
    }
    check(PoolRules.isDisplayName(name), .invalidName)
    check(
      issuer.utf8.count <= Self.longestText && Self.isURL(issuer) && !issuer.contains("?"),
      .invalidIssuer)
    check(Self.isText(clientID), .invalidClientID)
    check(areScopesValid, .invalidScopes)
    check(Self.isText(groupsClaim), .invalidGroupsClaim)
    check(
      mfaValues.count <= Self.mostMFAValues && mfaValues.allSatisfy(Self.isText),
      .invalidMFAValues)
    check(roles.count <= Self.mostRoles, .tooManyRoles)
    for (index, role) in roles.prefix(Self.mostRoles).enumerated() {
      check(
        (1...ProviderGroups.longest).contains(role.group.utf8.count), .invalidGroup(index + 1))
    }
    return faults
  }

  /// Returns the roles of groups whose project or tenant doesn't exist.
  func missingPlaces(_ connection: borrowing Connection) throws -> [ConsoleProviderFault] {
    var faults: [ConsoleProviderFault] = []
    let existing = try ProviderRoles.existing(Set(roles.map(\.grant)), connection)
    for (index, role) in roles.enumerated() where !existing.contains(role.grant) {
      faults.append(.placeNotFound(index + 1))
    }
    return faults
  }

  /// Whether a text is a URL that begins with `https://`, or with `http://` for this machine.
  private static func isURL(_ text: String) -> Bool {
    guard text.utf8.allSatisfy({ (33...126).contains($0) }),
      let host = ContinueURL.host(of: text), !text.contains("#"),
      !text.dropFirst("https://".utf8.count).prefix(while: { !"/?".contains($0) }).contains("@")
    else { return false }
    let name = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
    return text.lowercased().hasPrefix("https://") || HostName.isLoopback(name)
  }

  private static func isText(_ text: String) -> Bool {
    (1...longestText).contains(text.utf8.count)
      && text.unicodeScalars.allSatisfy { $0.value >= 0x20 && $0.value != 0x7F }
  }

  /// Whether the scopes are those of RFC 6749, section 3.3, and include `openid`.
  private var areScopesValid: Bool {
    scopes.utf8.count <= Self.longestText
      && scopes.split(separator: " ").contains("openid")
      && scopes.utf8.allSatisfy { (32...126).contains($0) && $0 != 34 && $0 != 92 }
  }

  /// The version, to notice changes while someone edits the provider.
  ///
  /// It doesn't tell secrets apart, because a form without a new one keeps the present one.
  public var version: SettingsVersion {
    SettingsVersion(
      auditFields() + [AuditField(.breakGlassAccount, .text(breakGlassAccount?.text ?? ""))])
  }

  /// Sorts by bytes: other orders leave open which of two texts that look alike is first.
  private static func sorted(_ texts: [String]) -> [String] {
    texts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  func auditFields(isNewSecret: Bool = false) -> [AuditField] {
    [
      AuditField(.signInProvider, .text(name)), AuditField(.issuer, .text(issuer)),
      AuditField(.clientID, .text(clientID)), AuditField(.scopes, .text(scopes)),
      AuditField(.groupsClaim, .text(groupsClaim)),
      AuditField(.mfaValues, .optional(mfaValues)),
      AuditField(.groupRoles, .optional(Self.sorted(Set(roles).map(\.auditText)))),
      AuditField(
        .clientSecret, sealedSecret == nil ? .absent : .secret,
        hidden: isNewSecret ? ["changed"] : []),
    ]
  }
}

extension GroupRole {
  /// The group, and after a colon the role and its place, as in the audit log.
  var auditText: String {
    let place = [grant.project?.text, grant.tenant?.text].compactMap { $0 }
    return
      (["\(group):", grant.role.rawValue] + (place.isEmpty ? [] : [place.joined(separator: "/")]))
      .joined(separator: " ")
  }
}
