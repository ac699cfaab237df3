import HTTP
import Identity
import JSON
import OTP

extension Methods {
  static let startSignIn = Declaration(
    "accounts.mfaSignIn.start", "Sends a second-factor code by SMS; not used for TOTP.",
    takes: [
      "mfaPendingCredential": .text.required, "mfaEnrollmentId": .text.required,
      "phoneSignInInfo": .phoneNumber,
    ],
    gives: ["phoneResponseInfo": ["sessionInfo": .text.required]])

  /// `mfaSignIn:start`: sends a code to the phone of a second factor; TOTP needs no start.
  func startSignIn(_ call: ClientCall) async throws -> JSON {
    guard try call.message.message("phoneSignInInfo") != nil,
      let pending = try call.message.given("mfaPendingCredential"),
      let enrollment = try call.message.given("mfaEnrollmentId")
    else { throw WireError.invalidArgument }
    do {
      let sessionInfo = try await identity.signIns.startPhone(
        project: call.project, tenant: call.tenant, pendingCredential: pending,
        enrollment: enrollment, language: call.request.locale, address: call.address)
      return ["phoneResponseInfo": ["sessionInfo": .string(sessionInfo)]]
    } catch let error as SignInError {
      throw try await refusal(error, .phone, call)
    }
  }

  static let finalizeSignIn = Declaration(
    "accounts.mfaSignIn.finalize",
    "Completes a sign-in with a code of the second factor, or a backup code.",
    takes: [
      "mfaPendingCredential": .text.required, "mfaEnrollmentId": .text,
      "totpVerificationInfo": ["verificationCode": .text.required],
      "phoneVerificationInfo": .phoneProof,
    ],
    gives: ["idToken": .text.required, "refreshToken": .text.required])

  /// `mfaSignIn:finalize`: verifies the code that completes a sign-in.
  func finalizeSignIn(_ call: ClientCall) async throws -> JSON {
    let kind = try SecondFactorKind(
      of: call.message, "phoneVerificationInfo", "totpVerificationInfo",
      oneof: "verification_info")
    if kind == .phone { return try await finalizePhoneSignIn(call) }
    guard let pending = try call.message.given("mfaPendingCredential"),
      let enrollment = try call.message.given("mfaEnrollmentId"),
      let code = try call.message.message("totpVerificationInfo")?.code("verificationCode"),
      !code.isEmpty
    else { throw WireError.invalidArgument }
    let grant: SessionGrant
    do {
      grant = try await identity.signIns.finalize(
        project: call.project, tenant: call.tenant, pendingCredential: pending,
        enrollment: enrollment, code: code, from: call.origin, by: call.author(.visitor))
    } catch let error as SignInError {
      throw try await refusal(error, .totp, call)
    }
    return .object(try tokensAnswer(grant))
  }

  /// Verifies a code sent to a phone.
  ///
  /// SDKs don't send the enrollment ID, so the code's session determines the factor.
  private func finalizePhoneSignIn(_ call: ClientCall) async throws -> JSON {
    guard let pending = try call.message.given("mfaPendingCredential"),
      let info = try call.message.message("phoneVerificationInfo")
    else { throw WireError.invalidArgument }
    let proof = try PhoneProof(info)
    let grant: SessionGrant
    do {
      grant = try await identity.signIns.finalizePhone(
        project: call.project, tenant: call.tenant, pendingCredential: pending, proof,
        from: call.origin)
    } catch let error as SignInError {
      throw try await refusal(error, .phone, call)
    }
    return .object(try tokensAnswer(grant))
  }

  /// Returns the error for a rejected second factor.
  ///
  /// That its kind is disabled for the tenant of the request takes precedence over a credential of
  /// another tenant.
  func refusal(
    _ error: SignInError, _ kind: Factor.Kind, _ call: ClientCall
  ) async throws -> WireError {
    if case .tenantMismatch = error { try await checkIsOn(kind, in: try await pool(of: call)) }
    return WireError(error, hidingUsers: false)
  }
}
