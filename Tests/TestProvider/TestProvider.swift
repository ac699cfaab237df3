import Crypto
import Foundation
public import Identity
public import JSON
import Synchronization
import Text

/// A provider of OpenID Connect in memory, which signs tokens as a real one does.
public final class TestProvider: ProviderTransport {
  /// Who signs in, and how the provider behaves; tests change it.
  public struct Behavior: Sendable {
    /// The ID of the person.
    public var subject = "248289761001"
    /// The name of the person.
    public var name = "Nora Example"
    /// The email address of the person.
    public var email = "nora@example.com"
    /// The groups in ID tokens; nil for no claim.
    public var groups: [String]? = ["admins"]
    /// What happens while the server asks for the discovery document.
    public var whileDiscovered: (@Sendable () async -> Void)?
    /// The methods of the sign-in.
    public var amr: [String] = ["pwd", "mfa"]
    /// The class of the sign-in; nil for no claim.
    public var acr: String?
    /// How long ago the person signed in, in seconds.
    public var age: Int64 = 0
    /// Claims of ID tokens that replace the usual ones; nil removes a claim.
    public var claims: [String: JSON?] = [:]
    /// Groups that only the userinfo endpoint tells.
    public var userInfoGroups: [String]?
    /// The name and the address that only the userinfo endpoint tells.
    public var userInfoPerson: (name: String, email: String)?
    /// The subject of the userinfo endpoint; nil for the person.
    public var userInfoSubject: String?
    /// The status of the responses about the person, if it isn't 200.
    public var userInfoStatus: Int?
    /// Which of the keys signs, and which are published.
    public var key = 0
    /// The keys that are published.
    public var published = [0]
    /// Whether no request gets a response.
    public var isDown = false
    /// The status of the responses to requests for tokens and about the person, if it isn't 200.
    public var status: Int?
    /// Members of the discovery document that replace the usual ones.
    public var document: [String: JSON] = [:]

    /// Creates the usual behavior.
    public init() {}
  }

  private struct Grant: Sendable {
    let nonce: String
    let challenge: String
  }

  private struct State {
    var behavior = Behavior()
    var grants: [String: Grant] = [:]
    var codes = 0
    var requests: [ProviderRequest] = []
  }

  /// The issuer.
  public static let issuer = "https://id.example.com"
  /// The client ID of the server.
  public static let clientID = "countersign"
  private static let keys: [RSAKey?] = (0..<2).map { _ in try? RSAKey.generate() }

  private let state = Mutex(State())
  private let now: @Sendable () -> Int64

  /// Creates a provider whose clock is that of the test, in seconds since 1970.
  public init(now: @escaping @Sendable () -> Int64) { self.now = now }

  /// Changes who signs in, and how the provider behaves.
  public func change(_ body: (inout Behavior) -> Void) { state.withLock { body(&$0.behavior) } }

  /// The requests that arrived.
  public var requests: [ProviderRequest] { state.withLock { $0.requests } }

  /// Signs the person in at an authorization endpoint's address; returns the state and the code.
  public func signIn(at address: String) throws -> (state: String, code: String) {
    let items = URLComponents(string: address)?.queryItems ?? []
    let fields = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    guard let nonce = fields["nonce"], let challenge = fields["code_challenge"],
      let text = fields["state"], fields["response_type"] == "code",
      fields["code_challenge_method"] == "S256", fields["client_id"] == Self.clientID
    else { throw Malformed() }
    let code = state.withLock { state in
      state.codes += 1
      state.grants["code-\(state.codes)"] = Grant(nonce: nonce, challenge: challenge)
      return "code-\(state.codes)"
    }
    return (text, code)
  }

  struct Malformed: Error {}

  /// Returns a token that one of the keys signed.
  public static func token(
    _ claims: JSON.Object, key number: Int = 0, header: JSON.Object = JSON.Object()
  ) throws -> String {
    guard let key = keys[number] else { throw Malformed() }
    var fields: JSON.Object = ["alg": "RS256", "kid": .string("key-\(number)")]
    for (name, value) in header.members {
      fields = JSON.Object(fields.members.filter { $0.name != name })
      fields.append(name, value)
    }
    let message =
      Base64URL.encode(JSON.object(fields).serialized()) + "."
      + Base64URL.encode(JSON.object(claims).serialized())
    return message + "." + Base64URL.encode(try key.sign(Array(message.utf8)))
  }

  /// The published keys as JSON text.
  public static func keySet(_ numbers: [Int]) throws -> String {
    let published = try numbers.map { number -> JSON in
      guard let key = keys[number] else { throw Malformed() }
      let numbers = try key.publicNumbers()
      return [
        "kty": "RSA", "use": "sig", "alg": "RS256", "kid": .string("key-\(number)"),
        "n": .string(Base64URL.encode(numbers.modulus)),
        "e": .string(Base64URL.encode(numbers.exponent)),
      ]
    }
    let set: JSON = ["keys": .array(published)]
    return String(decoding: set.serialized(), as: UTF8.self)
  }

  // MARK: - Transport

  /// Returns whether a URL is one of HTTPS.
  public func accepts(_ address: String) -> Bool { address.hasPrefix("https://") }

  /// Answers a request as the provider.
  ///
  /// - Throws: `ProviderUnreachable` while the provider is down.
  public func send(
    _ request: ProviderRequest
  ) async throws(ProviderUnreachable) -> ProviderResponse {
    let behavior = state.withLock { state in
      state.requests.append(request)
      return state.behavior
    }
    if request.address.hasSuffix("/openid-configuration") { await behavior.whileDiscovered?() }
    guard !Task.isCancelled else { throw .failed("canceled") }
    guard !behavior.isDown else { throw .failed("connection refused") }
    do {
      switch request.address.dropFirst(Self.issuer.count) {
      case "/token" where behavior.status != nil, "/userinfo" where behavior.status != nil:
        return ProviderResponse(status: behavior.status ?? 0, body: [])
      case "/.well-known/openid-configuration":
        return ProviderResponse(status: 200, body: document(behavior).serialized())
      case "/keys":
        return ProviderResponse(
          status: 200, body: Array(try Self.keySet(behavior.published).utf8))
      case "/token": return try exchange(request, behavior)
      case "/userinfo" where behavior.userInfoStatus != nil:
        return ProviderResponse(status: behavior.userInfoStatus ?? 0, body: [])
      case "/userinfo":
        var claims: JSON.Object = [
          "sub": .string(behavior.userInfoSubject ?? behavior.subject)
        ]
        if let groups = behavior.userInfoGroups {
          claims.append("groups", .array(groups.map { .string($0) }))
        }
        if let person = behavior.userInfoPerson {
          claims.append("name", .string(person.name))
          claims.append("email", .string(person.email))
        }
        return ProviderResponse(status: 200, body: JSON.object(claims).serialized())
      default: return ProviderResponse(status: 404, body: [])
      }
    } catch { throw .failed("\(error)") }
  }

  private func document(_ behavior: Behavior) -> JSON {
    var document: JSON.Object = [
      "issuer": .string(Self.issuer),
      "authorization_endpoint": .string(Self.issuer + "/authorize"),
      "token_endpoint": .string(Self.issuer + "/token"),
      "userinfo_endpoint": .string(Self.issuer + "/userinfo"),
      "jwks_uri": .string(Self.issuer + "/keys"),
      "response_types_supported": ["code"],
      "id_token_signing_alg_values_supported": ["RS256"],
      "code_challenge_methods_supported": ["S256"],
    ]
    for (name, value) in behavior.document {
      document = JSON.Object(document.members.filter { $0.name.text != name })
      document.append(name, value)
    }
    return .object(document)
  }

  private func exchange(_ request: ProviderRequest, _ behavior: Behavior) throws
    -> ProviderResponse
  {
    let form = String(decoding: request.body ?? [], as: UTF8.self)
    let items = URLComponents(string: "https://x/?" + form)?.queryItems ?? []
    let fields = Dictionary(items.map { ($0.name, $0.value ?? "") }) { first, _ in first }
    let grant = state.withLock { $0.grants.removeValue(forKey: fields["code"] ?? "") }
    let verifier = fields["code_verifier"] ?? ""
    guard let grant,
      Base64URL.encode(HashFunction.sha256.digest(Array(verifier.utf8))) == grant.challenge
    else {
      let error: JSON = ["error": "invalid_grant"]
      return ProviderResponse(status: 400, body: error.serialized())
    }
    let access = "access-token"
    let digest = HashFunction.sha256.digest(Array(access.utf8))
    var claims: [(String, JSON)] = [
      ("iss", .string(Self.issuer)), ("aud", .string(Self.clientID)),
      ("sub", .string(behavior.subject)), ("nonce", .string(grant.nonce)),
      ("iat", .number(JSON.Number(now()))), ("exp", .number(JSON.Number(now() + 300))),
      ("auth_time", .number(JSON.Number(now() - behavior.age))),
      ("at_hash", .string(Base64URL.encode(Array(digest.prefix(16))))),
      ("name", .string(behavior.name)), ("email", .string(behavior.email)),
      ("amr", .array(behavior.amr.map { .string($0) })),
    ]
    if let groups = behavior.groups {
      claims.append(("groups", .array(groups.map { .string($0) })))
    }
    if let acr = behavior.acr { claims.append(("acr", .string(acr))) }
    for (name, value) in behavior.claims {
      claims.removeAll { $0.0 == name }
      if let value { claims.append((name, value)) }
    }
    let response: JSON = [
      "access_token": .string(access), "token_type": "Bearer",
      "id_token": .string(try Self.token(JSON.Object(claims), key: behavior.key)),
    ]
    return ProviderResponse(status: 200, body: response.serialized())
  }
}
