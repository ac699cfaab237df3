import Identity
import JSON

extension Methods {
  /// Returns the codes that were generated instead of sent, for tests.
  func verificationCodes(_ call: AdminCall) async throws -> JSON {
    let codes = try await identity.signIns.verificationCodes(call.pool)
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
