import HTTP
import Identity
import JSON

extension Declaration {
  static let startSignIn = Declaration(
    "accounts.mfaSignIn.start", "Sends a second-factor code by SMS; not used for TOTP.",
    takes: [
      "mfaPendingCredential": .text.required, "mfaEnrollmentId": .text.required,
      "phoneSignInInfo": .phoneNumber,
    ],
    gives: ["phoneResponseInfo": ["sessionInfo": .text.required]])
}

extension Methods {
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
}
