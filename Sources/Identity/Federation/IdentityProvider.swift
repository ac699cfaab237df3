import Crypto
import Database
import JSON

/// A provider of identity that a scope knows: one of OpenID Connect, or one of SAML.
public struct IdentityProvider: Sendable {
  /// The protocols.
  public enum Kind: String, Sendable, CaseIterable {
    /// OpenID Connect; users sign in with its ID tokens.
    case oidc
    /// SAML 2.0; its configuration is kept, and nobody signs in by it.
    case saml

    /// What the ids of its providers begin with.
    public var prefix: String { rawValue + "." }
  }

  /// The id, such as `oidc.acme`, which is also the provider in tokens and lookups.
  public let id: ID<IdentityProvider>
  /// The protocol.
  public let kind: Kind
  /// What can be changed.
  public let settings: ProviderSettings
  /// When it was made.
  public let createdAt: Instant
  /// When it was changed last.
  public let changedAt: Instant
}

/// What of a provider can be changed.
public struct ProviderSettings: Sendable {
  /// The name for people; may be empty.
  public var displayName = ""
  /// Whether users can sign in with it.
  public var isEnabled = false
  /// The issuer of its ID tokens, `iss`; of OpenID Connect only, as what follows.
  public var issuer = ""
  /// The application's id at the provider, `aud` of its ID tokens.
  public var clientID = ""
  /// The keys that its ID tokens are signed with.
  public var keys = KeySet()
  /// The application's secret at the provider, which is kept and given back.
  public var clientSecret: Secret?
  /// What else its message has, as JSON text: `responseType`, `idpConfig`, `spConfig`.
  public var members = "{}"

  /// Makes settings of a provider that is off.
  public init() {}
}

/// Why a provider cannot be made, found or changed.
public enum ProviderError: Error, Sendable {
  /// An id without `oidc.` or `saml.` in front, or with other characters behind it than letters,
  /// digits, dots, hyphens and underscores.
  case invalidID
  /// The scope has a provider of this id.
  case exists(String)
  /// The scope has as many providers as it may.
  case tooMany
  /// No such provider.
  case notFound
  /// Somebody has changed it since it was looked at.
  case changedMeanwhile
  /// A name of more than 256 characters.
  case nameTooLong
  /// No issuer.
  case missingIssuer
  /// An issuer that is not an https address without query and fragment.
  case invalidIssuer
  /// No client id.
  case missingClientID
  /// A client id of more than 256 bytes.
  case invalidClientID
  /// The code flow without a client secret.
  case missingClientSecret
  /// No response type is on.
  case invalidResponseType
  /// Several response types are on.
  case severalResponseTypes
  /// Keys that cannot be read.
  case invalidKeys(KeySet.Fault)
  /// A SAML provider without `spConfig`.
  case missingRelyingParty
  /// A member of a SAML provider that is missing or not what it must be.
  case invalidMember(String)
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension ProviderError: UseCaseError {}

extension ProviderSettings {
  /// The longest members, in bytes.
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

  /// Whether a text is an https address with a host in it.
  private static func isAddress(_ text: String) -> Bool {
    guard text.hasPrefix("https://"), text.utf8.count <= 2_048,
      text.utf8.allSatisfy({ 0x21...0x7E ~= $0 })
    else { return false }
    let host = text.dropFirst(8).prefix { $0 != "/" && $0 != "?" && $0 != "#" }
    return !host.isEmpty && !host.contains("@")
  }

  /// The settings in words, for the audit log; of the secret only whether there is one.
  func words(secret: String? = nil) -> [AuditField] {
    [
      AuditField("name", displayName.isEmpty ? "none" : displayName, value: [displayName]),
      AuditField("sign-in", Words.onOff(isEnabled)),
      AuditField("issuer", issuer.isEmpty ? "none" : issuer, value: [issuer]),
      AuditField("client id", clientID.isEmpty ? "none" : clientID, value: [clientID]),
      AuditField(
        "keys", keys.names.isEmpty ? "none" : keys.names.joined(separator: ", "),
        value: [keys.text]),
      AuditField("client secret", secret ?? (clientSecret == nil ? "none" : "given")),
      AuditField("other members", members),
    ]
  }
}
