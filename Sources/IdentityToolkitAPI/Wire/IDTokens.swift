import Identity
import JSON

/// Makes and reads ID tokens, JSON Web Tokens of RFC 7519.
///
/// The standalone profile signs with RS256 and believes nothing else. The emulator profile issues
/// unsigned tokens, which the Node SDK demands of an emulator, and believes any.
struct IDTokens: Sendable {
  let identity: Identity
  private let verified = VerifiedTokens()

  init(identity: Identity) { self.identity = identity }

  /// Seconds for which a token is good.
  static let lifetime: Int64 = 3600
  /// Seconds for which a token is still taken after its end, as production does: clients send
  /// the token they hold, and it may have been good when they began.
  static let grace: Int64 = 300
  /// Seconds by which a token may be ahead of the clock, which is put right now and then.
  static let tolerance: Int64 = 5

  static let issuer = "https://securetoken.google.com/"

  /// Makes the token of a session.
  func make(for grant: SessionGrant) throws(WireError) -> String {
    try signed(
      ClaimsWriter.payload(grant, now: identity.clock.now().seconds), session: grant.session.id)
  }

  /// Makes a token of claims: signed, or unsigned in the emulator profile.
  ///
  /// The session that an ID token is of stands in its header, where SDKs show it to nobody.
  ///
  /// - Parameters:
  ///   - payload: The claims as JSON.
  ///   - session: The session of an ID token.
  ///   - isCookie: Whether it's a session cookie, whose header says no type.
  /// - Returns: The token.
  /// - Throws: The error for a key that can't be read.
  func signed(
    _ payload: [UInt8], session: ID<UserSession>? = nil, isCookie: Bool = false
  ) throws(WireError) -> String {
    let named = session.map { #","\#(Self.sessionName)":"\#($0.text)""# } ?? ""
    if identity.profile == .emulator {
      let header = Array(#"{"alg":"none"\#(named),"typ":"JWT"}"#.utf8)
      return Base64URL.encode(header) + "." + Base64URL.encode(payload) + "."
    }
    do throws(KeyError) {
      let keyID = try identity.signingKeys.currentID()
      let type = isCookie ? "" : #","typ":"JWT""#
      var token = Base64URL.encodedBytes(
        Array(#"{"alg":"RS256","kid":"\#(keyID)"\#(named)\#(type)}"#.utf8))
      token.append(UInt8(ascii: "."))
      token += Base64URL.encodedBytes(payload)
      let signature = try identity.signingKeys.sign(token, keyID: keyID)
      token.append(UInt8(ascii: "."))
      token += Base64URL.encodedBytes(signature)
      return String(decoding: token, as: UTF8.self)
    } catch {
      throw WireError(error)
    }
  }

  /// Reads the token of a message and finds its scope.
  ///
  /// That the session is still good is for the use case to say. A missing token has a word of its
  /// own in version 1, and is an invalid one in version 2.
  func session(
    _ call: ClientCall, missing: WireError = WireError("MISSING_ID_TOKEN")
  ) async throws(WireError) -> UserSession {
    guard let token = try call.message.text("idToken") else { throw missing }
    return try await session(token, call)
  }

  func session(_ token: String, _ call: ClientCall) async throws(WireError) -> UserSession {
    let claims = try await claims(of: token, project: call.project)
    if let tenant = call.tenant, tenant.text != claims.tenant { throw .tokenOfAnotherTenant }
    let scope: Scope
    do throws(ScopeError) {
      scope = try await identity.scopes.find(
        project: call.project, tenant: claims.tenant.map { ID($0) })
    } catch {
      throw WireError(error)
    }
    return claims.session(in: scope)
  }

  /// Reads the token of a call about one user pool, which must be of that very pool.
  func session(_ token: String, in scope: Scope) async throws(WireError) -> UserSession {
    let claims = try await claims(of: token, project: scope.project)
    guard claims.tenant == scope.tenant?.text else { throw .tokenOfAnotherTenant }
    return claims.session(in: scope)
  }

  /// The claims of a token that is good now, for a project.
  private func claims(
    of token: String, project: ID<Project>
  ) async throws(WireError) -> Claims {
    let claims = try await read(token)
    let now = identity.clock.now().seconds
    guard claims.isFor(project), claims.expires + Self.grace > now,
      max(claims.issued, claims.authTime) <= now + Self.tolerance
    else { throw .invalidIDToken }
    return claims
  }

  /// Reads a token whose signature is good.
  ///
  /// A signature that was good stays so as long as its key is believed, so it is remembered; what a
  /// token is worth now is for the rules to say each time.
  private func read(_ token: String) async throws(WireError) -> Claims {
    guard token.utf8.count < JSONWebToken.longest else { throw .invalidIDToken }
    if identity.profile == .emulator { return try parse(token).claims }
    let digest = HashFunction.sha256.digest(Array(token.utf8))
    if let known = verified.find(digest), identity.signingKeys.isBelieved(known.keyID) {
      return known.claims
    }
    let (claims, parsed) = try parse(token)
    guard parsed.algorithm == "RS256", let keyID = parsed.keyID else { throw .invalidIDToken }
    do throws(KeyError) { try await identity.signingKeys.learn(keyID) } catch {
      throw WireError(error)
    }
    guard
      identity.signingKeys.verify(parsed.message, signature: parsed.signature, keyID: keyID)
    else { throw .invalidIDToken }
    verified.add(digest, VerifiedTokens.Entry(claims: claims, keyID: keyID))
    return claims
  }

  private func parse(
    _ text: String
  ) throws(WireError) -> (claims: Claims, token: JSONWebToken) {
    guard let token = JSONWebToken(text),
      let claims = Claims(
        token.payload, session: (token.header[Self.sessionName]?.textValue?.text).map { ID($0) })
    else {
      throw .invalidIDToken
    }
    return (claims, token)
  }

  /// The whole payload of a token that was read before.
  static func payload(of token: String) -> JSON.Object? { JSONWebToken(token)?.payload }

  /// The parameter of the header that names the session; readers pass over those they don't know
  /// (RFC 7515, section 4).
  private static let sessionName = "sid"
}

extension WireError {
  static let invalidIDToken = WireError("INVALID_ID_TOKEN")
  static let tokenOfAnotherTenant = WireError(
    "TENANT_ID_MISMATCH : Specified tenant ID mismatches with the ID token.")
}
