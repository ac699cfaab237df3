import Database
import Network
import OpenIDConnect
import Text

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
