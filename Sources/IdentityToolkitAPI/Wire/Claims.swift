import Identity
import JSON
import Text

struct Claims {
  let issuer: String
  let audience: String
  let subject: String
  let issued: Int64
  let expires: Int64
  let authTime: Int64
  /// The session; nil in tokens issued before they named their session.
  let session: ID<UserSession>?
  let tenant: String?
  let provider: SignInProvider
  let secondFactor: SecondFactorClaim?

  /// Reads a payload; nil if a claim that every token has is missing.
  init?(_ payload: JSON.Object, session: ID<UserSession>? = nil) {
    guard let issuer = payload["iss"]?.textValue?.text,
      let audience = payload["aud"]?.textValue?.text,
      let subject = payload["sub"]?.textValue?.text,
      (1...Account.longestID).contains(subject.utf8.count),
      let issued = payload["iat"]?.numberValue?.int64,
      let expires = payload["exp"]?.numberValue?.int64, expires < Int64(1) << 40,
      let authTime = payload["auth_time"]?.numberValue?.int64,
      let firebase = payload["firebase"]?.objectValue,
      let provider = (firebase["sign_in_provider"]?.textValue?.text).flatMap(
        SignInProvider.init(rawValue:))
    else { return nil }
    self.issuer = issuer
    self.audience = audience
    self.subject = subject
    self.issued = issued
    self.expires = expires
    self.authTime = authTime
    self.provider = provider
    self.session = session
    tenant = firebase["tenant"]?.textValue?.text
    let kind = (firebase["sign_in_second_factor"]?.textValue?.text).flatMap(
      Factor.Kind.init(rawValue:))
    let enrollment = firebase["second_factor_identifier"]?.textValue?.text
    secondFactor = kind.flatMap { kind in
      enrollment.map { SecondFactorClaim(kind: kind, enrollment: ID($0)) }
    }
  }

  func session(in pool: Pool) -> UserSession {
    UserSession(
      id: session, pool: pool, account: ID(subject), authTime: authTime, provider: provider,
      secondFactor: secondFactor)
  }
}

/// Writes the claims of an ID token directly as bytes, because every sign-in needs them.
struct ClaimsWriter {
  private var bytes: [UInt8] = []

  /// The maximum length of the linked identities, in bytes of JSON.
  ///
  /// An import can link any number of them, and tokens must stay short enough to be accepted. This
  /// is enough for 50 of the longest identities, or for hundreds of usual ones.
  static let mostIdentityBytes = 65_536

  static func payload(_ grant: SessionGrant, now: Int64) -> [UInt8] {
    var writer = ClaimsWriter()
    writer.bytes.reserveCapacity(768)
    writer.write(grant, now: now)
    return writer.bytes
  }

  private mutating func write(_ grant: SessionGrant, now: Int64) {
    let session = grant.session
    let account = grant.account
    let project = session.pool.project.text
    bytes.append(UInt8(ascii: "{"))
    text(.issuer, IDTokens.issuer + project)
    text(.audience, project)
    // No time is ahead of the clock, even if the clock was set back in the meantime.
    number(.authTime, min(session.authTime, now))
    text(.userID, account.id.text)
    text(.subject, account.id.text)
    number(.issuedAt, now)
    number(.expiry, now + IDTokens.lifetime)
    if let email = account.email {
      text(.email, email)
      name(.emailVerified)
      bytes.append(contentsOf: (account.emailVerified ? "true" : "false").utf8)
    }
    // Custom claims take precedence over the user's own name and photo.
    let ofSession = session.claims.flatMap(CustomClaims.read) ?? [:]
    let custom = Self.custom(account.customAttributes, ofSession)
    if custom["name"] == nil { text(.name, account.displayName) }
    if custom["picture"] == nil { text(.picture, account.photoURL) }
    text(.phoneNumber, account.phoneNumber)
    if session.provider == .anonymous { text(.providerID, "anonymous") }
    for claim in custom {
      member(claim.name.text)
      claim.value.write(to: &bytes)
    }
    if grant.mustEnroll {
      name(.countersign)
      bytes.append(contentsOf: #"{"mfa_enrollment_required":true}"#.utf8)
    }
    name(.firebase)
    bytes.append(UInt8(ascii: "{"))
    member("identities")
    bytes.append(UInt8(ascii: "{"))
    list("email", account.email)
    list("phone", account.phoneNumber)
    identities(account.providers)
    bytes.append(UInt8(ascii: "}"))
    member("sign_in_provider", session.provider.rawValue)
    if let factor = session.secondFactor {
      member("sign_in_second_factor", factor.kind.rawValue)
      member("second_factor_identifier", factor.enrollment.text)
    }
    if let attributes = ofSession["firebase"]?["sign_in_attributes"] {
      member("sign_in_attributes")
      attributes.write(to: &bytes)
    }
    member("tenant", session.pool.tenant?.text)
    bytes.append(contentsOf: "}}".utf8)
  }

  /// Writes as many identities as a token can have.
  private mutating func identities(_ links: [ProviderLink]) {
    let start = bytes.count
    for link in links {
      let end = bytes.count
      list(link.provider, link.rawID)
      guard bytes.count - start <= Self.mostIdentityBytes else {
        bytes.removeLast(bytes.count - end)
        return
      }
    }
  }

  /// Returns the user's custom claims with those of the session's custom token.
  ///
  /// The session's take precedence. The account's own values do over both, whether it has them or not,
  /// and a session's attributes are under `firebase`.
  private static func custom(_ ofUser: String?, _ ofSession: JSON.Object) -> JSON.Object {
    guard ofUser != nil || !ofSession.isEmpty else { return [:] }
    var claims = ofUser.flatMap(CustomClaims.read) ?? [:]
    for claim in ofSession { claims[claim.name] = claim.value }
    return JSON.Object(claims.members.filter { !ReservedClaims.leftOut.contains($0.name) })
  }

  private mutating func name(_ claim: TokenClaim) { member(claim.rawValue) }

  private mutating func text(_ claim: TokenClaim, _ value: String?) {
    member(claim.rawValue, value)
  }

  private mutating func number(_ claim: TokenClaim, _ value: Int64) {
    name(claim)
    bytes.append(contentsOf: String(value).utf8)
  }

  private mutating func member(_ name: String) {
    if bytes.last != UInt8(ascii: "{") { bytes.append(UInt8(ascii: ",")) }
    JSON.write(name, to: &bytes)
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func member(_ name: String, _ value: String?) {
    guard let value, !value.isEmpty else { return }
    member(name)
    JSON.write(value, to: &bytes)
  }

  private mutating func list(_ name: String, _ value: String?) {
    guard let value else { return }
    member(name)
    bytes.append(UInt8(ascii: "["))
    JSON.write(value, to: &bytes)
    bytes.append(UInt8(ascii: "]"))
  }
}

/// Custom claims that an administrator sets for a user, `customAttributes` on the wire: a JSON
/// object as text, at most 1,000 characters.
enum CustomClaims {
  static func read(_ text: String) -> JSON.Object? {
    (try? JSON.parse(Array(text.utf8)))?.objectValue
  }

  /// Validates claims before they're stored; an empty text removes them.
  static func change(_ text: String) throws(WireError) -> Change<String> {
    guard !text.isEmpty else { return .clear }
    guard text.utf16.count <= ReservedClaims.longest else {
      throw WireError(AccountError.claimsTooLarge)
    }
    guard let value = try? JSON.parse(Array(text.utf8)) else {
      throw WireError("INVALID_CLAIMS : The text is not JSON.")
    }
    guard case .object(let claims) = value else {
      let given = String(decoding: value.serialized(), as: UTF8.self)
      throw WireError("INVALID_CLAIMS : Not a JSON Object: \(given)")
    }
    if let name = ReservedClaims.first(in: claims) {
      throw WireError(AccountError.forbiddenClaim(name))
    }
    return .set(text)
  }
}
