import Crypto
import HTTP
import Identity
import JSON

extension Methods {
  static let generateRecoveryCodes = Declaration(
    "accounts.mfaRecoveryCodes.generate",
    "Generates ten recovery codes, which are accepted in place of TOTP codes.",
    takes: ["idToken": .text.required],
    gives: [
      "recoveryCodes": .list(.text).required, "creationTime": .timestamp.required,
    ])
  static let lookUpRecoveryCodes = Declaration(
    "accounts.mfaRecoveryCodes.lookup",
    "Returns the number of unused recovery codes, never the codes.",
    takes: ["idToken": .text.required],
    gives: ["remainingCodes": .integer.required, "creationTime": .timestamp])
}

/// Routes for users' recovery codes, which aren't part of Google's API.
extension Routes {
  mutating func addRecoveryCodes() {
    client(
      .post, Path("v2", "accounts", "mfaRecoveryCodes:generate"), .v2,
      Methods.generateRecoveryCodes,
      methods.generateRecoveryCodes)
    client(
      .post, Path("v2", "accounts", "mfaRecoveryCodes:lookup"), .v2, Methods.lookUpRecoveryCodes,
      methods.lookUpRecoveryCodes)
  }
}

extension Methods {
  /// `mfaRecoveryCodes:generate`: generates recovery codes, which no other response ever contains.
  func generateRecoveryCodes(_ call: ClientCall) async throws -> JSON {
    let session = try await tokens.session(call, missing: .invalidIDToken)
    let codes = try await identity.enrollments.makeRecoveryCodes(
      session, by: call.author(.user(session.account)))
    return [
      "recoveryCodes": .array(codes.map { .string($0.revealedText) }),
      "creationTime": .string(identity.clock.now().rfc3339),
    ]
  }

  /// `mfaRecoveryCodes:lookup`: returns how many codes are left, for pages that remind users to
  /// generate new ones.
  func lookUpRecoveryCodes(_ call: ClientCall) async throws -> JSON {
    let session = try await tokens.session(call, missing: .invalidIDToken)
    let count = try await identity.enrollments.recoveryCodes(of: session)
    var answer: JSON.Object = ["remainingCodes": .number(JSON.Number(count.left))]
    if let madeAt = count.madeAt { answer.append("creationTime", .string(madeAt.rfc3339)) }
    return .object(answer)
  }
}
