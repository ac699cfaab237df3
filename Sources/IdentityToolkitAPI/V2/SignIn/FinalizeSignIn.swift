import Identity
import JSON

extension Declaration {
  static let finalizeSignIn = Declaration(
    "accounts.mfaSignIn.finalize", "Completes a sign-in with a code of the second factor.",
    takes: [
      "mfaPendingCredential": .text.required, "mfaEnrollmentId": .text,
      "totpVerificationInfo": ["verificationCode": .text.required],
      "phoneVerificationInfo": .object,
    ],
    gives: ["idToken": .text.required, "refreshToken": .text.required])
}

extension Methods {
  /// `mfaSignIn:finalize`: the code that completes a sign-in.
  func finalizeSignIn(_ call: ClientCall) async throws(WireError) -> JSON {
    let kind = try SecondFactorKind(
      of: call.message, "phoneVerificationInfo", "totpVerificationInfo",
      oneof: "verification_info")
    if kind == .phone { throw .smsNotEnabled }
    guard let pending = try call.message.text("mfaPendingCredential"), !pending.isEmpty,
      let enrolment = try call.message.text("mfaEnrollmentId"), !enrolment.isEmpty,
      let code = try call.message.message("totpVerificationInfo")?.text("verificationCode"),
      !code.isEmpty
    else { throw .invalidArgument }
    let grant: SessionGrant
    do throws(SignInError) {
      grant = try await identity.signIns.finalize(
        project: call.project, tenant: call.tenant, pendingCredential: pending,
        enrolment: enrolment, code: code)
    } catch {
      throw WireError(error, hidingUsers: false)
    }
    var answer = JSON.Object()
    try appendTokens(grant, expires: false, to: &answer)
    return .object(answer)
  }
}
