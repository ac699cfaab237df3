import Crypto
import HTTP
import Identity
import IdentityToolkitAPI
import JSON
import OTP
import Testing

/// A response with its parsed JSON.
struct Answer {
  let response: Response
  let json: JSON

  var status: Int { response.status.code }
  /// The error message; nil if the call succeeded.
  var error: String? { json["error"]?["message"]?.stringValue }

  subscript(_ name: String) -> JSON? { json[name] }
  func text(_ name: String) throws -> String { try #require(json[name]?.stringValue) }
}

/// The credential that a caller sends.
enum Credential {
  /// The API key in the query.
  case key
  /// The server's owner token.
  case owner
  case bearer(String)
  case none
}

extension TestServer {
  /// Sends a request as if it came over a socket.
  func send(
    _ method: HTTP.Method, _ path: String, _ body: [UInt8] = [],
    _ credential: Credential = .none, fields: Fields = [:]
  ) async throws -> Response? {
    var target = path
    var fields = fields
    switch credential {
    case .key: target += (path.contains("?") ? "&" : "?") + "key=\(key)"
    case .owner: fields[.authorization] = "Bearer \(owner)"
    case .bearer(let token): fields[.authorization] = "Bearer \(token)"
    case .none: break
    }
    if fields[.host] == nil { fields[.host] = "localhost:9099" }
    if !body.isEmpty, fields[.contentType] == nil { fields[.contentType] = "application/json" }
    let request = Request(
      method: method, target: try #require(Target(target)), fields: fields, body: body,
      peer: "192.0.2.7")
    let response = await api.respond(to: request)
    if let response { DocumentCheck.of(api, profile).check(response, to: request) }
    return response
  }

  /// Calls a method with JSON text.
  func call(
    _ method: HTTP.Method, _ path: String, text: String, _ credential: Credential,
    fields: Fields = [:]
  ) async throws -> Answer {
    let response = try #require(
      try await send(method, path, Array(text.utf8), credential, fields: fields))
    return Answer(response: response, json: try JSON.parse(response.body.bytes))
  }

  func post(
    _ path: String, _ body: JSON, _ credential: Credential = .key
  ) async throws -> Answer {
    try await call(
      .post, path, text: String(decoding: body.serialized(), as: UTF8.self), credential)
  }

  func patch(
    _ path: String, _ body: JSON, _ credential: Credential = .owner
  ) async throws -> Answer {
    try await call(
      .patch, path, text: String(decoding: body.serialized(), as: UTF8.self), credential)
  }

  func get(_ path: String, _ credential: Credential = .owner) async throws -> Answer {
    try await call(.get, path, text: "", credential)
  }

  func delete(_ path: String) async throws -> Answer {
    try await call(.delete, path, text: "", .owner)
  }
}

// MARK: - Scenarios

/// A user with a known password.
struct Person {
  let email: String
  let uid: String
  static let password = "correct horse"
}

extension TestServer {
  static let config = "/v2/projects/acme-mfa/config"
  static let accounts = "/v1/projects/acme-mfa/accounts"

  /// Enables TOTP for the project.
  func switchTOTPOn(adjacentIntervals: Int? = nil) async throws {
    let settings: JSON =
      adjacentIntervals.map { ["adjacentIntervals": .number(JSON.Number($0))] } ?? [:]
    let answer = try await patch(
      Self.config + "?updateMask=mfa",
      ["mfa": ["providerConfigs": [["state": "ENABLED", "totpProviderConfig": settings]]]])
    #expect(answer.status == 200)
  }

  /// Creates a user with a verified email.
  func addPerson(_ name: String = "alice", tenant: String? = nil) async throws -> Person {
    let email = "\(name)@example.com"
    let path = tenant.map { "/v1/projects/acme-mfa/tenants/\($0)/accounts" } ?? Self.accounts
    let answer = try await post(
      path,
      ["email": .string(email), "password": .string(Person.password), "emailVerified": true],
      .owner)
    #expect(answer.status == 200)
    return Person(email: email, uid: try answer.text("localId"))
  }

  func signIn(_ person: Person, tenant: String? = nil) async throws -> Answer {
    var body: JSON.Object = [
      "email": .string(person.email), "password": .string(Person.password),
      "returnSecureToken": true,
    ]
    if let tenant { body["tenantId"] = .string(tenant) }
    return try await post("/v1/accounts:signInWithPassword", .object(body))
  }

  /// Enrolls a factor for a signed-in user.
  func enroll(_ idToken: String, name: String = "Phone") async throws -> Enrolled {
    let start = try await post(
      "/v2/accounts/mfaEnrollment:start",
      ["idToken": .string(idToken), "totpEnrollmentInfo": [:]])
    let info = try #require(start["totpSessionInfo"])
    let secret = try #require(info["sharedSecretKey"]?.stringValue)
    let device = try Device(secret)
    let done = try await post(
      "/v2/accounts/mfaEnrollment:finalize",
      [
        "idToken": .string(idToken), "displayName": .string(name),
        "totpVerificationInfo": [
          "sessionInfo": info["sessionInfo"] ?? nil,
          "verificationCode": .string(try device.code(at: now)),
        ],
      ])
    #expect(done.status == 200, "\(done.json)")
    let idToken = try done.text("idToken")
    let user = try await post("/v1/accounts:lookup", ["idToken": .string(idToken)])
    let factor = user["users"]?.arrayValue?.first?["mfaInfo"]?.arrayValue?.last
    return Enrolled(
      device: device, id: try #require(factor?["mfaEnrollmentId"]?.stringValue), answer: done)
  }

  /// Creates a tenant with password sign-in enabled.
  func addTenant(_ name: String = "globex") async throws -> String {
    let answer = try await post(
      "/v2/projects/acme-mfa/tenants",
      ["displayName": .string(name), "allowPasswordSignup": true], .owner)
    let id = try answer.text("name").split(separator: "/").last
    return String(try #require(id))
  }

  /// Creates a service token.
  func token(_ role: ServiceTokenRole, tenant: String? = nil, project: String = TestServer.project)
    async throws -> String
  {
    try await identity.serviceTokens.create(
      project: ID(project), tenant: tenant.map { ID($0) }, role: role, name: "a program",
      by: .program(Author(actor: .commandLine))
    ).value.secret.revealedText
  }
}

/// An enrolled factor.
struct Enrolled {
  let device: Device
  let id: String
  let answer: Answer
}

/// An authenticator app with one secret.
struct Device {
  let password: OneTimePassword

  init(_ base32: String) throws {
    let secret = Secret(try #require(Base32.decode(base32)))
    password = try #require(OneTimePassword(secret: secret))
  }

  func code(at now: Instant, steps: Int64 = 0) throws -> String {
    try password.code(step: password.step(at: now.seconds) + steps)
  }
}

/// Returns the payload of a JSON Web Token without verifying it.
func claims(_ token: JSON?) throws -> JSON {
  let parts = try #require(token?.stringValue).split(
    separator: ".", omittingEmptySubsequences: false)
  #expect(parts.count == 3)
  return try JSON.parse(try #require(Base64URL.decode(parts[1])))
}
