import Identity
import JSON

extension Declaration {
  static let startSignIn = Declaration(
    "accounts.mfaSignIn.start", "Sends a code by SMS; TOTP needs none.",
    takes: [
      "mfaPendingCredential": .text.required, "mfaEnrollmentId": .text.required,
      "phoneSignInInfo": .object,
    ],
    gives: ["phoneResponseInfo": ["sessionInfo": .text.required]])
}

extension Methods {
  /// `mfaSignIn:start`: sends a code by SMS, so there is none for TOTP, and no phone factor is
  /// ever enrolled.
  func startSignIn(_ call: ClientCall) async throws(WireError) -> JSON {
    guard try call.message.has("phoneSignInInfo") else { throw .invalidArgument }
    throw WireError("INVALID_PHONE_NUMBER : Invalid format.")
  }
}
