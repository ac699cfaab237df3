import Identity
import JSON

extension Declaration {
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
}

extension Methods {
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
    let code = try info.text("verificationCode") ?? ""
    let displayName = try call.message.text("displayName")
    let grant = try await identity.enrollments.finalize(
      session, sessionInfo: sessionInfo, code: code, displayName: displayName,
      by: call.author(.user(session.account)), userAgent: call.origin.userAgent)
    var answer = JSON.Object()
    try appendTokens(grant, expires: false, to: &answer)
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
    var answer = JSON.Object()
    try appendTokens(grant, expires: false, to: &answer)
    return .object(answer)
  }
}
