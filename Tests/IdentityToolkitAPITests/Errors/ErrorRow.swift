import HTTP
import Identity
import JSON
import Testing

/// An error code, and a request that provokes it.
struct ErrorRow: CustomTestStringConvertible, Sendable {
  typealias Provoke = @Sendable (TestServer) async throws -> Answer

  let word: String
  let status: Int
  let profile: Profile
  let provoke: Provoke

  var testDescription: String { word }

  init(
    _ word: String, status: Int = 400, _ profile: Profile = .standalone,
    _ provoke: @escaping Provoke
  ) {
    self.word = word
    self.status = status
    self.profile = profile
    self.provoke = provoke
  }
}

/// An error code that no request can provoke, and the reason.
struct UnsentRow: Sendable {
  let word: String
  let reason: String

  init(_ word: String, _ reason: String) {
    self.word = word
    self.reason = reason
  }
}

// MARK: - Paths

extension ErrorRow {
  static let signUp = "/v1/accounts:signUp"
  static let signIn = "/v1/accounts:signInWithPassword"
  static let lookup = "/v1/accounts:lookup"
  static let update = "/v1/accounts:update"
  static let sendOobCode = "/v1/accounts:sendOobCode"
  static let resetPassword = "/v1/accounts:resetPassword"
  static let start = "/v2/accounts/mfaEnrollment:start"
  static let finalize = "/v2/accounts/mfaEnrollment:finalize"
  static let withdraw = "/v2/accounts/mfaEnrollment:withdraw"
  static let startSecond = "/v2/accounts/mfaSignIn:start"
  static let finalizeSecond = "/v2/accounts/mfaSignIn:finalize"
  static let token = "/v1/token"
  static let tenants = "/v2/projects/acme-mfa/tenants"
}

// MARK: - Scenarios

extension TestServer {
  /// Adds a user with a verified email, signs in, and returns the user and the ID token.
  func session(_ name: String = "alice") async throws -> (person: Person, token: JSON) {
    let person = try await addPerson(name)
    return (person, .string(try await signIn(person).text("idToken")))
  }

  /// Changes a user with the owner's service token.
  func change(_ uid: String, _ members: JSON.Object) async throws -> Answer {
    var body = members
    body["localId"] = .string(uid)
    return try await post(Self.accounts + ":update", .object(body), .owner)
  }

  /// Changes the project's configuration.
  func configure(_ mask: String, _ body: JSON) async throws {
    let answer = try await patch(Self.config + "?updateMask=\(mask)", body)
    #expect(answer.status == 200, "\(answer.json)")
  }

  /// Turns email enumeration protection off.
  func hideNobody() async throws {
    try await configure(
      "emailPrivacyConfig", ["emailPrivacyConfig": ["enableImprovedEmailPrivacy": false]])
  }

  /// Starts an enrollment and returns its session and device.
  func pendingEnrollment(_ token: JSON) async throws -> (session: JSON, device: Device) {
    let info = try #require(
      try await post(ErrorRow.start, ["idToken": token, "totpEnrollmentInfo": [:]])[
        "totpSessionInfo"])
    return (
      info["sessionInfo"] ?? nil,
      try Device(try #require(info["sharedSecretKey"]?.stringValue))
    )
  }

  func finish(
    _ token: JSON, _ session: JSON, code: String, name: JSON = "Phone"
  ) async throws -> Answer {
    try await post(
      ErrorRow.finalize,
      [
        "idToken": token, "displayName": name,
        "totpVerificationInfo": ["sessionInfo": session, "verificationCode": .string(code)],
      ])
  }

  /// Enrolls a user and signs in up to the second factor.
  func waiting(_ name: String = "alice") async throws -> Waiting {
    try await switchTOTPOn()
    let (person, token) = try await session(name)
    let enrolled = try await enroll(try #require(token.stringValue))
    advance(seconds: 60)
    return Waiting(
      person: person, enrolled: enrolled,
      pending: .string(try await signIn(person).text("mfaPendingCredential")))
  }

  func finishSecond(_ waiting: Waiting, code: String, enrollment: String? = nil) async throws
    -> Answer
  {
    try await post(
      ErrorRow.finalizeSecond,
      [
        "mfaPendingCredential": waiting.pending,
        "mfaEnrollmentId": .string(enrollment ?? waiting.enrolled.id),
        "totpVerificationInfo": ["verificationCode": .string(code)],
      ])
  }
}

/// A sign-in that is waiting for the second factor.
struct Waiting {
  let person: Person
  let enrolled: Enrolled
  let pending: JSON
}
