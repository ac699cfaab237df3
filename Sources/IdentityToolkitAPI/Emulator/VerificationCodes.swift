import Identity
import JSON

extension Methods {
  /// The codes that were made in place of sending them, for tests to read.
  func verificationCodes(_ call: AdminCall) async throws(WireError) -> JSON {
    let codes: [VerificationCode]
    do throws(SignInError) {
      codes = try await identity.signIns.verificationCodes(call.scope)
    } catch {
      throw WireError(error, hidingUsers: false)
    }
    return [
      "verificationCodes": .array(
        codes.map { code in
          [
            "phoneNumber": .string(code.phoneNumber), "sessionInfo": .string(code.sessionInfo),
            "code": .string(code.code),
          ]
        })
    ]
  }
}
