import Crypto
import Testing

struct Ed25519Tests {
  /// A test vector: private key, public key, message, and signature.
  struct Vector: CustomTestStringConvertible {
    let seed: String
    let key: String
    let message: String
    let signature: String

    var testDescription: String { "message \(message)" }
  }

  /// RFC 8032, section 7.1, tests 1 to 3.
  static let vectors = [
    Vector(
      seed: "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60",
      key: "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a", message: "",
      signature: """
        e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701\
        cf9b46bd25bf5f0595bbe24655141438e7a100b
        """),
    Vector(
      seed: "4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb",
      key: "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c", message: "72",
      signature: """
        92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d\
        0f11d8c387b2eaeb4302aeeb00d291612bb0c00
        """),
    Vector(
      seed: "c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7",
      key: "fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025", message: "af82",
      signature: """
        6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f7609\
        84dc6594a7c15e9716ed28dc027beceea1ec40a
        """),
  ]

  private func bytes(_ hex: String) throws -> [UInt8] {
    try #require(Hex.decode(Array(hex.utf8)))
  }

  @Test(arguments: vectors)
  func `Ed25519 signs and verifies the test vectors of RFC 8032`(vector: Vector) throws {
    let key = try Ed25519PrivateKey(seed: Secret(bytes(vector.seed)))
    #expect(Hex.encode(key.publicKey.bytes) == vector.key)
    let message = try bytes(vector.message)
    let signature = try key.sign(message)
    #expect(Hex.encode(signature) == vector.signature)
    #expect(key.publicKey.verify(signature, of: message))
    #expect(!key.publicKey.verify(signature, of: message + [0]))
    #expect(!key.publicKey.verify(Array(signature.dropLast()), of: message))
    #expect(!key.publicKey.verify([], of: message))
  }

  @Test func `a public key survives PEM, and other text isn't a key`() throws {
    let key = try Ed25519PrivateKey(seed: Secret(bytes(Self.vectors[0].seed))).publicKey
    let lines = key.pem.replacing("\n", with: "\r\n")
    #expect(Ed25519PublicKey(pem: key.pem) == key && Ed25519PublicKey(pem: lines) == key)
    // Computed with openssl pkey -pubin -outform DER | sha256sum.
    #expect(
      key.fingerprint == "06e3fd8fda29bb60ab59557de61edb0aecdb231134be30e75b455f8e1b792fa9")
    #expect(Ed25519PublicKey(pem: "") == nil)
    #expect(Ed25519PublicKey(pem: key.pem.replacing("MCow", with: "MCow!")) == nil)
    #expect(Ed25519PublicKey(pem: key.pem.replacing("PUBLIC", with: "PRIVATE")) == nil)
    let other = try Ed25519PrivateKey(seed: Secret(bytes(Self.vectors[1].seed))).publicKey
    let text = "Key 1\n\(key.pem)Key 2, retired\n\(other.pem.replacing("\n", with: "\r\n"))"
    #expect(Ed25519PublicKey.all(pem: text) == [key, other])
    #expect(Ed25519PublicKey.all(pem: "no key").isEmpty)
    #expect(Ed25519PublicKey(bytes: Array(key.bytes.dropLast())) == nil)
    #expect(throws: CryptoError.self) { try Ed25519PrivateKey(seed: Secret([1, 2, 3])) }
  }
}
