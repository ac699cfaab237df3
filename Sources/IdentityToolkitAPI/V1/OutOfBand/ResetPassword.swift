import Crypto
import Identity
import JSON

extension Declaration {
  static let resetPassword = Declaration(
    "accounts.resetPassword",
    "Sets a new password with an emailed code; without a password, returns the code's purpose.",
    takes: ["oobCode": .text.required, "newPassword": .text],
    gives: [
      "kind": .kind("ResetPasswordResponse"), "requestType": .choice(Methods.oobTypes).required,
      "email": .text, "newEmail": .text, "mfaInfo": .factor,
    ])
}

extension Methods {
  /// `accounts:resetPassword`: checks any code, and uses one that resets a password.
  func resetPassword(_ call: ClientCall) async throws -> JSON {
    guard let code = try call.message.given("oobCode") else {
      throw WireError("MISSING_OOB_CODE")
    }
    // An empty password is too short, as in production; only without one is the code looked at.
    let password = try call.message.text("newPassword").map { Secret($0) }
    let pool = try await pool(of: call)
    let codes = identity.outOfBandCodes
    guard let password else {
      return Methods.codeAnswer(try await codes.look(at: code, in: pool))
    }
    return Methods.codeAnswer(
      try await codes.resetPassword(code, to: password, in: pool, by: call.visitor))
  }

  /// The email of a sign-in link isn't returned, because the user has to know it.
  private static func codeAnswer(_ code: OutOfBandCode) -> JSON {
    var answer: JSON.Object = ["kind": "identitytoolkit#ResetPasswordResponse"]
    if code.kind != .signIn { answer.append("email", .string(code.email)) }
    answer.append("requestType", .string(code.kind.rawValue))
    UserMessage.append("newEmail", code.newEmail, to: &answer)
    // A single factor rather than a list.
    if let factor = code.factor, let entry = UserMessage.mfaInfo([factor]).arrayValue?.first {
      answer.append("mfaInfo", entry)
    }
    return .object(answer)
  }
}
