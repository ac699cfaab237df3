import Crypto
import JSON

/// What a provider of identity says of a user.
public struct ProviderAssertion: Sendable {
  /// Who it is there.
  public let link: ProviderLink
  /// Whether the provider says that the address is the user's.
  public let isEmailVerified: Bool
  /// The given name.
  public let firstName: String?
  /// The family name.
  public let lastName: String?
  /// The name on a screen.
  public let screenName: String?
  /// All that the provider said, as JSON text.
  public let claims: String

  /// Reads the claims of an ID token of OpenID Connect (Core 1.0, section 5.1), which somebody has
  /// checked.
  ///
  /// An address, name or picture that is none is passed over: who the user is does not hang on it.
  init?(provider: String, claims: JSON.Object) {
    guard let subject = claims["sub"]?.textValue?.text else { return nil }
    func text(_ name: String, _ longest: Int) -> String? {
      guard let text = claims[name]?.textValue?.text, !text.isEmpty, text.utf8.count <= longest
      else {
        return nil
      }
      return text
    }
    var email = text("email", 320)?.lowercased()
    if let given = email, (try? AccountRules.checkEmail(given)) == nil { email = nil }
    let name = text("name", ProviderLink.longestField).flatMap { name in
      name.unicodeScalars.count <= Account.longestName ? name : nil
    }
    link = ProviderLink(
      provider: provider, rawID: subject, email: email, displayName: name,
      photoURL: text("picture", ProviderLink.longestField))
    let verified = claims["email_verified"]
    // Some providers write the truth as a text.
    isEmailVerified = email != nil && (verified?.boolValue ?? (verified?.textValue == "true"))
    firstName = text("given_name", 256)
    lastName = text("family_name", 256)
    screenName = text("screen_name", 256) ?? text("preferred_username", 256)
    self.claims = String(decoding: JSON.object(claims).serialized(), as: UTF8.self)
  }
}

/// Why nobody is signed in by another provider.
public enum FederationError: Error, Sendable {
  /// The provider's answer cannot be believed; the text says why.
  case invalidResponse(String)
  /// The nonce is missing, or not that of the token.
  case invalidNonce(String)
  /// No such provider in the scope.
  case providerNotFound
  /// The provider is off.
  case providerDisabled
  /// SAML, or another way that is not served.
  case unsupported(String)
  /// A pending token that was not made here, or is too old.
  case invalidPendingToken
  /// The identity is another account's.
  case alreadyLinked
  /// The address is another account's.
  case emailExists
  /// No account has the identity, and none may be made.
  case userNotFound
  /// The account may not sign in.
  case userDisabled
  /// Users may not make accounts themselves.
  case signUpDisabled
  /// Nobody can sign in to the scope.
  case scopeDisabled(Scope)
  /// The session to which the identity shall be linked does not count any more.
  case session(SessionError)
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension FederationError: UseCaseError {}

extension Federation {
  /// How far the clock of a provider may be ahead or behind, in seconds.
  private static let clockSkew: Int64 = 60

  /// Reads the ID token of a provider.
  ///
  /// The standalone profile wants the signature of one of the provider's registered keys, its
  /// issuer, the audience that was registered, and times that count (OpenID Connect Core 1.0,
  /// section 3.1.3.7). The emulator profile takes any token, and a bare JSON object as well.
  ///
  /// - Parameters:
  ///   - scope: The user pool.
  ///   - provider: The provider's id.
  ///   - idToken: The token.
  ///   - nonce: The raw nonce; the token has its SHA-256 digest in hexadecimal.
  /// - Returns: What it says.
  /// - Throws: ``FederationError``.
  public func assertion(
    _ scope: Scope, provider: String, idToken: String, nonce: String?
  ) async throws(FederationError) -> ProviderAssertion {
    guard IdentityProviders.kind(of: provider) != .saml else {
      throw .unsupported("Sign-in by SAML is not served; its configurations are kept.")
    }
    if store.profile == .emulator { return try Self.unchecked(idToken, provider) }
    guard IdentityProviders.kind(of: provider) == .oidc else { throw .providerNotFound }
    let settings = try await settings(scope, provider)
    guard settings.isEnabled else { throw .providerDisabled }
    guard let token = JSONWebToken(idToken) else {
      throw .invalidResponse("The id_token is not a JSON Web Token.")
    }
    try check(token, settings, nonce: nonce)
    guard let assertion = ProviderAssertion(provider: provider, claims: token.payload),
      (try? assertion.link.check()) != nil
    else { throw .invalidResponse("The id_token has no subject that can be kept.") }
    return assertion
  }

  private func check(
    _ token: JSONWebToken, _ settings: ProviderSettings, nonce: String?
  ) throws(FederationError) {
    guard settings.keys.count > 0 else {
      throw .invalidResponse("No keys of this provider are registered.")
    }
    guard settings.keys.haveSigned(token) else {
      throw .invalidResponse("The signature of the id_token is not that of a registered key.")
    }
    guard token.text("iss") == settings.issuer else {
      throw .invalidResponse("The id_token is of another issuer.")
    }
    let audience = token.payload["aud"]
    let audiences =
      (audience?.textValue?.text).map { [$0] }
      ?? audience?.arrayValue?.compactMap(\.textValue?.text)
    guard audiences?.contains(settings.clientID) == true else {
      throw .invalidResponse("The id_token is for another client.")
    }
    // Of a token for several, the one that asked for it must be this client.
    let asked = token.text("azp")
    guard asked == nil ? audiences?.count == 1 : asked == settings.clientID else {
      throw .invalidResponse("The id_token was made for another client.")
    }
    let now = store.clock.now().seconds
    guard let expires = token.seconds("exp"), let issued = token.seconds("iat") else {
      throw .invalidResponse("The id_token has no time of issue and expiry.")
    }
    guard expires > now - Self.clockSkew else {
      throw .invalidResponse("The id_token has expired.")
    }
    guard max(issued, token.seconds("nbf") ?? issued) <= now + Self.clockSkew else {
      throw .invalidResponse("The id_token is from the future.")
    }
    try Self.check(nonce: nonce, against: token.payload["nonce"]?.textValue?.text)
  }

  private static func check(nonce: String?, against kept: String?) throws(FederationError) {
    guard let kept else {
      guard nonce == nil else { throw .invalidNonce("The id_token has no nonce.") }
      return
    }
    guard let nonce, nonce.utf8.count <= 1_024 else {
      throw .invalidNonce("Nonce is missing in the request.")
    }
    let digest = Hex.encode(HashFunction.sha256.digest(Array(nonce.utf8)))
    guard constantTimeEqual(Array(digest.utf8), Array(kept.utf8)) else {
      throw .invalidNonce("The SHA-256 hash of the raw nonce is not the nonce of the id_token.")
    }
  }

  /// Reads what an application of the emulator says that a provider says.
  static func unchecked(
    _ idToken: String, _ provider: String
  ) throws(FederationError) -> ProviderAssertion {
    var claims = JSONWebToken(idToken)?.payload
    if idToken.first == "{", idToken.utf8.count < JSONWebToken.longest {
      claims = (try? JSON.parse(Array(idToken.utf8)))?.objectValue
    }
    guard let claims else {
      throw .invalidResponse(
        "Unable to parse id_token. The emulator takes strict JSON and JSON Web Tokens.")
    }
    guard let subject = claims["sub"], subject.textValue != "" else {
      throw .invalidResponse(
        "Invalid Idp Response: id_token missing required fields. It has no sub.")
    }
    guard subject.textValue?.text != nil else {
      throw .invalidResponse("The sub of the id_token must be a text.")
    }
    guard let assertion = ProviderAssertion(provider: provider, claims: claims),
      (try? assertion.link.check()) != nil
    else { throw .invalidResponse("The id_token has no subject that can be kept.") }
    return assertion
  }
}

// MARK: - Pending tokens

extension Federation {
  /// How long a pending token counts, in seconds.
  static let pendingLifetime: Int64 = 900

  /// Seals what a provider has said, so that a client can come back with it after its user has
  /// signed in another way.
  ///
  /// - Throws: ``FederationError/unavailable(_:)``.
  public func pendingToken(
    _ assertion: ProviderAssertion, in scope: Scope
  ) throws(FederationError) -> String {
    let content: JSON = [
      "s": .number(JSON.Number(scope.key)), "t": .number(JSON.Number(store.clock.now().seconds)),
      "p": .string(assertion.link.provider), "c": .string(assertion.claims),
    ]
    do {
      return Base64URL.encode(try pending.seal(content.serialized(), with: []))
    } catch {
      throw .unavailable(Failure(error))
    }
  }

  /// Opens a pending token; its provider must still be on.
  ///
  /// - Throws: ``FederationError``.
  public func assertion(
    _ scope: Scope, pendingToken: String
  ) async throws(FederationError) -> ProviderAssertion {
    guard pendingToken.utf8.count < 2 * JSONWebToken.longest,
      let box = Base64URL.decode(pendingToken), let plain = try? pending.open(box, with: []),
      let content = try? JSON.parse(plain.revealedBytes),
      content["s"]?.numberValue?.int64 == scope.key, let made = content["t"]?.numberValue?.int64,
      store.clock.now().seconds <= made + Self.pendingLifetime,
      let provider = content["p"]?.textValue?.text, let text = content["c"]?.textValue?.text,
      let claims = (try? JSON.parse(Array(text.utf8)))?.objectValue,
      let assertion = ProviderAssertion(provider: provider, claims: claims)
    else { throw .invalidPendingToken }
    guard store.profile == .standalone else { return assertion }
    guard try await settings(scope, provider).isEnabled else { throw .providerDisabled }
    return assertion
  }

  private func settings(
    _ scope: Scope, _ provider: String
  ) async throws(FederationError) -> ProviderSettings {
    do throws(ProviderError) { return try await providers.find(scope, provider).settings } catch {
      guard case .unavailable(let cause) = error else { throw .providerNotFound }
      throw .unavailable(cause)
    }
  }
}
