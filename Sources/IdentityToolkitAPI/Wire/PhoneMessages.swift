import HTTP
import Identity
import JSON

extension Request {
  /// The language that the application's user reads, as SDKs tell it; English without.
  var locale: String {
    let text = fields["X-Firebase-Locale"] ?? ""
    let isTag =
      (2...35).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, UInt8(ascii: "-"): true
        default: false
        }
      }
    return isTag ? text : "en"
  }
}

extension PhoneRequest {
  /// The number in the message of a start; without one it is as good as a wrong one.
  ///
  /// What SDKs send against abuse, such as `recaptchaToken`, is passed over.
  init(_ info: Message, _ call: ClientCall) throws(WireError) {
    self.init(
      phoneNumber: Account.phoneNumber(try info.text("phoneNumber") ?? ""),
      language: call.request.locale,
      address: call.address)
  }
}

extension PhoneProof {
  /// What shows that a phone is the user's: a session with a code, or a temporary proof.
  init(_ info: Message) throws(WireError) {
    if let proof = try info.given("temporaryProof") {
      guard let number = try info.given("phoneNumber") else {
        throw WireError("MISSING_PHONE_NUMBER")
      }
      self = .temporary(proof, phoneNumber: Account.phoneNumber(number))
      return
    }
    guard let sessionInfo = try info.given("sessionInfo") else {
      throw WireError("MISSING_SESSION_INFO")
    }
    guard let code = try info.given("code") else { throw WireError("MISSING_CODE") }
    self = .code(sessionInfo: sessionInfo, code: code)
  }
}

extension Schema {
  /// A number to send a code to, with what SDKs add against abuse; that is not used.
  static let phoneNumber: Schema = .message(
    [
      "phoneNumber": .text, "recaptchaToken": .text, "iosReceipt": .text, "iosSecret": .text,
      "safetyNetToken": .text, "playIntegrityToken": .text, "autoRetrievalInfo": .object,
    ], .clientTraits)

  /// What shows that a phone is the user's.
  static let phoneProof: Schema = [
    "sessionInfo": .text, "code": .text, "phoneNumber": .text, "temporaryProof": .text,
  ]
}
