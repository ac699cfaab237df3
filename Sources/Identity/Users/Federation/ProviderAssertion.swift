import Crypto
import Database
import JSON
import OpenIDConnect
import Text

public struct ProviderAssertion: Sendable {
  public let link: ProviderLink
  /// Whether the provider says that the email address is verified.
  public let isEmailVerified: Bool
  public let firstName: String?
  public let lastName: String?
  public let screenName: String?
  /// All claims, as JSON text.
  public let claims: String
  /// The ID token that the claims are from; empty for a pending token of a former release.
  public internal(set) var idToken = ""
  let start: SessionStart
  /// The time of the last change of the provider that verified the assertion; nil if none did, in
  /// the emulator profile.
  var providerChangedAt: Instant?

  /// Creates an assertion from the claims of a verified OpenID Connect ID token (Core 1.0, section
  /// 5.1).
  ///
  /// An invalid address, name, or picture is ignored, because it doesn't affect who the user is.
  init?(provider: String, claims: JSON.Object) {
    guard let subject = claims["sub"]?.textValue?.text else { return nil }
    func text(_ name: String, _ longest: Int) -> String? {
      guard let text = claims[name]?.textValue?.text, !text.isEmpty, text.utf8.count <= longest,
        !text.utf8.contains(0)
      else {
        return nil
      }
      return text
    }
    let asserted = text("email", 320)
    var email = asserted.map { AccountRules.folded(email: $0) }
    if let given = email, (try? AccountRules.checkEmail(given)) == nil { email = nil }
    let name = text("name", ProviderLink.longestField).flatMap { name in
      name.unicodeScalars.count <= Account.longestName ? name : nil
    }
    let verified = claims["email_verified"]
    // Some providers send the Boolean as a string.
    let isVerified = verified?.boolValue ?? (verified?.textValue == "true")
    // The provider verified the address as it was before it was folded.
    isEmailVerified =
      email != nil && isVerified && asserted.map(AccountRules.foldsBeyondCase) == false
    link = ProviderLink(
      provider: provider, rawID: subject, email: email, displayName: name,
      photoURL: text("picture", ProviderLink.longestField), isEmailVerified: isEmailVerified)
    firstName = text("given_name", 256)
    lastName = text("family_name", 256)
    screenName = text("screen_name", 256) ?? text("preferred_username", 256)
    self.claims = String(decoding: JSON.object(claims).serialized(), as: UTF8.self)
    start = .signInWith(claims: SignInAttributes.sessionClaims(of: claims, from: provider))
  }
}

public enum InvalidResponse: Sendable, CaseIterable {
  case malformed
  /// The ID token has no subject that can be stored.
  case unusableSubject
  case noKeys
  case wrongSignature
  case otherIssuer
  case otherAudience
  /// The ID token's authorized party is another client.
  case otherParty
  /// The ID token has no time of issue or expiry.
  case missingTimes
  case expired
  case future
  /// The emulator can't parse the token.
  case unparsable
  case missingSubject
  case subjectNotText
  /// The provider was changed or replaced after it verified the ID token.
  case providerChanged
}

extension InvalidResponse {
  init(_ fault: TokenFault) {
    self =
      switch fault {
      case .noKeys: .noKeys
      case .wrongSignature: .wrongSignature
      case .otherIssuer: .otherIssuer
      case .otherAudience: .otherAudience
      case .otherParty: .otherParty
      case .missingTimes: .missingTimes
      case .expired: .expired
      case .future: .future
      default: .malformed
      }
  }
}

public enum InvalidNonce: Sendable, CaseIterable {
  case notInRequest
  case different
}

public enum FederationError: Error, Sendable {
  case invalidResponse(InvalidResponse)
  case invalidNonce(InvalidNonce)
  case providerNotFound
  case providerDisabled
  /// SAML, which isn't supported.
  case unsupported
  case invalidPendingToken
  case alreadyLinked
  /// The account has an identity of the provider, which another one doesn't replace.
  case providerAlreadyLinked
  case emailExists
  /// No account has the identity, and creating one isn't allowed.
  case userNotFound
  case userDisabled
  case signUpDisabled
}

extension Federation {
  /// Verifies a provider's ID token.
  ///
  /// The standalone profile requires a signature by one of the provider's registered keys, the
  /// registered issuer and client ID, and valid times (OpenID Connect Core 1.0, section 3.1.3.7).
  /// As in production, other audiences may be in the token without an authorized party. The emulator
  /// profile accepts any token, and a bare JSON object as well. The nonce is the raw one; a token that
  /// has one contains its SHA-256 digest in hexadecimal.
  public func assertion(
    _ pool: Pool, provider: String, idToken: String, nonce: String?
  ) async throws -> ProviderAssertion {
    guard IdentityProviders.kind(of: provider) != .saml else {
      throw FederationError.unsupported
    }
    if store.profile == .emulator {
      var assertion = try Self.unchecked(idToken, provider)
      assertion.idToken = idToken
      return assertion
    }
    guard IdentityProviders.kind(of: provider) == .oidc else {
      throw FederationError.providerNotFound
    }
    let current = try await find(provider, in: pool)
    guard current.settings.isEnabled else { throw FederationError.providerDisabled }
    guard let token = JSONWebToken(idToken) else {
      throw FederationError.invalidResponse(.malformed)
    }
    try check(token, current.settings, nonce: nonce)
    guard var assertion = ProviderAssertion(provider: provider, claims: token.payload),
      (try? assertion.link.check()) != nil
    else { throw FederationError.invalidResponse(.unusableSubject) }
    assertion.providerChangedAt = current.changedAt
    assertion.idToken = idToken
    return assertion
  }

  private func check(
    _ token: JSONWebToken, _ settings: ProviderSettings, nonce: String?
  ) throws(FederationError) {
    var check = TokenCheck(
      issuer: settings.issuer, clientID: settings.clientID, keys: settings.keys,
      now: store.clock.now().seconds)
    check.needsParty = false
    check.notBeforeSkew = Self.notBeforeSkew
    do {
      try check.checkSignature(token)
      try check.checkParties(token)
      try check.checkTimes(token)
    } catch {
      throw .invalidResponse(InvalidResponse(error))
    }
    try Self.check(nonce: nonce, against: token.payload["nonce"]?.textValue?.text)
  }

  /// How far ahead a token's `nbf` may be, in seconds; production ignores it.
  private static let notBeforeSkew: Int64 = 300

  private static func check(nonce: String?, against kept: String?) throws(FederationError) {
    guard let kept else { return }
    guard let nonce, nonce.utf8.count <= 1_024 else {
      throw .invalidNonce(.notInRequest)
    }
    let digest = Hex.encode(HashFunction.sha256.digest(Array(nonce.utf8)))
    guard constantTimeEqual(Array(digest.utf8), Array(kept.utf8)) else {
      throw .invalidNonce(.different)
    }
  }

  /// Reads an emulator application's token without verifying it.
  static func unchecked(
    _ idToken: String, _ provider: String
  ) throws(FederationError) -> ProviderAssertion {
    var claims = JSONWebToken(idToken)?.payload
    if idToken.first == "{", idToken.utf8.count < JSONWebToken.longest {
      claims = (try? JSON.parse(Array(idToken.utf8)))?.objectValue
    }
    guard let claims else {
      throw .invalidResponse(.unparsable)
    }
    guard let subject = claims["sub"], subject.textValue != "" else {
      throw .invalidResponse(.missingSubject)
    }
    guard subject.textValue?.text != nil else {
      throw .invalidResponse(.subjectNotText)
    }
    guard let assertion = ProviderAssertion(provider: provider, claims: claims),
      (try? assertion.link.check()) != nil
    else { throw .invalidResponse(.unusableSubject) }
    return assertion
  }
}

// MARK: - Pending tokens

extension Federation {
  /// The lifetime of a pending token, in seconds.
  static let pendingLifetime: Int64 = 900

  /// Seals an assertion, so that a client can send it back after its user has signed in another
  /// way.
  public func pendingToken(
    _ assertion: ProviderAssertion, in pool: Pool
  ) throws -> String {
    var content: JSON.Object = [
      "s": .number(JSON.Number(pool.key)), "t": .number(JSON.Number(store.clock.now().seconds)),
      "p": .string(assertion.link.provider), "c": .string(assertion.claims),
      "i": .string(assertion.idToken),
    ]
    if let changed = assertion.providerChangedAt {
      content.append("v", .number(JSON.Number(changed.microseconds)))
    }
    return Base64URL.encode(try pending.seal(JSON.object(content).serialized(), with: []))
  }

  /// Opens a pending token.
  ///
  /// Its provider must still be enabled and unchanged: the token stands for an ID token that the
  /// provider as it was has verified.
  public func assertion(
    _ pool: Pool, pendingToken: String
  ) async throws -> ProviderAssertion {
    guard pendingToken.utf8.count < 4 * JSONWebToken.longest,
      let box = Base64URL.decode(pendingToken), let plain = try? pending.open(box, with: []),
      let content = try? JSON.parse(plain.revealedBytes),
      content["s"]?.numberValue?.int64 == pool.key,
      let seconds = content["t"]?.numberValue?.int64,
      case let issuedAt = Instant(seconds: seconds),
      issuedAt.lasts(Self.pendingLifetime, at: store.clock.now()),
      let provider = content["p"]?.textValue?.text, let text = content["c"]?.textValue?.text,
      let claims = (try? JSON.parse(Array(text.utf8)))?.objectValue,
      var assertion = ProviderAssertion(provider: provider, claims: claims)
    else { throw FederationError.invalidPendingToken }
    assertion.providerChangedAt = content["v"]?.numberValue?.int64.map(Instant.init(microseconds:))
    guard assertion.providerChangedAt != nil || store.profile == .emulator else {
      throw FederationError.invalidPendingToken
    }
    assertion.idToken = content["i"]?.textValue?.text ?? ""
    let opened = assertion
    return try await store.read { connection in
      guard try !RestoreMark.ends(issuedAt, connection) else {
        throw FederationError.invalidPendingToken
      }
      try Self.checkProvider(of: opened, in: pool, connection)
      return opened
    }
  }

  /// Checks that the provider of an assertion is enabled, and the one that verified it.
  static func checkProvider(
    of assertion: ProviderAssertion, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    guard let seen = assertion.providerChangedAt else { return }
    let current = try connection.first(
      """
      SELECT enabled, changed_at FROM identity_provider
      WHERE scope_key = \(pool.key) AND provider_id = \(assertion.link.provider)
      """
    ) { (isEnabled: try $0.next() as Bool, changedAt: try $0.next() as Int64) }
    guard let current else { throw FederationError.providerNotFound }
    guard current.isEnabled else { throw FederationError.providerDisabled }
    guard current.changedAt == seen.microseconds else {
      throw FederationError.invalidResponse(.providerChanged)
    }
  }

  private func find(
    _ provider: String, in pool: Pool
  ) async throws -> IdentityProvider {
    do { return try await providers.find(pool, provider) } catch is ProviderError {
      throw FederationError.providerNotFound
    }
  }
}

/// What an OpenID Connect provider says about a user beyond the account's own fields.
///
/// The ID tokens of the session have it as `firebase.sign_in_attributes`, as in production. A session
/// stores it with its claims, under the name `firebase`, which no custom claim can have.
enum SignInAttributes {
  /// The maximum length of the stored text, in bytes; longer attributes are left out.
  static let longest = 4_096

  /// The claims of ID tokens (OpenID Connect Core 1.0, sections 2 and 3.1.3.6; RFC 7519, section 4.1),
  /// and those that become fields of the account.
  private static let others: Set<UntrustedText> = [
    "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "auth_time", "nonce", "acr", "amr", "azp",
    "at_hash", "c_hash", "s_hash", "sid", "email", "email_verified", "name", "picture",
  ]

  /// Returns the claims of a session that begins with an ID token of a provider, as JSON text; nil if
  /// there are none.
  static func sessionClaims(of token: JSON.Object, from provider: String) -> String? {
    guard IdentityProviders.kind(of: provider) == .oidc else { return nil }
    let attributes = JSON.Object(token.members.filter { !others.contains($0.name) })
    guard !attributes.isEmpty else { return nil }
    let claims: JSON = ["firebase": ["sign_in_attributes": .object(attributes)]]
    let text = claims.serialized()
    return text.count <= longest ? String(decoding: text, as: UTF8.self) : nil
  }
}
