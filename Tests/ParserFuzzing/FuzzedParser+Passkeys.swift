@testable import CBOR
import Crypto
@testable import WebAuthn

extension FuzzedParser {
  /// An item doesn't depend on what follows it, and isn't longer than the bytes.
  static func cbor(_ bytes: [UInt8]) -> String? {
    guard let (item, length) = try? CBOR.first(of: bytes) else { return nil }
    guard (1...bytes.count).contains(length) else { return "an item of \(length) bytes" }
    guard let alone = try? CBOR(Array(bytes[..<length])), alone == item else {
      return "an item without what follows is another one"
    }
    if length < bytes.count, (try? CBOR(bytes)) != nil { return "what follows an item is ignored" }
    return depth(of: item) <= CBOR.deepest ? nil : "an item is too deep"
  }

  private static func depth(of item: CBOR) -> Int {
    switch item {
    case .array(let items): 1 + (items.map(depth).max() ?? 0)
    case .map(let members): 1 + (members.map { depth(of: $0.value) }.max() ?? 0)
    default: 0
    }
  }

  /// Reads client data, a line feed, and an attestation object.
  ///
  /// The attestation object is also read with correct client data, and all bytes as a key.
  static func passkeyRegistration(_ bytes: [UInt8]) -> String? {
    if let key = try? PasskeyKey(cose: bytes) {
      guard PasskeyKey.algorithms.contains(key.algorithm) else { return "another algorithm" }
      if key.verify([UInt8](repeating: 0, count: 64), of: bytes) { return "zeros are a signature" }
    }
    guard let party else { return "no relying party" }
    let (line, rest) = firstLine(of: bytes)
    for client in [line, clientData("webauthn.create")] {
      let response = RegistrationResponse(clientData: client, attestation: rest)
      guard let passkey = try? response.verify(challenge: challenge, for: party) else { continue }
      guard (try? PasskeyKey(cose: passkey.key)) != nil else { return "a key can't be read again" }
      guard (1...WebAuthnLimits.credentialID).contains(passkey.id.count), passkey.aaguid.count == 16
      else { return "an ID or a model of another length" }
      guard passkey.isBackupEligible || !passkey.isBackedUp else { return "an impossible backup" }
    }
    return nil
  }

  /// Reads client data, a line feed, the length of the signature as a byte, the signature, and
  /// authenticator data, which is also read with correct client data.
  ///
  /// Nobody has the private keys, so no response is signed by them.
  static func passkeyAssertion(_ bytes: [UInt8]) -> String? {
    guard let party else { return "no relying party" }
    let keys = unknownKeys.compactMap { Hex.decode(Array($0.utf8)) }
      .compactMap { try? PasskeyKey(cose: $0) }
    guard keys.map(\.algorithm) == PasskeyKey.algorithms else { return "no keys" }
    let (line, rest) = firstLine(of: bytes)
    let length = Int(rest.first ?? 0)
    let (signature, data) = (
      Array(rest.dropFirst().prefix(length)), Array(rest.dropFirst(1 + length))
    )
    if let data = try? AuthenticatorData(data, party: party), let credential = data.credential,
      credential.id.isEmpty || credential.key.isEmpty
    {
      return "a credential without an ID or a key"
    }
    for client in [line, clientData("webauthn.get")] {
      let response = AssertionResponse(
        clientData: client, authenticatorData: data, signature: signature)
      for key in keys {
        let use = try? response.verify(with: key, lastCount: 0, challenge: challenge, for: party)
        if use != nil { return "an unsigned assertion is accepted" }
      }
    }
    return nil
  }

  private static let challenge = [UInt8](0..<32)
  private static let party = RelyingParty(
    origin: "https://mfa.example.com", host: "mfa.example.com", isSecure: true)

  private static func clientData(_ type: String) -> [UInt8] {
    Array(
      """
      {"type":"\(type)","challenge":"\(Base64URL.encode(challenge))",\
      "origin":"https://mfa.example.com"}
      """.utf8)
  }

  /// Keys for EdDSA and ES256, in COSE.
  private static let unknownKeys = [
    "a4010103272006215820d3f1935ff014e2acb6e3e029143c4698f74c6adccc0b75535b0dcb8cb14cf73c",
    "a5010203262001215820aa919f97b6b1c1a1060a9de75e9ed6e9845612dc3ad9bc43ffbadfbca9a1d36a"
      + "225820f40d660479ddae657bc9c1bb1079d06d5dd11d784b74cbdfd04b0ff86dd5268c",
  ]

  private static func firstLine(of bytes: [UInt8]) -> (line: [UInt8], rest: [UInt8]) {
    let line = Array(bytes.prefix { $0 != 0x0A })
    return (line, Array(bytes.dropFirst(line.count + 1)))
  }
}
