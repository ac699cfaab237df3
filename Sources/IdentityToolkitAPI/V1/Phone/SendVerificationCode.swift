import Identity
import JSON

extension Declaration {
  static let sendVerificationCode = Declaration(
    "accounts.sendVerificationCode", "Sends a phone sign-in code by SMS.",
    takes: .phoneNumber, gives: ["sessionInfo": .text.required])
}

extension Methods {
  /// `accounts:sendVerificationCode`: sends a phone sign-in code.
  func sendVerificationCode(_ call: ClientCall) async throws -> JSON {
    let pool = try await pool(of: call)
    let request = try PhoneRequest(call.message, call)
    return ["sessionInfo": .string(try await identity.signIns.sendCode(pool, request))]
  }
}
