import Crypto
import Testing

@Suite struct CryptoTests {
  @Test func `digests match the FIPS 180-4 examples`() {
    let message = Array("abc".utf8)
    #expect(
      Hex.encode(HashFunction.sha1.digest(message)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
    #expect(
      Hex.encode(HashFunction.sha256.digest(message))
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
    #expect(Hex.encode(HashFunction.sha512.digest(message)).hasPrefix("ddaf35a193617abacc417349"))
  }

  /// RFC 4231, test cases 2 and 6 (a key longer than a block).
  @Test func `HMAC matches the test vectors of RFC 4231`() throws {
    let short = try HMAC.code(
      .sha256, key: Secret("Jefe"), message: Array("what do ya want for nothing?".utf8))
    #expect(
      Hex.encode(short) == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    let long = try HMAC.code(
      .sha256, key: Secret([UInt8](repeating: 0xAA, count: 131)),
      message: Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8))
    #expect(
      Hex.encode(long) == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
  }

  @Test func `an HMAC can be reused for many messages`() throws {
    var hmac = try HMAC(.sha1, key: Secret("key"))
    let first = try hmac.code(for: [1, 2, 3])
    _ = try hmac.code(for: [])
    #expect(try hmac.code(for: [1, 2, 3]) == first)
  }

  @Test func `an empty key is accepted`() throws {
    let code = try HMAC.code(.sha1, key: Secret(""), message: [])
    #expect(Hex.encode(code) == "fbdb1d1b18aa6c08324b7d64b71fb76370690e1d")
  }

  @Test func `a secret's descriptions don't reveal it`() {
    let secret = Secret("hunter2-marker")
    var dumped = ""
    dump(secret, to: &dumped)
    for text in ["\(secret)", String(reflecting: secret), dumped, "\([secret])"] {
      #expect(!text.contains("hunter2"))
      #expect(text.contains("secret") || text.isEmpty)
    }
  }

  @Test(arguments: 0..<40)
  func `base64url decodes what it encodes, with or without padding`(count: Int) {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 251) }
    let text = Base64URL.encode(bytes)
    #expect(!text.contains("=") && !text.contains("+") && !text.contains("/"))
    #expect(Base64URL.decode(text) == bytes)
    let padding = String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    #expect(Base64URL.decode(text + padding) == bytes)
  }

  @Test(arguments: ["A", "AB=C", "A===", "AA=", "A A A", "AB!D", "AB", "AAB"])
  func `noncanonical base64url is refused`(text: String) {
    #expect(Base64URL.decode(text) == nil)
  }

  @Test func `random text uses only the given alphabet`() {
    let text = RandomSource.system.text(200, from: "abc")
    #expect(text.count == 200 && text.allSatisfy { "abc".contains($0) })
    let uuid = RandomSource.system.uuid()
    #expect(uuid.count == 36 && uuid.dropFirst(14).first == "4")
  }
}

@Suite struct SealerTests {
  let ring = KeyRing(random: .system)

  func sealer(_ purpose: String = "test", ring: KeyRing? = nil) throws -> Sealer {
    try Sealer(ring ?? self.ring, purpose: purpose, random: .system)
  }

  @Test func `a box opens only with the same associated data`() throws {
    let sealer = try sealer()
    let box = try sealer.seal([1, 2, 3], with: [9])
    #expect(try sealer.open(box, with: [9]).revealedBytes == [1, 2, 3])
    #expect(throws: CryptoError.notAuthentic) { try sealer.open(box, with: [8]) }
    #expect(throws: CryptoError.notAuthentic) { try sealer.open(box, with: []) }
  }

  @Test func `a modified or truncated box is refused`() throws {
    let sealer = try sealer()
    let box = try sealer.seal(Array("seed".utf8), with: [])
    for index in box.indices {
      var changed = box
      changed[index] ^= 1
      #expect(throws: CryptoError.self) { try sealer.open(changed, with: []) }
    }
    for length in 0..<box.count {
      #expect(throws: CryptoError.self) { try sealer.open(Array(box.prefix(length)), with: []) }
    }
  }

  @Test func `a box can't be opened with another purpose or key ring`() throws {
    let box = try sealer().seal([1], with: [])
    #expect(throws: CryptoError.notAuthentic) { try sealer("other").open(box, with: []) }
    #expect(throws: CryptoError.self) {
      try sealer(ring: KeyRing(random: .system)).open(box, with: [])
    }
  }

  @Test func `a key ring reads what it writes, including older keys`() throws {
    let older = KeyRing(random: .system)
    let both = try KeyRing(text: ring.text.revealedText + older.text.revealedText)
    let box = try sealer(ring: older).seal([7], with: [])
    #expect(try sealer(ring: both).open(box, with: []).revealedBytes == [7])
    #expect(try both.mark() == ring.mark() + older.mark())
  }

  @Test func `digests are equal for equal secrets, and differ with the purpose and the newest key`()
    throws
  {
    let rotated = ring.rotated(random: .system)
    let (one, other) = (
      try KeyedDigest(ring, purpose: "a"), try KeyedDigest(ring, purpose: "b")
    )
    let (same, later) = (
      try KeyedDigest(ring, purpose: "a"), try KeyedDigest(rotated, purpose: "a")
    )
    let digest = try one.digest([7])
    #expect(try digest == same.digest([7]) && digest.count == 20)
    #expect(try digest != one.digest([8]) && digest != other.digest([7]))
    #expect(try digest.suffix(16) != later.digest([7]).suffix(16))
    #expect(try one.isCurrent(digest) && !later.isCurrent(digest))
    ring.adopt(rotated)
    #expect(try !one.isCurrent(digest) && one.digest([7]) == later.digest([7]))
  }

  @Test(arguments: ["", "# only a comment", "countersign-master-key-1 00000001 AAAA", "x y z"])
  func `a damaged key ring is refused`(text: String) {
    #expect(throws: CryptoError.self) { try KeyRing(text: text) }
  }
}
