import JSON

extension Declaration {
  static let verifyIosClient = Declaration(
    "accounts.verifyIosClient",
    "Returns a receipt for an iOS app; apps aren't verified with push notifications.",
    takes: ["appToken": .text, "isSandbox": .flag],
    gives: ["receipt": .text.required, "suggestedTimeout": .int64.required])
}

extension Methods {
  /// `accounts:verifyIosClient`, which the iOS SDK calls before it requests a text message.
  ///
  /// No notification is sent, so the SDK waits in vain as long as it's told, and continues with the
  /// receipt, which isn't checked.
  func verifyIosClient(_ call: ClientCall) async throws -> JSON {
    ["receipt": "not-checked", "suggestedTimeout": "1"]
  }
}
