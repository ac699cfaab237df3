import HTTP
import Identity
import JSON
import OTP

extension Request {
  /// The language of the application's user, as sent by SDKs; English by default.
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
  /// Reads the number in a start message; a missing number is treated as an invalid one.
  ///
  /// Abuse protection members that SDKs send, such as `recaptchaToken`, are ignored.
  init(_ info: RequestMessage, _ call: ClientCall) throws(WireError) {
    self.init(
      phoneNumber: Account.phoneNumber(try info.text("phoneNumber") ?? ""),
      language: call.request.locale,
      address: call.address)
  }
}

extension PhoneProof {
  /// Reads the proof that a phone is the user's: a session with a code, or a temporary proof.
  init(_ info: RequestMessage) throws(WireError) {
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
    let code = try info.code("code")
    guard !code.isEmpty else { throw WireError("MISSING_CODE") }
    self = .code(sessionInfo: sessionInfo, code: code)
  }
}

extension Schema {
  /// The number to send a code to, with the abuse protection members of SDKs, which are ignored.
  static let phoneNumber: Schema = .message(
    [
      "phoneNumber": .text, "recaptchaToken": .text, "iosReceipt": .text, "iosSecret": .text,
      "safetyNetToken": .text, "playIntegrityToken": .text, "autoRetrievalInfo": .object,
    ], .clientTraits)

  static let phoneProof: Schema = [
    "sessionInfo": .text, "code": .text, "phoneNumber": .text, "temporaryProof": .text,
  ]
}
