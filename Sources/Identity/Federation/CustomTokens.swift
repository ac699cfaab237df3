import Crypto
import Database
import JSON
public import Text

/// Why a custom token signs nobody in.
public enum CustomTokenError: Error, Sendable {
  /// The token cannot be believed; the text says why.
  case invalid(String)
  /// The token is of somebody who may not sign for the project.
  case credentialMismatch
  /// The token is for another tenant than the request.
  case tenantMismatch
  /// The token has no uid.
  case missingUID
  /// Its claims are not an object.
  case invalidClaims
  /// One of its claims has a name that tokens use themselves.
  case forbiddenClaim(String)
  /// Its claims have more than 1000 characters.
  case claimsTooLarge
  /// The account may not sign in.
  case userDisabled
  /// Nobody can sign in to the scope.
  case scopeDisabled(Scope)
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension CustomTokenError: UseCaseError {}

/// Names that tokens use themselves.
public enum ReservedClaims {
  /// Those that nobody may give, as SDKs refuse them.
  public static let forbidden: Set<UntrustedText> = [
    "acr", "amr", "at_hash", "aud", "auth_time", "azp", "c_hash", "cnf", "exp", "firebase", "iat",
    "iss", "jti", "nbf", "nonce", "sub",
  ]

  /// Those that stay what the token says of the user, whatever was given.
  public static let all: Set<UntrustedText> = forbidden.union([
    "email", "email_verified", "name", "phone_number", "picture", "provider_id", "user_id",
  ])

  /// The most characters that claims may have, in UTF-16.
  public static let longest = 1_000
}

/// Signs users in by tokens that a project's own back end made.
public struct CustomTokens: Sendable {
  let store: Store
  let signers: TrustedTokenKeys

  /// Whom a custom token must be meant for.
  public static let audience =
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
  /// How long a custom token may count, in seconds.
  public static let longestLife: Int64 = 3_600
  /// How far the clock of a back end may be ahead, in seconds.
  static let clockSkew: Int64 = 300

  /// What a token says, as far as it counts here.
  private struct Words: Sendable {
    let uid: String
    /// The claims for the session's tokens, as JSON text; nil for none.
    let claims: String?
    /// The key that has signed it; nil in the emulator profile.
    let signer: String?
  }

  /// Signs in the user that a token names, and makes the account when there is none.
  ///
  /// The standalone profile takes what a registered key has signed with RS256, and nothing else. The
  /// emulator profile takes any token, and a bare JSON object as well. A second factor is never
  /// asked for: whoever signs the tokens has made sure who it is.
  ///
  /// - Returns: The session, and whether the account is new.
  /// - Throws: ``CustomTokenError``.
  public func signIn(
    _ scope: Scope, token: String, by author: Author
  ) async throws(CustomTokenError) -> (grant: SessionGrant, isNewUser: Bool) {
    guard !scope.isDisabled else { throw .scopeDisabled(scope) }
    let words = try await read(token, for: scope)
    let now = store.clock.now()
    let random = store.random
    let result = try await store.write(CustomTokenError.self) { connection in
      if let signer = words.signer, try !TrustedTokenKeys.isInForce(signer, connection) {
        throw CustomTokenError.credentialMismatch
      }
      let known = try AccountRecord.find(scope, ID(words.uid), connection)
      if let known, known.disabled { throw CustomTokenError.userDisabled }
      let key =
        try known?.key
        ?? AccountRecord.insert(
          NewAccount(), passwordHash: nil, anonymous: false, in: scope, uid: words.uid, at: now,
          connection
        ).key
      if known?.isCustomAuth != true {
        try connection.run("UPDATE account SET custom_auth = 1 WHERE account_key = \(key)")
      }
      guard let account = try AccountRecord.find(key: key, connection) else {
        throw Failure("account vanished")
      }
      if known == nil {
        try account.recordSignUp(
          in: scope, way: ", by a custom token", by: author, at: now, connection)
      }
      let grant = try Sessions.begin(
        account, in: scope, provider: .custom, secondFactor: nil, claims: words.claims, at: now,
        random: random, connection)
      return (grant: grant, isNewUser: known == nil)
    }
    if let signer = words.signer { signers.uses.note(signer, at: now) }
    return result
  }

  private func read(_ token: String, for scope: Scope) async throws(CustomTokenError) -> Words {
    if store.profile == .emulator, token.first == "{" {
      guard token.utf8.count < JSONWebToken.longest,
        let payload = (try? JSON.parse(Array(token.utf8)))?.objectValue
      else {
        throw .invalid("The emulator takes strict JSON and JSON Web Tokens as custom tokens.")
      }
      if payload["tenant_id"] != nil { try Self.checkTenant(payload, scope) }
      return try words(payload, signer: nil)
    }
    guard let token = JSONWebToken(token) else {
      throw .invalid("Invalid assertion format. 3 dot separated segments required.")
    }
    var signer: String?
    if store.profile == .standalone { signer = try await checkSignature(token, scope.project) }
    guard token.text("aud") == Self.audience else {
      throw .invalid("The audience of the token is not that of custom tokens.")
    }
    try Self.checkTenant(token.payload, scope)
    return try words(token.payload, signer: signer)
  }

  /// Finds the registered key that has signed a token, and checks its times.
  private func checkSignature(
    _ token: JSONWebToken, _ project: ID<Project>
  ) async throws(CustomTokenError) -> String {
    guard token.algorithm == PublicKey.Algorithm.rs256.rawValue, !token.isCritical else {
      throw .invalid("The token must be signed with RS256.")
    }
    guard let issuer = token.text("iss"), !issuer.isEmpty, token.text("sub") == issuer else {
      throw .invalid("Issuer and subject must both be the service account that signed the token.")
    }
    let keyID = token.keyID
    let candidates = try await store.read(CustomTokenError.self) { connection in
      try TrustedTokenKeys.candidates(project, issuer: issuer, keyID: keyID, connection)
    }
    guard !candidates.isEmpty else { throw .credentialMismatch }
    let signer = candidates.first { candidate in
      (try? PublicKey(der: candidate.key)).map(token.isSigned(by:)) ?? false
    }
    guard let signer else { throw .invalid("The signature is not that of a registered key.") }
    let now = store.clock.now().seconds
    guard let issued = token.seconds("iat"), let expires = token.seconds("exp"), issued < expires
    else { throw .invalid("The token has no time of issue and expiry.") }
    guard expires - issued <= Self.longestLife else {
      throw .invalid("A custom token counts for one hour at most.")
    }
    guard expires > now else { throw .invalid("The token has expired.") }
    guard issued <= now + Self.clockSkew, (token.seconds("nbf") ?? 0) <= now + Self.clockSkew else {
      throw .invalid("The token is from the future; look at the clock of whoever signed it.")
    }
    return signer.id
  }

  private static func checkTenant(
    _ payload: JSON.Object, _ scope: Scope
  ) throws(CustomTokenError) {
    let named = payload["tenant_id"] ?? .null
    if named.isNull, scope.tenant == nil { return }
    guard let name = named.textValue?.text, name == scope.tenant?.text else {
      throw .tenantMismatch
    }
  }

  private func words(
    _ payload: JSON.Object, signer: String?
  ) throws(CustomTokenError) -> Words {
    var uid = payload["uid"]?.textValue?.text
    if uid == nil, store.profile == .emulator {
      // Google's emulator takes a number, and the older name.
      uid = payload["uid"]?.numberValue?.text ?? payload["user_id"]?.textValue?.text
    }
    guard let uid, !uid.isEmpty else { throw .missingUID }
    do { try AccountRules.checkUID(uid) } catch {
      throw .invalid("A uid has 1 to \(Account.longestID) bytes, none of them a control character.")
    }
    guard let given = payload["claims"] else {
      return Words(uid: uid, claims: nil, signer: signer)
    }
    guard let claims = given.objectValue else { throw .invalidClaims }
    for name in claims.names where ReservedClaims.forbidden.contains(name) {
      throw .forbiddenClaim(name.text)
    }
    let text = String(decoding: given.serialized(), as: UTF8.self)
    do { try AccountRules.checkClaims(text) } catch { throw .claimsTooLarge }
    return Words(uid: uid, claims: claims.isEmpty ? nil : text, signer: signer)
  }
}
