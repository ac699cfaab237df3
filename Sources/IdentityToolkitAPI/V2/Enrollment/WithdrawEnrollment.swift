import Identity
import JSON

extension Declaration {
  static let withdrawEnrollment = Declaration(
    "accounts.mfaEnrollment.withdraw",
    "Unenrolls a second factor; if the response has no tokens, the user must sign in again.",
    takes: ["idToken": .text.required, "mfaEnrollmentId": .text.required],
    gives: ["idToken": .text, "refreshToken": .text])
}

extension Methods {
  /// `mfaEnrollment:withdraw`: unenrolls a factor of the user.
  ///
  /// No tokens are returned if the newest of several factors was removed, or if the pool refuses the
  /// user until they enroll again; clients then sign out, as documented.
  func withdrawEnrollment(_ call: ClientCall) async throws -> JSON {
    let session = try await tokens.session(call, missing: .invalidIDToken)
    let enrollment = try call.message.text("mfaEnrollmentId") ?? ""
    let grant = try await identity.enrollments.withdraw(
      session, enrollment: enrollment, by: call.author(.user(session.account)))
    var answer = JSON.Object()
    if let grant { try appendTokens(grant, expires: false, to: &answer) }
    return .object(answer)
  }
}
