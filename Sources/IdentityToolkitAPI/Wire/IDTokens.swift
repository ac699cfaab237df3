import Crypto
import Identity
import JSON
import OpenIDConnect
import Synchronization
import Text

/// Issues and verifies ID tokens (JSON Web Tokens, RFC 7519).
///
/// The standalone profile signs with RS256 and accepts nothing else. The emulator profile issues
/// unsigned tokens, which the Node SDK requires of an emulator, and accepts any token.
struct IDTokens: Sendable {
  let identity: Identity
  private let verified = VerifiedTokens()

  /// The lifetime of a token, in seconds.
  static let lifetime: Int64 = 3600
  /// How long a token is accepted after it expires, in seconds, as in production, because it may
  /// have been valid when the client sent it.
  static let grace: Int64 = 300
  /// How far a token may be ahead of the clock, in seconds, because clocks are occasionally
  /// adjusted.
  static let tolerance: Int64 = 5

  /// The length that a token is below, in bytes.
  ///
  /// Every token that this server issues is shorter: its claims have at most
  /// ``ClaimsWriter/mostIdentityBytes`` of identities and 60 KiB of others, and Base64 makes four
  /// bytes of three.
  static let longest = 180_224

  static let issuer = "https://securetoken.google.com/"

  func make(for grant: SessionGrant) throws -> String {
    try signed(
      ClaimsWriter.payload(grant, now: identity.clock.now().seconds), session: grant.session.id)
  }

  /// Issues a token with the claims: signed, or unsigned in the emulator profile.
  ///
  /// The header of an ID token names its session, because SDKs don't expose the header.
  func signed(
    _ payload: [UInt8], session: ID<UserSession>? = nil, isCookie: Bool = false
  ) throws -> String {
    let named = session.map { #","\#(Self.sessionName)":"\#($0.text)""# } ?? ""
    if identity.profile == .emulator {
      let header = Array(#"{"alg":"none"\#(named),"typ":"JWT"}"#.utf8)
      return Base64URL.encode(header) + "." + Base64URL.encode(payload) + "."
    }
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
  }

  /// Reads the token of a message and resolves its pool.
  ///
  /// The use case checks that the session is still valid. A missing token has its own error in
  /// version 1 and is an invalid token in version 2.
  func session(
    _ call: ClientCall, missing: WireError = WireError("MISSING_ID_TOKEN")
  ) async throws -> UserSession {
    guard let token = try call.message.text("idToken") else { throw missing }
    return try await session(token, call)
  }

  func session(_ token: String, _ call: ClientCall) async throws -> UserSession {
    let claims = try await claims(of: token, project: call.project)
    if let tenant = call.tenant, tenant.text != claims.tenant {
      throw WireError.tokenOfAnotherTenant
    }
    let pool = try await identity.pools.find(
      project: call.project, tenant: claims.tenant.map { ID($0) })
    return claims.session(in: pool)
  }

  /// Reads the token of a call about one pool, which must be the token's pool.
  func session(_ token: String, in pool: Pool) async throws -> UserSession {
    let claims = try await claims(of: token, project: pool.project)
    guard claims.tenant == pool.tenant?.text else { throw WireError.tokenOfAnotherTenant }
    return claims.session(in: pool)
  }

  /// Returns the tenant of a token; nil if it has none, or isn't currently valid for the project.
  func tenant(of token: String, project: ID<Project>) async -> ID<Tenant>? {
    try? await claims(of: token, project: project).tenant.map { ID($0) }
  }

  private func claims(
    of token: String, project: ID<Project>
  ) async throws -> Claims {
    let claims = try await read(token)
    let now = identity.clock.now().seconds
    guard claims.audience == project.text, claims.issuer == Self.issuer + project.text,
      claims.expires + Self.grace > now,
      max(claims.issued, claims.authTime) <= now + Self.tolerance
    else { throw WireError.invalidIDToken }
    return claims
  }

  /// Reads a token with a valid signature.
  ///
  /// A valid signature stays valid as long as its key is, so it's cached; everything else is
  /// checked each time.
  private func read(_ token: String) async throws -> Claims {
    guard token.utf8.count < Self.longest else { throw WireError.invalidIDToken }
    if identity.profile == .emulator { return try parse(token).claims }
    let digest = HashFunction.sha256.digest(Array(token.utf8))
    if let known = verified.find(digest), identity.signingKeys.isBelieved(known.keyID) {
      return known.claims
    }
    let (claims, parsed) = try parse(token)
    guard parsed.algorithm == "RS256", let keyID = parsed.keyID else {
      throw WireError.invalidIDToken
    }
    try await identity.signingKeys.learn(keyID)
    guard
      identity.signingKeys.verify(parsed.message, signature: parsed.signature, keyID: keyID)
    else { throw WireError.invalidIDToken }
    verified.add(digest, VerifiedTokens.Entry(claims: claims, keyID: keyID))
    return claims
  }

  private func parse(
    _ text: String
  ) throws(WireError) -> (claims: Claims, token: JSONWebToken) {
    guard let token = JSONWebToken(text, below: Self.longest),
      let claims = Claims(
        token.payload, session: (token.header[Self.sessionName]?.textValue?.text).map { ID($0) })
    else {
      throw .invalidIDToken
    }
    return (claims, token)
  }

  /// Returns the complete payload of a token that was read before.
  static func payload(of token: String) -> JSON.Object? {
    JSONWebToken(token, below: longest)?.payload
  }

  /// The header parameter that names the session; verifiers ignore unknown parameters (RFC 7515,
  /// section 4).
  private static let sessionName = "sid"
}

extension WireError {
  static let invalidIDToken = WireError("INVALID_ID_TOKEN")
  static let tokenOfAnotherTenant = WireError(
    "TENANT_ID_MISMATCH : Specified tenant ID mismatches with the ID token.")
}

/// A cache of tokens with a verified signature, by digest, so that a client that sends the same
/// token repeatedly doesn't cause repeated verification.
///
/// It caches only what a signature proves. The caller checks everything that can change: whether
/// the key is still valid, the token hasn't expired, the account exists, and its session is valid.
final class VerifiedTokens: Sendable {
  struct Entry: Sendable {
    let claims: Claims
    let keyID: String
  }

  /// Two generations: when the younger is full, it replaces the older, so that entries needn't be
  /// ordered by last use.
  private struct Memory: Sendable {
    var young: [[UInt8]: Entry] = [:]
    var old: [[UInt8]: Entry] = [:]

    mutating func keep(_ digest: [UInt8], _ entry: Entry) {
      if young.count >= VerifiedTokens.most {
        old = young
        young = [:]
      }
      young[digest] = entry
      old[digest] = nil
    }
  }

  /// The maximum number of tokens per generation; an entry uses about one kilobyte.
  static let most = 8_192

  private let memory = Mutex(Memory())

  func find(_ digest: [UInt8]) -> Entry? {
    memory.withLock { (memory) -> Entry? in
      if let entry = memory.young[digest] { return entry }
      guard let entry = memory.old[digest] else { return nil }
      memory.keep(digest, entry)
      return entry
    }
  }

  func add(_ digest: [UInt8], _ entry: Entry) {
    memory.withLock { $0.keep(digest, entry) }
  }

  /// The number of cached tokens, for tests.
  var count: Int { memory.withLock { $0.young.count + $0.old.count } }
}
