import Crypto
public import JSON
public import Text

/// A verified ID token (OpenID Connect Core 1.0, section 2).
public struct IDToken: Sendable {
  /// The ID of the person at the issuer.
  public let subject: String
  /// When the person signed in, in seconds since 1970; nil if the token doesn't say.
  public let authenticatedAt: Int64?
  /// The context class and the methods of the sign-in: `acr` and `amr`.
  public let methods: [UntrustedText]
  /// The kinds of the methods in `amr`; two of them are two factors.
  public let methodKinds: Set<MethodKind>
  /// The person's name and address, for display.
  public private(set) var person: ProviderPerson
  private let payload: JSON.Object

  /// What was asked of the provider, and the token has to confirm.
  public struct Expectation: Sendable {
    /// The nonce of the request.
    public let nonce: String
    /// The access token that came with the ID token; nil if there was none.
    public let accessToken: String?
    /// The earliest time of the sign-in, in seconds since 1970, if `max_age` was sent.
    public let authenticatedSince: Int64?

    /// Creates the expectation.
    public init(nonce: String, accessToken: String?, authenticatedSince: Int64? = nil) {
      (self.nonce, self.accessToken) = (nonce, accessToken)
      self.authenticatedSince = authenticatedSince
    }
  }

  /// Verifies a token.
  ///
  /// - Throws: ``TokenFault``.
  public init(
    _ text: String, _ check: TokenCheck, _ expected: Expectation
  ) throws(TokenFault) {
    let token = try check.signed(text)
    // A logout token is signed with the same keys.
    guard token.payload["events"] == nil else { throw .otherType }
    try check.checkParties(token)
    try check.checkTimes(token)
    guard let nonce = token.payload["nonce"]?.textValue,
      constantTimeEqual(Array(nonce.utf8), Array(expected.nonce.utf8))
    else { throw .wrongNonce }
    try Self.checkHash(token, expected.accessToken)
    authenticatedAt = token.seconds("auth_time")
    if let since = expected.authenticatedSince {
      guard let authenticatedAt else { throw .missingAuthenticationTime }
      guard authenticatedAt >= since - TokenCheck.clockSkew,
        authenticatedAt <= check.now + TokenCheck.clockSkew
      else { throw .staleAuthentication }
    }
    guard let subject = TokenCheck.subject(token) else { throw .missingSubject }
    self.subject = subject
    let methods = token.texts("amr")
    self.methods = token.texts("acr") + methods
    methodKinds = Set(methods.compactMap { MethodKind($0) })
    person = ProviderPerson(token.payload)
    payload = token.payload
  }

  /// Both algorithms use SHA-256 (section 3.1.3.6).
  private static func checkHash(
    _ token: JSONWebToken, _ accessToken: String?
  ) throws(TokenFault) {
    guard let hash = token.payload["at_hash"] else { return }
    guard let accessToken, let hash = hash.textValue else { throw .wrongAccessToken }
    let digest = HashFunction.sha256.digest(Array(accessToken.utf8))
    let half = Base64URL.encode(Array(digest.prefix(digest.count / 2)))
    guard constantTimeEqual(Array(hash.utf8), Array(half.utf8)) else { throw .wrongAccessToken }
  }

  /// Returns whether the provider names one of the values as context class or method.
  public func names(oneOf values: [String]) -> Bool {
    let named = Set(methods)
    return values.contains { named.contains(UntrustedText($0)) }
  }

  /// Returns the groups in a claim; nil if the token doesn't have it.
  public func groups(in claim: String) -> ProviderGroups? {
    payload[claim].map { ProviderGroups($0) }
  }

  /// Returns whether the provider has the claim, but not in the token: it refers to another source
  /// (section 5.6.2), or says that there are too many groups.
  public func refersElsewhere(for claim: String) -> Bool {
    payload["_claim_names"]?.objectValue?[claim] != nil || payload["hasgroups"] == true
  }

  /// Adds what the userinfo endpoint tells about the person.
  public mutating func add(_ info: UserInfo) { person = person.adding(info.person) }
}

/// What a method of authentication proves (RFC 8176, section 2): methods of one kind are one factor.
public enum MethodKind: Sendable {
  /// Something that the person knows.
  case knowledge
  /// Something that the person has.
  case possession
  /// Something that the person is.
  case inherence

  private static let methods: [MethodKind: Set<UntrustedText>] = [
    .knowledge: ["kba", "pin", "pwd"],
    .possession: ["hwk", "otp", "sc", "sms", "swk", "tel"],
    .inherence: ["face", "fpt", "iris", "retina", "vbm"],
  ]

  /// Returns the kind of a method; nil for those that aren't one factor, such as `mfa` or `geo`, and
  /// for unknown ones.
  public init?(_ method: UntrustedText) {
    guard let kind = Self.methods.first(where: { $0.value.contains(method) })?.key else {
      return nil
    }
    self = kind
  }
}

/// The name and email address that a provider reports; don't use either to identify the person.
public struct ProviderPerson: Sendable, Equatable {
  /// The display name; nil if there's none.
  public let name: String?
  /// The email address; nil if there's none.
  public let email: String?

  private static let longest = 320

  init(_ claims: JSON.Object) {
    func text(_ name: String) -> String? {
      guard let text = claims[name]?.textValue?.text(atMost: Self.longest), !text.isEmpty,
        !text.utf8.contains(0)
      else { return nil }
      return text
    }
    name = text("name") ?? text("preferred_username")
    email = text("email")
  }

  private init(name: String?, email: String?) { (self.name, self.email) = (name, email) }

  /// Returns the person with what another answer adds.
  public func adding(_ other: ProviderPerson) -> ProviderPerson {
    ProviderPerson(name: name ?? other.name, email: email ?? other.email)
  }
}

/// The groups of a person at a provider, in their order.
public struct ProviderGroups: Sendable, Equatable {
  /// The names.
  public let names: [String]

  /// The maximum number of groups; others are ignored.
  public static let most = 500
  /// The maximum length of a name, in bytes; longer ones are ignored.
  public static let longest = 256

  /// Reads a claim: a list of texts, or one text.
  public init(_ claim: JSON) {
    let texts = claim.arrayValue?.compactMap(\.textValue) ?? [claim.textValue].compactMap { $0 }
    self.init(texts.compactMap { $0.text(atMost: Self.longest) })
  }

  /// Creates the groups, without empty, long, and repeated names, and those with a NUL character.
  public init(_ names: [String]) {
    var seen: Set<UntrustedText> = []
    self.names = names.prefix(Self.most).filter {
      !$0.isEmpty && $0.utf8.count <= Self.longest && !$0.utf8.contains(0)
        && seen.insert(UntrustedText($0)).inserted
    }
  }

  /// Returns whether the person is in a group; names are compared byte for byte.
  public func has(_ group: String) -> Bool { names.contains { $0.isSameBytes(as: group) } }
}

/// What a provider's userinfo endpoint tells about a person (OpenID Connect Core 1.0, section 5.3.2).
public struct UserInfo: Sendable {
  /// The person's name and address.
  public let person: ProviderPerson
  private let claims: JSON.Object

  /// Reads an answer; nil unless it's a JSON object about the subject of the ID token.
  public init?(_ bytes: [UInt8], subject: String) {
    guard let claims = (try? JSON.parse(bytes))?.objectValue,
      claims["sub"]?.textValue == UntrustedText(subject)
    else { return nil }
    self.claims = claims
    person = ProviderPerson(claims)
  }

  /// Returns the groups in a claim; nil if the answer doesn't have it.
  public func groups(in claim: String) -> ProviderGroups? {
    claims[claim].map { ProviderGroups($0) }
  }
}
