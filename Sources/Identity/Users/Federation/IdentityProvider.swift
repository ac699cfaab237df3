public import Crypto
import JSON
public import OpenIDConnect
import Text

/// An OpenID Connect or SAML identity provider of a pool.
public struct IdentityProvider: Sendable {
  public enum Kind: String, Sendable, CaseIterable {
    /// OpenID Connect; users sign in with its ID tokens.
    case oidc
    /// SAML 2.0; the configuration is stored, but users can't sign in with it.
    case saml

    public var prefix: String { rawValue + "." }
  }

  /// The ID, such as `oidc.acme`; it's also the provider in tokens and lookups.
  public let id: ID<IdentityProvider>
  public let kind: Kind
  public let settings: ProviderSettings
  public let createdAt: Instant
  public let changedAt: Instant
}

public struct ProviderSettings: Equatable, Sendable {
  public var displayName = ""
  public var isEnabled = false
  /// The issuer of its ID tokens (`iss`); this and the following properties are for OpenID Connect
  /// only.
  public var issuer = ""
  /// The application's client ID at the provider, the `aud` of its ID tokens.
  public var clientID = ""
  public var keys = KeySet()
  /// The application's client secret, which is stored and returned.
  public var clientSecret: Secret?
  /// The remaining fields of its API message, as JSON text: `responseType`, `idpConfig`,
  /// `spConfig`.
  public var members = "{}"

  public var visibleName: String? { displayName.ifVisible }

  public init() {}
}

public enum ProviderError: Error, Sendable {
  /// An ID without the prefix `oidc.` or `saml.`, or with characters other than letters, digits,
  /// dots, hyphens, and underscores.
  case invalidID
  case exists(String)
  case tooMany
  case notFound
  case changedMeanwhile
  /// A name longer than 256 characters.
  case nameTooLong
  case missingIssuer
  /// The issuer isn't an https URL without a query and fragment.
  case invalidIssuer
  case missingClientID
  /// A client ID longer than 256 bytes.
  case invalidClientID
  /// The code flow requires a client secret.
  case missingClientSecret
  case invalidResponseType
  case severalResponseTypes
  case invalidKeys(KeySet.Fault)
  /// A SAML provider without `spConfig`.
  case missingRelyingParty
  /// A field of a SAML provider is missing or invalid.
  case invalidMember(String)
}

extension ProviderSettings {
  /// The maximum length of `members`, in bytes.
  private static let longestMembers = 65_536

  func check(_ kind: IdentityProvider.Kind) throws(ProviderError) {
    guard displayName.unicodeScalars.count <= Account.longestName else { throw .nameTooLong }
    guard members.utf8.count <= Self.longestMembers else { throw .invalidMember("message") }
    switch kind {
    case .oidc: try checkOIDC()
    case .saml: try checkSAML()
    }
  }

  private var object: JSON.Object {
    (try? JSON.parse(Array(members.utf8)))?.objectValue ?? [:]
  }

  private func checkOIDC() throws(ProviderError) {
    guard !clientID.isEmpty else { throw .missingClientID }
    guard clientID.utf8.count <= 256, clientID.utf8.allSatisfy({ 0x21...0x7E ~= $0 }) else {
      throw .invalidClientID
    }
    guard !issuer.isEmpty else { throw .missingIssuer }
    guard Self.isAddress(issuer), !issuer.contains("?"), !issuer.contains("#") else {
      throw .invalidIssuer
    }
    guard let types = object["responseType"]?.objectValue, !types.isEmpty else { return }
    let chosen = types.members.filter { $0.value.boolValue == true }.map(\.name)
    guard chosen.count < 2 else { throw .severalResponseTypes }
    guard chosen.count == 1 else { throw .invalidResponseType }
    if chosen == ["code"], clientSecret?.isEmpty ?? true { throw .missingClientSecret }
  }

  private func checkSAML() throws(ProviderError) {
    let members = object
    guard let party = members["spConfig"]?.objectValue, !party.isEmpty else {
      throw .missingRelyingParty
    }
    guard let provider = members["idpConfig"]?.objectValue else {
      throw .invalidMember("idp_config")
    }
    func given(_ value: JSON?) -> Bool { !(value?.textValue?.text ?? "").isEmpty }
    guard given(provider["idpEntityId"]) else { throw .invalidMember("idp_config.idp_entity_id") }
    guard Self.isAddress(provider["ssoUrl"]?.textValue?.text ?? "") else {
      throw .invalidMember("idp_config.sso_url")
    }
    let certificates = provider["idpCertificates"]?.arrayValue ?? []
    guard !certificates.isEmpty, certificates.allSatisfy({ given($0["x509Certificate"]) }) else {
      throw .invalidMember("idp_config.idp_certificates")
    }
    guard given(party["spEntityId"]) else { throw .invalidMember("sp_config.sp_entity_id") }
    let callback = party["callbackUri"]?.textValue?.text ?? ""
    guard callback.isEmpty || Self.isAddress(callback) else {
      throw .invalidMember("sp_config.callback_uri")
    }
  }

  /// Returns true if the text is an https URL with a host.
  private static func isAddress(_ text: String) -> Bool {
    guard text.hasPrefix("https://"), text.utf8.count <= 2_048,
      text.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
    else { return false }
    let host = text.dropFirst(8).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    return !host.isEmpty && !host.contains("@")
  }

  func auditFields(isNewSecret: Bool = false) -> [AuditField] {
    func text(_ text: String) -> AuditValue { text.isEmpty ? .absent : .text(text) }
    return [
      AuditField(.displayName, text(displayName)), AuditField(.signIn, .flag(isEnabled)),
      AuditField(.issuer, text(issuer)), AuditField(.clientID, text(clientID)),
      AuditField(.keys, .optional(keys.names), hidden: [keys.text]),
      AuditField(
        .clientSecret, clientSecret == nil ? .absent : .secret,
        hidden: isNewSecret ? ["changed"] : []),
      AuditField(.otherMembers, .text(members)),
    ]
  }
}
