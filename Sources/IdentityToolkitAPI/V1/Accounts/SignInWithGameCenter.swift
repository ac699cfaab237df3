import HTTP
import JSON

extension Declaration {
  static let signInWithGameCenter = Declaration(
    "accounts.signInWithGameCenter", "Is not to be had: Game Center's keys are Apple's.",
    takes: .object, gives: .object, failing: [501])
}

extension Methods {
  /// `accounts:signInWithGameCenter`: not supported, as in Google's emulator.
  func signInWithGameCenter(_ call: ClientCall) async throws(WireError) -> JSON {
    throw WireError(
      "NOT_IMPLEMENTED : Signing in with Game Center is not to be had here.",
      status: .notImplemented, reason: "notImplemented", isFrontEnd: true)
  }
}
