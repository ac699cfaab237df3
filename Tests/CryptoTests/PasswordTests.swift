import Crypto
import Testing

@Suite struct PasswordTests {
  static let cheap = PasswordHash.Cost(memory: 64, passes: 1)
  static let pool = PasswordHasher.Pool(1)
  let hasher = PasswordHasher(width: 2, waiting: 4, cost: cheap)

  @Test func `a hash matches only its password`() async throws {
    let hash = try await hasher.hash(Secret("correct horse"), for: PasswordTests.pool)
    #expect(hash.encoded.hasPrefix("$argon2id$v=19$m=64,t=1,p=1$"))
    #expect(try await hasher.matches(Secret("correct horse"), hash, for: PasswordTests.pool))
    #expect(try await !hasher.matches(Secret("correct horsf"), hash, for: PasswordTests.pool))
    #expect(try await !hasher.matches(Secret("correct horse"), nil, for: PasswordTests.pool))
    #expect(
      try await !hasher.matches(
        Secret("x"), PasswordHash(encoded: "$argon2id$broken"), for: PasswordTests.pool))
    #expect(
      try await !hasher.matches(
        Secret("x"), PasswordHash(encoded: "plain"), for: PasswordTests.pool))
  }

  /// A password in normalization form C, and the same in form D and with other canonical equivalents.
  @Test func `a password in any normalization form is the same password`() async throws {
    let spellings = ["p\u{E4}ss\u{212B}\u{1E69}", "pa\u{308}ssA\u{30A}s\u{323}\u{307}"]
    let pool = PasswordTests.pool
    for spelling in spellings {
      let hash = try await hasher.hash(Secret(spelling), for: pool)
      for other in spellings {
        #expect(try await hasher.matches(Secret(other), hash, for: pool))
      }
      #expect(try await !hasher.matches(Secret("pass\u{E5}s"), hash, for: pool))
      // Compatibility forms and case are different.
      #expect(try await !hasher.matches(Secret("P\u{E4}ss\u{C5}\u{1E69}"), hash, for: pool))
    }
    #expect(try await !hasher.matches(Secret(spellings[1]), nil, for: pool))
  }

  @Test func `a hash of a password that isn't normalized matches it as typed`() async throws {
    let typed = Secret("pa\u{308}ssword")
    let digest = HashFunction.sha256.digest(typed.revealedBytes)
    let hash = try PasswordHash(
      digest, salt: [], by: .digest(.sha256, rounds: 1, order: .saltFirst))
    #expect(try await hasher.matches(typed, hash, for: PasswordTests.pool))
    #expect(try await !hasher.matches(Secret("p\u{E4}ssword"), hash, for: PasswordTests.pool))
  }

  @Test func `the same password has a different hash each time`() async throws {
    let first = try await hasher.hash(Secret("a"), for: PasswordTests.pool)
    let second = try await hasher.hash(Secret("a"), for: PasswordTests.pool)
    #expect(first != second)
  }

  @Test func `the current cost is OWASP's, and a cheaper hash needs an upgrade`() async throws {
    #expect(PasswordHash.Cost.current == PasswordHash.Cost(memory: 19_456, passes: 2))
    let hash = try await hasher.hash(Secret("a"), for: PasswordTests.pool)
    #expect(hash.needsUpgrade())
    #expect(!hasher.needsUpgrade(hash))
  }

  @Test func `hashes beyond the queue limit are refused immediately`() async throws {
    let hasher = PasswordHasher(
      width: 1, waiting: 2, cost: PasswordHash.Cost(memory: 65_536, passes: 3))
    let outcomes = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<32 {
        // Begun at once, so that they wait together even on a busy machine.
        group.addImmediateTask {
          do {
            _ = try await hasher.hash(Secret("a"), for: PasswordTests.pool)
            return true
          } catch { return error as? CryptoError != .busy }
        }
      }
      return await group.reduce(into: [Bool]()) { $0.append($1) }
    }
    #expect(outcomes.contains(true) && outcomes.contains(false))
    #expect(
      try await hasher.matches(
        Secret("a"), hasher.hash(Secret("a"), for: Self.pool), for: Self.pool))
  }
}

@Suite struct RSAKeyTests {
  @Test func `signatures verify after a DER round trip, only for their message`() throws {
    let key = try RSAKey.generate()
    let message = Array("header.payload".utf8)
    let signature = try key.sign(message)
    let copy = try RSAKey(privateDER: key.privateDER())
    #expect(copy.verify(signature, of: message))
    #expect(!copy.verify(signature, of: message + [0]))
    #expect(!copy.verify([], of: message))
    #expect(try !RSAKey.generate().verify(signature, of: message))
    let numbers = try key.publicNumbers()
    #expect(numbers.modulus.count == 256 && numbers.exponent == [1, 0, 1])
  }

  @Test func `the certificate is PEM`() throws {
    let pem = try RSAKey.generate().certificatePEM(
      commonName: "countersign", serial: 7, from: 1_800_000_000, until: 1_900_000_000)
    #expect(pem.hasPrefix("-----BEGIN CERTIFICATE-----\n"))
    #expect(pem.hasSuffix("-----END CERTIFICATE-----\n"))
  }

  @Test func `an invalid private RSA key is refused`() {
    #expect(throws: CryptoError.self) { try RSAKey(privateDER: Secret("nonsense")) }
  }
}
