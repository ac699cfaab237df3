import Crypto
import Identity
import JSON

extension Methods {
  static let startEnrollment = Declaration(
    "accounts.mfaEnrollment.start",
    "Starts enrolling a second factor: returns a TOTP secret, or sends an SMS code.",
    takes: [
      "idToken": .text.required, "totpEnrollmentInfo": .object, "phoneEnrollmentInfo": .phoneNumber,
    ],
    gives: [
      "totpSessionInfo": [
        "sharedSecretKey": .text.required, "verificationCodeLength": .integer.required,
        "hashingAlgorithm": .text.required, "periodSec": .integer.required,
        "sessionInfo": .text.required, "finalizeEnrollmentTime": .timestamp.required,
      ],
      "phoneSessionInfo": ["sessionInfo": .text.required],
    ])

  /// `mfaEnrollment:start`: generates a secret for the authenticator app, which isn't stored yet.
  func startEnrollment(_ call: ClientCall) async throws -> JSON {
    let kind = try SecondFactorKind(
      of: call.message, "phoneEnrollmentInfo", "totpEnrollmentInfo", oneof: "enrollment_info")
    if kind == .phone { return try await startPhoneEnrollment(call) }
    let session = try await enrollmentSession(call, .totp)
    let start: EnrollmentStart
    do {
      start = try await identity.enrollments.start(session)
    } catch let error as EnrollmentError {
      // Missing members of the message are reported after errors of the session and before errors
      // of the account.
      if kind == nil, error.concernsAccount { throw WireError.invalidArgument }
      throw error
    }
    guard kind == .totp else { throw WireError.invalidArgument }
    return [
      "totpSessionInfo": [
        "sharedSecretKey": .string(start.sharedSecret.revealedText),
        "verificationCodeLength": .number(JSON.Number(start.digits)),
        "hashingAlgorithm": .string(start.algorithm),
        "periodSec": .number(JSON.Number(start.period)),
        "sessionInfo": .string(start.sessionInfo),
        "finalizeEnrollmentTime": .string(start.finalizeBy.rfc3339),
      ]
    ]
  }

  /// Starts a phone enrollment by sending a code; only the message is stored.
  private func startPhoneEnrollment(_ call: ClientCall) async throws -> JSON {
    let session = try await enrollmentSession(call, .phone)
    guard let info = try call.message.message("phoneEnrollmentInfo") else {
      throw WireError.invalidArgument
    }
    let request = try PhoneRequest(info, call)
    let sessionInfo = try await identity.enrollments.startPhone(session, request)
    return ["phoneSessionInfo": ["sessionInfo": .string(sessionInfo)]]
  }

  /// Returns the session of the call; a disabled kind of factor is reported before an invalid
  /// token.
  func enrollmentSession(
    _ call: ClientCall, _ kind: Factor.Kind
  ) async throws -> UserSession {
    do {
      return try await tokens.session(call, missing: .invalidIDToken)
    } catch {
      try await checkIsOn(kind, in: try await pool(of: call))
      throw error
    }
  }

  func checkIsOn(_ kind: Factor.Kind, in pool: Pool) async throws {
    let policy: Policy
    do {
      policy = try await identity.policies.read(pool)
    } catch PolicyError.poolNotFound {
      throw CallError.poolDeleted(pool)
    }
    guard policy.configuration.isOn(kind) else {
      throw WireError(kind == .totp ? EnrollmentError.totpNotEnabled : .smsNotEnabled)
    }
  }
}

extension EnrollmentError {
  fileprivate var concernsAccount: Bool {
    switch self {
    case .signInTooOld, .alreadyEnrolled, .tooManyFactors: true
    default: false
    }
  }
}

extension Methods {
  static let finalizeEnrollment = Declaration(
    "accounts.mfaEnrollment.finalize", "Finishes enrolling a second factor with its first code.",
    takes: [
      "idToken": .text.required, "displayName": .text.orNull,
      "totpVerificationInfo": [
        "sessionInfo": .text.required, "verificationCode": .text.required,
      ],
      "phoneVerificationInfo": .phoneProof,
    ],
    gives: [
      "idToken": .text.required, "refreshToken": .text.required, "totpAuthInfo": .object,
    ])

  /// `mfaEnrollment:finalize`: verifies the first code, which proves that the app has the secret.
  func finalizeEnrollment(_ call: ClientCall) async throws -> JSON {
    let kind = try SecondFactorKind(
      of: call.message, "phoneVerificationInfo", "totpVerificationInfo",
      oneof: "verification_info")
    if kind == .phone { return try await finalizePhoneEnrollment(call) }
    let session = try await tokens.session(call, missing: .invalidIDToken)
    guard let info = try call.message.message("totpVerificationInfo") else {
      throw WireError.invalidArgument
    }
    // Missing members are rejected in this order: the session, then the name, then the code.
    let sessionInfo = try info.text("sessionInfo") ?? ""
    let code = try info.code("verificationCode")
    let displayName = try call.message.text("displayName")
    let grant = try await identity.enrollments.finalize(
      session, sessionInfo: sessionInfo, code: code, displayName: displayName,
      by: call.author(.user(session.account)), userAgent: call.origin.userAgent)
    var answer = try tokensAnswer(grant)
    answer.append("totpAuthInfo", [:])
    return .object(answer)
  }

  /// Finalizes a phone enrollment: the code proves that the phone is the user's.
  ///
  /// A name is optional.
  private func finalizePhoneEnrollment(_ call: ClientCall) async throws -> JSON {
    let session = try await enrollmentSession(call, .phone)
    guard let info = try call.message.message("phoneVerificationInfo") else {
      throw WireError.invalidArgument
    }
    let proof: PhoneProof
    do throws(WireError) {
      proof = try PhoneProof(info)
    } catch {
      // Disabled SMS is reported before a missing code.
      try await checkIsOn(.phone, in: session.pool)
      throw error
    }
    let displayName = try call.message.text("displayName")
    let grant = try await identity.enrollments.finalizePhone(
      session, proof, displayName: displayName, by: call.author(.user(session.account)),
      userAgent: call.origin.userAgent)
    return .object(try tokensAnswer(grant))
  }

  static let withdrawEnrollment = Declaration(
    "accounts.mfaEnrollment.withdraw",
    "Unenrolls a second factor; if the response has no tokens, the user must sign in again.",
    takes: ["idToken": .text.required, "mfaEnrollmentId": .text.required],
    gives: ["idToken": .text, "refreshToken": .text])

  /// `mfaEnrollment:withdraw`: unenrolls a factor of the user.
  ///
  /// No tokens are returned if the newest of several factors was removed, or if the pool refuses the
  /// user until they enroll again; clients then sign out, as documented.
  func withdrawEnrollment(_ call: ClientCall) async throws -> JSON {
    let session = try await tokens.session(call, missing: .invalidIDToken)
    let enrollment = try call.message.text("mfaEnrollmentId") ?? ""
    let grant = try await identity.enrollments.withdraw(
      session, enrollment: enrollment, by: call.author(.user(session.account)))
    return .object(try grant.map(tokensAnswer) ?? [:])
  }
}
