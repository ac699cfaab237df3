import Crypto
import Database
public import JSON
import OpenIDConnect
public import Text

public enum InvalidCustomToken: Sendable, CaseIterable {
  /// The emulator can't parse the token.
  case notJSON
  case malformed
  /// The audience isn't ``CustomTokens/audience``.
  case otherAudience
  /// The token isn't signed with RS256.
  case otherAlgorithm
  /// Issuer and subject differ.
  case otherSubject
  case wrongSignature
  /// The token has no time of issue or expiry.
  case missingTimes
  /// The token is valid for longer than ``CustomTokens/longestLife``.
  case tooLong
  case expired
  case future
  /// The uid has control characters.
  case invalidUID
}

public enum CustomTokenError: Error, Sendable {
  case invalid(InvalidCustomToken)
  /// The token's issuer isn't trusted for the project.
  case credentialMismatch
  case tenantMismatch
  case missingUID
  /// The uid is empty or longer than ``CustomTokens/longestUID``.
  case invalidUIDLength
  /// The token's custom claims aren't an object.
  case invalidClaims
  case forbiddenClaim(String)
  /// The user should have a second factor by now and has none; an enrollment link is in their email.
  case enrollmentRequired
  case userDisabled
}

/// Signs users in with custom tokens created by a project's own backend.
public struct CustomTokens: Sendable {
  let store: Store
  let trustedTokenKeys: TrustedTokenKeys

  public static let audience =
    "https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"
  /// The maximum lifetime of a custom token, in seconds.
  public static let longestLife: Int64 = 3_600
  /// The maximum length of a uid, in UTF-16 code units.
  public static let longestUID = 128
  /// The tolerance for a backend clock that's ahead, in seconds.
  static let clockSkew: Int64 = 300

  /// The parts of a custom token that are used.
  private struct Contents: Sendable {
    let uid: String
    /// The custom claims for the session's tokens, as JSON text; nil if there are none.
    let claims: String?
    /// The key that signed the token; nil in the emulator profile.
    let signer: String?
  }

  /// Signs in the user with the token's uid and creates the account if it doesn't exist.
  ///
  /// The standalone profile accepts only tokens signed with RS256 by a registered key. The emulator
  /// profile accepts any token, and a bare JSON object as well. A second factor is never required:
  /// the backend that signs the token has verified the user's identity.
  public func signIn(
    _ pool: Pool, token: String, by author: Author
  ) async throws -> (grant: SessionGrant, isNewUser: Bool) {
    guard !pool.isDisabled else { throw CallError.poolDisabled(pool) }
    let contents = try await read(token, for: pool)
    let now = store.clock.now()
    // Nil if the sign-in is refused: returned, so that the transaction keeps the enrollment link.
    let result: (grant: SessionGrant, isNewUser: Bool)? = try await store.write(
      by: author
    ) { connection in
      if let signer = contents.signer, try !TrustedTokenKeys.isInForce(signer, connection) {
        throw CustomTokenError.credentialMismatch
      }
      let known = try AccountRecord.find(pool, ID(contents.uid), connection)
      if let known, known.refusesSignIn { throw CustomTokenError.userDisabled }
      let key =
        try known?.key
        ?? AccountRecord.insert(
          NewAccount(), passwordHash: nil, anonymous: false, in: pool,
          uid: contents.uid, at: now, connection
        ).key
      if known?.isCustomAuth != true || known?.isAnonymous == true {
        try AccountRecord.set("custom_auth = 1, anonymous = 0", of: key, connection)
      }
      guard let account = try AccountRecord.find(key: key, connection) else {
        throw Failure("account vanished")
      }
      if known == nil {
        try account.recordSignUp(
          in: pool, method: .custom, by: author, store.profile, at: now, connection)
      }
      guard try !store.refusesSignIn(of: account, in: pool, at: now, connection) else {
        return nil
      }
      let grant = try Sessions.begin(
        account, in: pool, provider: .custom, secondFactor: nil,
        with: .signInWith(claims: contents.claims), at: now, random: store.random, connection)
      return (grant: grant, isNewUser: known == nil)
    }
    if let signer = contents.signer { trustedTokenKeys.uses.note(signer, at: now) }
    guard let result else { throw CustomTokenError.enrollmentRequired }
    return result
  }

  private func read(_ token: String, for pool: Pool) async throws -> Contents {
    if store.profile == .emulator, token.first == "{" {
      guard token.utf8.count < JSONWebToken.longest,
        let payload = (try? JSON.parse(Array(token.utf8)))?.objectValue
      else {
        throw CustomTokenError.invalid(.notJSON)
      }
      if payload["tenant_id"] != nil { try Self.checkTenant(payload, pool) }
      return try contents(payload, signer: nil)
    }
    guard let token = JSONWebToken(token) else {
      throw CustomTokenError.invalid(.malformed)
    }
    var signer: String?
    if store.profile == .standalone { signer = try await checkSignature(token, pool.project) }
    guard token.text("aud") == Self.audience else {
      throw CustomTokenError.invalid(.otherAudience)
    }
    try Self.checkTenant(token.payload, pool)
    return try contents(token.payload, signer: signer)
  }

  /// Finds the registered key that signed a token and checks the token's times.
  private func checkSignature(
    _ token: JSONWebToken, _ project: ID<Project>
  ) async throws -> String {
    guard token.algorithm == PublicKey.Algorithm.rs256.rawValue, !token.isCritical else {
      throw CustomTokenError.invalid(.otherAlgorithm)
    }
    guard let issuer = token.text("iss"), !issuer.isEmpty, token.text("sub") == issuer else {
      throw CustomTokenError.invalid(.otherSubject)
    }
    let keyID = token.keyID
    let candidates = try await store.read { connection in
      try TrustedTokenKeys.candidates(project, issuer: issuer, keyID: keyID, connection)
    }
    guard !candidates.isEmpty else { throw CustomTokenError.credentialMismatch }
    let signer = candidates.first { candidate in
      (try? PublicKey(der: candidate.key)).map(token.isSigned(by:)) ?? false
    }
    guard let signer else { throw CustomTokenError.invalid(.wrongSignature) }
    let now = store.clock.now().seconds
    guard let issued = token.seconds("iat"), let expires = token.seconds("exp"), issued < expires
    else { throw CustomTokenError.invalid(.missingTimes) }
    guard expires - issued <= Self.longestLife else {
      throw CustomTokenError.invalid(.tooLong)
    }
    guard expires > now else { throw CustomTokenError.invalid(.expired) }
    guard issued <= now + Self.clockSkew, (token.seconds("nbf") ?? 0) <= now + Self.clockSkew else {
      throw CustomTokenError.invalid(.future)
    }
    return signer.id
  }

  private static func checkTenant(
    _ payload: JSON.Object, _ pool: Pool
  ) throws(CustomTokenError) {
    let named = payload["tenant_id"] ?? .null
    if named.isNull, pool.tenant == nil { return }
    guard let name = named.textValue?.text, name == pool.tenant?.text else {
      throw .tenantMismatch
    }
  }

  private func contents(
    _ payload: JSON.Object, signer: String?
  ) throws(CustomTokenError) -> Contents {
    // A number is read as its text, as in production.
    var uid = payload["uid"]?.textValue?.text ?? payload["uid"]?.numberValue?.text
    if uid == nil, store.profile == .emulator {
      // The older name, which Google's emulator accepts.
      uid = payload["user_id"]?.textValue?.text
    }
    guard let uid else { throw .missingUID }
    guard (1...Self.longestUID).contains(uid.utf16.count) else { throw .invalidUIDLength }
    do { try AccountRules.checkUID(uid) } catch {
      throw .invalid(.invalidUID)
    }
    guard let given = payload["claims"] else {
      return Contents(uid: uid, claims: nil, signer: signer)
    }
    guard let claims = given.objectValue else { throw .invalidClaims }
    if let name = ReservedClaims.first(in: claims) { throw .forbiddenClaim(name) }
    let text = String(decoding: given.serialized(), as: UTF8.self)
    return Contents(uid: uid, claims: claims.isEmpty ? nil : text, signer: signer)
  }
}

/// A claim that ID tokens have; every claim but the custom ones is one of them.
public enum TokenClaim: String, CaseIterable, Sendable {
  case issuer = "iss"
  /// The project.
  case audience = "aud"
  case authTime = "auth_time"
  case userID = "user_id"
  /// The UID.
  case subject = "sub"
  case issuedAt = "iat"
  case expiry = "exp"
  case email
  case emailVerified = "email_verified"
  case name
  case picture
  case phoneNumber = "phone_number"
  /// `anonymous` for anonymous users.
  case providerID = "provider_id"
  /// Whether the user has to enroll a second factor.
  case countersign
  /// The sign-in: identities, provider, second factor, and tenant.
  case firebase

  /// Whether a custom claim takes its place, as in production.
  public var isReplaceable: Bool {
    switch self {
    case .name, .picture: true
    case .issuer, .audience, .authTime, .userID, .subject, .issuedAt, .expiry, .email,
      .emailVerified, .phoneNumber, .providerID, .countersign, .firebase:
      false
    }
  }
}

public enum ReservedClaims {
  /// The names that custom claims can't have: those that production and SDKs refuse, and no others.
  public static let all: Set<UntrustedText> = [
    "acr", "amr", "at_hash", "aud", "auth_time", "azp", "c_hash", "cnf", "exp", "firebase", "iat",
    "iss", "jti", "nbf", "nonce", "sub",
  ]

  /// The names of stored claims that tokens leave out, since they're about the account or the session:
  /// a token has their values, or none.
  public static let leftOut: Set<UntrustedText> = all.union(
    TokenClaim.allCases.filter { !$0.isReplaceable }.map { UntrustedText($0.rawValue) })

  /// The maximum length of custom claims, in UTF-16 code units.
  public static let longest = 1_000

  public static func first(in claims: JSON.Object) -> String? {
    claims.names.first { all.contains($0) }?.text
  }
}
