import Crypto
import HTTP
import Identity
import Localization
import Templating
import WebAuthn

/// The part of a form that the browser's passkey functions fill.
struct PasskeyFields: ViewModel {
  enum Kind: String {
    case create, get
  }

  let kind: Kind
  let challenge: PasskeyChallenge
  let party: RelyingParty
  let script: String
  var next: String?
  var administrator: Administrator?

  static let keys: Keys<Self> = [
    .text("kind") { $0.kind.rawValue },
    .flag("isCreation") { $0.kind == .create },
    .text("host") { $0.party.id },
    .text("challenge") { Base64URL.encode($0.challenge.bytes) },
    .text("credentials") { fields in
      fields.challenge.credentials.map { Base64URL.encode($0) }.joined(separator: " ")
    },
    .text("algorithms") { _ in
      PasskeyKey.algorithms.map(String.init).joined(separator: " ")
    },
    .text("user") { $0.administrator?.id.text },
    .text("email") { $0.administrator?.email },
    .text("person") { $0.administrator?.displayName },
    .text("ticket") { $0.challenge.ticket.revealedText },
    .text(\.next),
    .text(\.script),
  ]
}

enum PasskeyAnswers {
  /// The longest value of a field, in characters of base64url.
  private static let longest = WebAuthnLimits.attestation * 4 / 3 + 4

  private static func bytes(_ name: String, _ form: Form) -> [UInt8]? {
    form.text(name, atMost: longest).flatMap { Base64URL.decode($0) }
  }

  static func response(_ form: Form) -> PasskeyResponse? {
    guard let credential = bytes("credential", form), !credential.isEmpty,
      let client = bytes("client-data", form), let data = bytes("authenticator-data", form),
      let signature = bytes("signature", form), let handle = bytes("user-handle", form)
    else { return nil }
    return PasskeyResponse(
      credential: credential, userHandle: handle,
      assertion: AssertionResponse(
        clientData: client, authenticatorData: data, signature: signature))
  }

  static func registration(_ form: Form) -> RegistrationResponse? {
    guard let client = bytes("client-data", form), !client.isEmpty,
      let attestation = bytes("attestation", form)
    else { return nil }
    return RegistrationResponse(clientData: client, attestation: attestation)
  }

  /// How the browser reaches the authenticator.
  static func transports(_ form: Form) -> [String] {
    (form.text("transports", atMost: 100) ?? "").split(separator: " ").map(String.init)
  }
}

enum PasskeyFault {
  static let field = "passkey"

  static func error(_ text: Message) -> FieldError { FieldError(field: field, text: text) }

  static let missing = error(
    Message("No passkey was received. Turn on JavaScript, then try again."))
  static let refused = error(
    Message(
      "This passkey wasn’t accepted. Use one that you added to your account at this address."))
  static let ended = error(Message("The page expired. Try again."))

  static func throttled(
    in field: String = PasskeyFault.field, until: Instant, at now: Instant
  ) -> FieldError {
    let wait = until.wait(at: now)
    let length = Message.Value.message(Formatted.duration(seconds: Int(wait)))
    return FieldError(
      field: field, text: Message("Too many attempts. Try again in {wait}.", ["wait": length]),
      wait: wait)
  }
}

extension PublicURL {
  /// The site of passkeys; nil if browsers offer none at this address.
  var relyingParty: RelyingParty? {
    RelyingParty(origin: origin, host: host, isSecure: isSecure)
  }

  /// The host name that passkeys are bound to; nil if browsers offer none at this address.
  public var passkeyHost: String? { relyingParty?.id }

  /// Why browsers offer no passkeys at this address; nil if they do.
  var passkeyObstacle: Message? {
    relyingParty == nil ? Message("Passkeys require HTTPS and a hostname.") : nil
  }
}

struct PasskeyUseView: ViewModel {
  let frame: FrameView
  let heading: Message
  let sentence: Message
  let action: String
  let passkey: PasskeyFields?
  let unusable: Message?
  let other: Link
  var recovery: String?

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text(\.heading),
    .text(\.sentence),
    .text(\.action),
    .optional(\.passkey),
    .text(\.unusable),
    .text(\.recovery),
    .text("other") { $0.other.href },
    .text("otherText") { $0.other.text },
  ]
}
