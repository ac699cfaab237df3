import Identity
import JSON

extension Methods {
  /// `accounts:update` with a code in place of an ID token: performs the action of the code.
  func applyOobCode(_ code: String, _ call: ClientCall) async throws(WireError) -> JSON {
    try await applyOobCode(code, in: try await scope(of: call), by: call.visitor)
  }

  /// Performs the action of a code in a known user pool.
  func applyOobCode(
    _ code: String, in scope: Scope, by author: Author
  ) async throws(WireError) -> JSON {
    do throws(OutOfBandError) {
      let done = try await identity.outOfBandCodes.apply(code, in: scope, by: author)
      var answer = Methods.updateAnswer(done.account)
      if done.code.kind == .changeEmail {
        UserMessage.append("newEmail", done.code.newEmail, to: &answer)
      }
      return .object(answer)
    } catch {
      throw WireError(error)
    }
  }
}
