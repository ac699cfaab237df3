import Identity
import JSON

extension Methods {
  /// `accounts:update` with a code in place of an ID token: performs the action of the code.
  ///
  /// With an ID token as well, the code must be of its user.
  func applyOobCode(_ code: String, _ call: ClientCall) async throws -> JSON {
    guard let token = try call.message.given("idToken") else {
      return try await applyOobCode(code, in: try await pool(of: call), of: nil, by: call.visitor)
    }
    let session = try await tokens.session(token, call)
    return try await applyOobCode(
      code, in: session.pool, of: .session(session), by: call.visitor)
  }

  func applyOobCode(
    _ code: String, in pool: Pool, of user: CodeUser?, by author: Author
  ) async throws -> JSON {
    let done = try await identity.outOfBandCodes.apply(code, in: pool, of: user, by: author)
    var answer = Methods.updateAnswer(done.account)
    if done.code.kind == .changeEmail {
      UserMessage.append("newEmail", done.code.newEmail, to: &answer)
    }
    return .object(answer)
  }
}
