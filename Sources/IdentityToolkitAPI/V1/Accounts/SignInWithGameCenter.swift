import HTTP
import JSON

extension Declaration {
  static let signInWithGameCenter = Declaration(
    "accounts.signInWithGameCenter", "Not supported: Game Center requires Apple's keys.",
    takes: .object, gives: .object, failing: [501])
}

extension Methods {
  /// `accounts:signInWithGameCenter`: not supported, as in Google's emulator.
  func signInWithGameCenter(_ call: ClientCall) async throws -> JSON {
    throw WireError(
      "NOT_IMPLEMENTED : Signing in with Game Center is not supported.",
      status: .notImplemented, reason: "notImplemented", isFrontEnd: true)
  }
}
