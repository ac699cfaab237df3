import Crypto
import TestAuthenticator
import Testing

@testable import WebAuthn

private let challenge = [UInt8](0..<32)

private func party() throws -> RelyingParty {
  try #require(
    RelyingParty(
      origin: "https://mfa.example.com", host: "mfa.example.com", isSecure: true))
}

struct RegistrationTests {
  @Test func `a registration has the key, the count, and the flags`() throws {
    let authenticator = try TestAuthenticator()
    authenticator.choices.isBackupEligible = true
    let passkey = try authenticator.register(challenge, for: party()).verify(
      challenge: challenge, for: party())
    #expect(passkey.id == authenticator.id)
    #expect(passkey.key == authenticator.coseKey)
    #expect(passkey.aaguid == authenticator.aaguid)
    #expect(passkey.signCount == 1)
    #expect(passkey.isBackupEligible && !passkey.isBackedUp)
  }

  @Test func `extensions after the key are skipped`() throws {
    let authenticator = try TestAuthenticator()
    authenticator.choices.extensions = [0xA1, 0x61, 0x61, 0xF5]
    let passkey = try authenticator.register(challenge, for: party()).verify(
      challenge: challenge, for: party())
    #expect(passkey.key == authenticator.coseKey)
  }

  @Test func `every shortened attestation is refused`() throws {
    let authenticator = try TestAuthenticator()
    let response = try authenticator.register(challenge, for: party())
    for count in 0..<response.attestation.count {
      let short = RegistrationResponse(
        clientData: response.clientData, attestation: Array(response.attestation.prefix(count)))
      #expect(throws: WebAuthnError.malformed) {
        try short.verify(challenge: challenge, for: party())
      }
    }
  }

  @Test func `every shortened authenticator data is refused, and so is a longer one`() throws {
    let authenticator = try TestAuthenticator()
    let response = try authenticator.register(challenge, for: party())
    // From the end: the key, the credential ID, and what's before it.
    let data = Array(response.attestation.suffix(37 + 18 + 20 + 42))
    for bytes in (0..<data.count).map({ Array(data.prefix($0)) }) + [data + [0]] {
      let changed = RegistrationResponse(
        clientData: response.clientData, attestation: TestAuthenticator.attestation(bytes))
      #expect(throws: WebAuthnError.self) {
        try changed.verify(challenge: challenge, for: party())
      }
    }
  }

  @Test func `a long attestation is refused before it's parsed`() throws {
    let authenticator = try TestAuthenticator()
    let response = try authenticator.register(challenge, for: party())
    let long = RegistrationResponse(
      clientData: response.clientData,
      attestation: [UInt8](repeating: 0, count: WebAuthnLimits.attestation + 1))
    #expect(throws: WebAuthnError.tooLong) {
      try long.verify(challenge: challenge, for: party())
    }
  }

  @Test(
    arguments: [
      // RS256, another curve, a point that isn't on the curve, a short point, and no key at all.
      [0xA3, 0x01, 0x03, 0x03, 0x39, 0x01, 0x00, 0x20, 0x41, 0x01],
      [0xA4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x04, 0x21, 0x41, 0x01],
      [0xA5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20]
        + [UInt8](repeating: 1, count: 32) + [0x22, 0x58, 0x20] + [UInt8](repeating: 1, count: 32),
      [0xA4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x41, 0x01], [0xA0], [0x01], [],
    ] as [[UInt8]])
  func `another kind of key is refused`(cose: [UInt8]) {
    #expect(throws: WebAuthnError.unsupportedKey) { try PasskeyKey(cose: cose) }
  }
}

struct AssertionTests {
  private let authenticator: TestAuthenticator

  init() throws { authenticator = try TestAuthenticator() }

  /// The result of a sign-in with these choices.
  private func use(
    _ change: (inout TestAuthenticator.Choices) -> Void = { _ in }, lastCount: UInt32 = 0
  ) throws -> PasskeyUse {
    let authenticator = try TestAuthenticator()
    change(&authenticator.choices)
    return try authenticator.signIn(challenge, for: party()).verify(
      with: PasskeyKey(cose: authenticator.coseKey), lastCount: lastCount, challenge: challenge,
      for: party())
  }

  @Test func `a sign-in has the new count`() throws {
    #expect(try use() == PasskeyUse(signCount: 1, isBackedUp: false))
  }

  /// Signatures that the Python package cryptography made.
  @Test(
    arguments: [
      (
        "a501020326200121582045fad80a02a34e942bd7ee77715d42a6de633a916747f7f076e577a2109792e0"
          + "22582046e32afab3bd765ab0754b01a5666e3a8cffab5dcaf44b592a745c0a6642903a",
        "3045022100fd3fcb07cadcd00680e4a3dc9dd239a6fa1c1e9d4d57c5a071a1f5e3c0cee30f02205ef2fe"
          + "2e24de95a263cf6106e6e6a90681d8c559c7489c4aa8e7ac1bddcb7ad4"
      ),
      (
        "a4010103272006215820893bfcbba79d42a91db86181dbd103dc8b13eb8b7470f881d18d112c0b7b66fb",
        "0f532be928a0f9bb0d9c97cd22ccc48277aba70b5ddc4a481e55a14a34939309"
          + "d35810aad682b9b2c481559b3b1455d971c5340e98bbded9cc6416f012884302"
      ),
    ])
  func `a signature of another implementation is verified`(cose: String, signature: String)
    throws
  {
    let cose = try #require(Hex.decode(Array(cose.utf8)))
    let signature = try #require(Hex.decode(Array(signature.utf8)))
    let client =
      #"{"type":"webauthn.get","challenge":"\#(Base64URL.encode(challenge))","#
      + #""origin":"https://mfa.example.com","crossOrigin":false}"#
    let data = HashFunction.sha256.digest(Array("mfa.example.com".utf8)) + [5, 0, 0, 0, 7]
    func verify(_ signature: [UInt8]) throws -> PasskeyUse {
      try AssertionResponse(
        clientData: Array(client.utf8), authenticatorData: data, signature: signature
      ).verify(
        with: PasskeyKey(cose: cose), lastCount: 6, challenge: challenge, for: party())
    }
    #expect(try verify(signature) == PasskeyUse(signCount: 7, isBackedUp: false))
    for index in signature.indices {
      var changed = signature
      changed[index] ^= 1
      #expect(throws: WebAuthnError.wrongSignature) { try verify(changed) }
    }
  }

  @Test func `another origin, challenge, ceremony, or relying party is refused`() throws {
    #expect(throws: WebAuthnError.otherOrigin) { try use { $0.origin = "https://evil.example" } }
    #expect(throws: WebAuthnError.otherOrigin) {
      try use { $0.origin = "https://mfa.example.com:8443" }
    }
    #expect(throws: WebAuthnError.otherOrigin) { try use { $0.members = #","crossOrigin":true"# } }
    #expect(throws: WebAuthnError.otherOrigin) {
      try use { $0.members = #","topOrigin":"https://evil.example""# }
    }
    #expect(throws: WebAuthnError.otherCeremony) { try use { $0.type = "webauthn.create" } }
    #expect(throws: WebAuthnError.otherRelyingParty) { try use { $0.partyID = "example.com" } }
    let response = try authenticator.signIn([UInt8](1...32), for: party())
    #expect(throws: WebAuthnError.otherChallenge) {
      try response.verify(
        with: PasskeyKey(cose: authenticator.coseKey), lastCount: 0, challenge: challenge,
        for: party())
    }
  }

  @Test func `V14: the user must be present and verified`() throws {
    #expect(throws: WebAuthnError.userNotPresent) { try use { $0.isUserPresent = false } }
    #expect(throws: WebAuthnError.userNotVerified) { try use { $0.isUserVerified = false } }
  }

  @Test func `a passkey that can't be backed up isn't`() throws {
    #expect(throws: WebAuthnError.malformed) { try use { $0.isBackedUp = true } }
    #expect(
      try use {
        $0.isBackupEligible = true
        $0.isBackedUp = true
      }.isBackedUp)
  }

  @Test func `V14: a count that isn't higher is refused, unless there's none`() throws {
    #expect(throws: WebAuthnError.countNotHigher) { try use(lastCount: 1) }
    #expect(throws: WebAuthnError.countNotHigher) { try use(lastCount: 9) }
    let uncounted = try TestAuthenticator(1, signCount: nil)
    let key = try PasskeyKey(cose: uncounted.coseKey)
    let response = try uncounted.signIn(challenge, for: party())
    #expect(
      try response.verify(with: key, lastCount: 0, challenge: challenge, for: party()).signCount
        == 0)
    #expect(throws: WebAuthnError.countNotHigher) {
      try response.verify(with: key, lastCount: 1, challenge: challenge, for: party())
    }
  }

  @Test func `a changed byte anywhere is refused`() throws {
    let response = try authenticator.signIn(challenge, for: party())
    let key = try PasskeyKey(cose: authenticator.coseKey)
    func refuses(_ client: [UInt8], _ data: [UInt8], _ signature: [UInt8]) {
      #expect(throws: WebAuthnError.self) {
        try AssertionResponse(
          clientData: client, authenticatorData: data, signature: signature
        ).verify(with: key, lastCount: 0, challenge: challenge, for: party())
      }
    }
    let (client, data, signature) =
      (response.clientData, response.authenticatorData, response.signature)
    for index in client.indices { refuses(Self.changed(client, index), data, signature) }
    for index in data.indices { refuses(client, Self.changed(data, index), signature) }
    for index in signature.indices { refuses(client, data, Self.changed(signature, index)) }
    for count in data.indices { refuses(client, Array(data.prefix(count)), signature) }
    refuses([], data, signature)
    refuses(client, data, [])
    refuses([UInt8](repeating: 0x20, count: 5_000), data, signature)
    refuses(client, data, [UInt8](repeating: 0, count: 5_000))
  }

  private static func changed(_ bytes: [UInt8], _ index: Int) -> [UInt8] {
    var bytes = bytes
    bytes[index] ^= 0x20
    return bytes
  }
}

struct RelyingPartyTests {
  @Test(arguments: [
    ("https://mfa.example.com", "mfa.example.com", true),
    ("http://localhost:8080", "localhost", false), ("http://a.localhost", "a.localhost", false),
  ])
  func `a host name has passkeys`(origin: String, host: String, isSecure: Bool) {
    #expect(RelyingParty(origin: origin, host: host, isSecure: isSecure)?.id == host)
  }

  @Test(arguments: [
    ("http://mfa.example.com", "mfa.example.com", false), ("https://192.0.2.1", "192.0.2.1", true),
    ("http://127.0.0.1:8080", "127.0.0.1", false), ("https://[::1]", "[::1]", true),
    ("https://0x7f.1", "0x7f.1", true), ("https://", "", true), ("https://a.", "a.", true),
    ("https://notlocalhost", "notlocalhost", false),
  ])
  func `an IP address or an insecure host has none`(origin: String, host: String, isSecure: Bool) {
    #expect(RelyingParty(origin: origin, host: host, isSecure: isSecure) == nil)
  }
}
