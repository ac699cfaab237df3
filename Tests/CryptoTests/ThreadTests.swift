import Crypto
import Testing

/// Uses libcrypto from many threads at once, in a process that might not have used it before.
struct ThreadTests {
  private static let codes: [(function: HashFunction, code: String)] = [
    (.sha1, "de7c9b85b8b78aa6bc8a7a36f70a90701c9db4d9"),
    (.sha256, "f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8"),
    (
      .sha512,
      "b42af09057bac1e2d41708e48a902e09b5ff7f12ab428a4fe86653c73dd248fb"
        + "82f948a549f7b791a5b41915ee4d1ec3935357e4e2317250d0372afa2ebeeb3a"
    ),
  ]
  private static let message = Array("The quick brown fox jumps over the lazy dog".utf8)

  @Test func `every algorithm works from many threads at once`() async throws {
    let ring = KeyRing(random: .system)
    let signer = try RSAKey.generate(bits: 2_048)
    let signature = try signer.sign(Self.message)
    let numbers = try signer.publicNumbers()
    let der = try PublicKey(modulus: numbers.modulus, exponent: numbers.exponent).der()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for task in 0..<16 {
        group.addTask {
          for round in 0..<150 {
            switch (task + round) % 5 {
            case 0...2:
              let (function, code) = Self.codes[(task + round) % 5]
              let result = try HMAC.code(function, key: Secret("key"), message: Self.message)
              #expect(Hex.encode(result) == code)
            case 3:
              let sealer = try Sealer(ring, purpose: "threads \(round)", random: .system)
              let box = try sealer.seal(Self.message, with: [1])
              #expect(try sealer.open(box, with: [1]).revealedBytes == Self.message)
            default:
              #expect(try PublicKey(der: der).verify(signature, of: Self.message))
            }
          }
        }
      }
      try await group.waitForAll()
    }
  }
}
