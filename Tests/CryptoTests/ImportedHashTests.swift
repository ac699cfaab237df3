import Synchronization
import Testing

@testable import Crypto

@Suite struct ImportedHashTests {
  let hasher = PasswordHasher(width: 2, cost: PasswordTests.cheap)

  @Test(arguments: HashVector.all)
  func `a published hash matches only its password`(vector: HashVector) async throws {
    let algorithm = try PasswordAlgorithm(vector.parameters)
    let hash = try PasswordHash(vector.hash, salt: vector.salt, by: algorithm)
    #expect(try await hasher.matches(Secret(vector.password), hash, for: PasswordTests.pool))
    #expect(
      try await !hasher.matches(Secret(vector.password + [0x21]), hash, for: PasswordTests.pool))
    #expect(try await !hasher.matches(Secret("another"), hash, for: PasswordTests.pool))
    #expect(hasher.needsUpgrade(hash))
  }

  @Test(arguments: HashVector.all)
  func `the stored text contains all parameters`(vector: HashVector) async throws {
    let algorithm = try PasswordAlgorithm(vector.parameters)
    let hash = try PasswordHash(vector.hash, salt: vector.salt, by: algorithm)
    let again = try PasswordHash(Array(hash.encoded.utf8), salt: [], by: .selfDescribing)
    #expect(again == hash)
    #expect(try await hasher.matches(Secret(vector.password), again, for: PasswordTests.pool))
  }

  @Test func `a hash with one changed byte doesn't match`() async throws {
    for vector in HashVector.all where vector.parameters.algorithm != "BCRYPT" {
      var bytes = vector.hash
      bytes[bytes.count - 1] ^= 1
      let hash = try PasswordHash(
        bytes, salt: vector.salt, by: PasswordAlgorithm(vector.parameters))
      #expect(
        try await !hasher.matches(Secret(vector.password), hash, for: PasswordTests.pool),
        "\(vector.source)")
    }
  }

  @Test func `an MD5 hash can be given as hexadecimal text`() async throws {
    let text = Array("900150983CD24FB0d6963f7d28e17f72".utf8)
    let hash = try PasswordHash(
      text, salt: Array("a".utf8), by: .digest(.md5, rounds: 0, order: .saltFirst))
    #expect(try await hasher.matches(Secret("bc"), hash, for: PasswordTests.pool))
  }

  @Test func `hash texts of other software are accepted`() async throws {
    // The reference implementation uses the standard base64 alphabet.
    let argon =
      "$argon2i$v=19$m=256,t=2,p=1$c29tZXNhbHQ$iekCn0Y3spW+sCcFanM2xBT63UP2sghkUoHLIUpWRS8"
    let hash = try PasswordHash(Array(argon.utf8), salt: [], by: .selfDescribing)
    #expect(try await hasher.matches(Secret("password"), hash, for: PasswordTests.pool))
    let own = try await hasher.hash(Secret("abc"), for: PasswordTests.pool)
    #expect(
      try PasswordHash(Array(own.encoded.utf8), salt: [], by: .selfDescribing).encoded.hasPrefix(
        "$argon2id$v=19$m=64,t=1,p=1$"))
  }

  @Test func `a text with its algorithm is read as such, whatever algorithm is given`() async throws
  {
    let hmac = PasswordAlgorithm.hmac(.sha256, key: [1], order: .saltFirst)
    let own = try await hasher.hash(Secret("abc"), for: PasswordTests.pool)
    let text = Array(own.encoded.utf8)
    let read = try PasswordHash(text, salt: [], by: hmac)
    #expect(try await hasher.matches(Secret("abc"), read, for: PasswordTests.pool))
    let bcrypt = "$2b$04$abcdefghijklmnopqrstuughE8Ev8uGFaUgY2cNEySvxngrb/Jzdm"
    #expect(try PasswordHash(Array(bcrypt.utf8), salt: [], by: hmac).encoded == bcrypt)
    // Texts have no separate salt.
    #expect(throws: ImportedHashError.malformed) { try PasswordHash(text, salt: [1], by: hmac) }
    // The bytes of a hash that only begin like a text, and a text within a text.
    let bytes = Array(bcrypt.utf8.prefix(7)) + (0x80..<0x99)
    let raw = try PasswordHash(bytes, salt: [], by: hmac)
    #expect(raw.encoded.hasPrefix("$hmac-sha256$"))
    let inner = "$pbkdf2-sha256$n=1$$\(Base64URL.encode(text))"
    #expect(throws: ImportedHashError.malformed) {
      try PasswordHash(Array(inner.utf8), salt: [], by: hmac)
    }
  }

  @Test func `a password with a NUL never matches a bcrypt hash`()
    async throws
  {
    let hash = try PasswordHash(
      Array("$2a$06$If6bvum7DFjUnE9p2uDeDu0YHzrHM6tf.iqN8.yx.jNN1ILEf7h0i".utf8), salt: [],
      by: .bcrypt)
    #expect(try await hasher.matches(Secret("abc"), hash, for: PasswordTests.pool))
    #expect(try await !hasher.matches(Secret("abc\0def"), hash, for: PasswordTests.pool))
  }

  @Test
  func `a derived hash isn't so short that any password has it, nor so long that it's costly`()
    throws
  {
    func imported(_ count: Int, _ algorithm: PasswordAlgorithm) throws -> PasswordHash {
      try PasswordHash([UInt8](repeating: 7, count: count), salt: [1], by: algorithm)
    }
    for count in [1, 15] {
      #expect(throws: ImportedHashError.malformed) {
        try imported(count, .pbkdf2(.sha256, rounds: 1_000))
      }
    }
    _ = try imported(16, .pbkdf2(.sha1, rounds: 2_000_000))
    _ = try imported(20, .pbkdf2(.sha1, rounds: 2_000_000))
    // Each block of 20 bytes takes all rounds.
    #expect(throws: ImportedHashError.tooExpensive) {
      try imported(21, .pbkdf2(.sha1, rounds: 2_000_000))
    }
    #expect(throws: ImportedHashError.tooExpensive) {
      try imported(1_024, .pbkdf2(.sha1, rounds: 50_000))
    }
  }

  @Test func `an Argon2 hash that is stored already may have more work than an imported one`()
    throws
  {
    let text = "$argon2id$v=19$m=262144,t=16,p=1$c29tZXNhbHQ$c29tZXNhbHQ"
    #expect(throws: ImportedHashError.tooExpensive) {
      try PasswordHash(Array(text.utf8), salt: [], by: .selfDescribing)
    }
    #expect(HashText(text) != nil)
  }

  @Test func `the emulator's fake hash is converted to a real hash`() async throws {
    let text = "fakeHash:salt=fakeSaltX:password=pa:password=ss"
    let hash = try #require(PasswordHash(emulatorText: text, random: .system))
    #expect(!hash.encoded.contains("pa:password=ss"))
    #expect(try await hasher.matches(Secret("pa:password=ss"), hash, for: PasswordTests.pool))
    #expect(try await !hasher.matches(Secret("ss"), hash, for: PasswordTests.pool))
    #expect(PasswordHash(emulatorText: "fakeHash:salt=x", random: .system) == nil)
    #expect(PasswordHash(emulatorText: "$2a$", random: .system) == nil)
  }

  /// Each new hash draws one salt, so the number of draws equals the number of hashes.
  @Test func `a wrong password costs one current hash for every kind of hash`() async throws {
    let draws = Mutex(0)
    let random = RandomSource { count in
      draws.withLock { $0 += 1 }
      return [UInt8](repeating: 7, count: count)
    }
    let hasher = PasswordHasher(width: 1, cost: PasswordTests.cheap, random: random)
    #expect(try await !hasher.matches(Secret("x"), nil, for: PasswordTests.pool))
    #expect(draws.withLock { $0 } == 1)
    let cheaper = PasswordHasher(width: 1, cost: PasswordHash.Cost(memory: 32, passes: 1))
    let argon2 = try await cheaper.hash(Secret("abc"), for: PasswordTests.pool)
    let imported = [
      try PasswordHash(
        HashFunction.sha256.digest(Array("abc".utf8)), salt: [],
        by: .digest(.sha256, rounds: 1, order: .saltFirst)),
      try PasswordHash(Array(argon2.encoded.utf8), salt: [], by: .selfDescribing),
    ]
    for (number, hash) in imported.enumerated() {
      #expect(try await !hasher.matches(Secret("x"), hash, for: PasswordTests.pool))
      #expect(draws.withLock { $0 } == 2 + number)
      #expect(try await hasher.matches(Secret("abc"), hash, for: PasswordTests.pool))
      #expect(draws.withLock { $0 } == 2 + number)
    }
    // A current hash costs the same already.
    let current = try await hasher.hash(Secret("abc"), for: PasswordTests.pool)
    #expect(draws.withLock { $0 } == 4)
    #expect(try await !hasher.matches(Secret("x"), current, for: PasswordTests.pool))
    #expect(draws.withLock { $0 } == 4)
  }

  @Test(arguments: [
    "", "$", "$$$", "$$$$", "$-$$$", "$-$n=1$YQ$YQ", "$$n=1$YQ$YQ", "$-md5$n=1,o=sp$YQ$YQ", "$md5$",
    "$md5$n=1$$", "$md4$n=1,o=sp$YQ$YQ", "$sha1$n=0,o=sp$YQ$YQ",
    "$sha256$n=1,n=2,o=sp$YQ$YQ", "$argon2id$v=18$m=64,t=1,p=1$c29tZXNhbHQ$c29tZXNhbHQ",
    "$argon2id$v=19$m=999999999,t=1,p=1$c29tZXNhbHQ$c29tZXNhbHQ",
    "$argon2id$v=19$m=64,t=1,p=1$YQ$c29tZXNhbHQ", "$scrypt$n=3,r=1,p=1$YQ$YQ",
    "$scrypt$n=1048576,r=8,p=1$YQ$YQ",
    "$2a$31$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
    "$2a$15$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
    "$2x$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW",
    "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOe", "$hmac-sha256$o=ps$YQ$YQ",
    "$pbkdf2-sha256$n=2000001$YQ$YQ", "$firebase-scrypt$r=9,m=14,s=,k=YQ$YQ$YQ", "plain",
  ])
  func `an invalid hash text is refused`(text: String) async throws {
    #expect(throws: ImportedHashError.self) {
      try PasswordHash(Array(text.utf8), salt: [], by: .selfDescribing)
    }
    #expect(
      try await !hasher.matches(Secret("x"), PasswordHash(encoded: text), for: PasswordTests.pool))
  }
}

@Suite struct HashParameterTests {
  private func check(_ algorithm: String, _ set: (inout HashParameters) -> Void) throws {
    var parameters = HashParameters()
    parameters.algorithm = algorithm
    set(&parameters)
    _ = try PasswordAlgorithm(parameters)
  }

  @Test(arguments: [
    ("MD5", 0, 8_192), ("SHA1", 1, 8_192), ("SHA256", 1, 8_192),
    ("SHA512", 1, 8_192), ("PBKDF_SHA1", 1, 2_000_000), ("PBKDF2_SHA256", 1, 2_000_000),
    ("PBKDF2_SHA512", 1, 2_000_000),
  ])
  func `rounds outside the allowed range are refused`(algorithm: String, least: Int, most: Int)
    throws
  {
    for rounds in [least, most] { try check(algorithm) { $0.rounds = rounds } }
    for rounds in [least - 1, most + 1, Int.max, Int.min] {
      #expect(throws: HashParameterError.outOfRange("rounds", least...most)) {
        try check(algorithm) { $0.rounds = rounds }
      }
    }
  }

  @Test(arguments: ["HMAC_SHA256", "HMAC_SHA512", "HMAC_SHA1", "HMAC_MD5", "SCRYPT"])
  func `a missing or overlong signer key is refused`(algorithm: String) throws {
    for key in [nil, []] as [[UInt8]?] {
      #expect(throws: HashParameterError.missing("signerKey")) {
        try check(algorithm) {
          ($0.signerKey, $0.rounds, $0.memoryCost) = (key, 8, 14)
        }
      }
    }
    #expect(throws: HashParameterError.tooLong("signerKey")) {
      try check(algorithm) {
        ($0.signerKey, $0.rounds, $0.memoryCost) = ([UInt8](repeating: 0, count: 1_025), 8, 14)
      }
    }
  }

  @Test func `scrypt parameters have limits`() throws {
    func scrypt(_ cost: Int?, _ blockSize: Int?, _ lanes: Int?) throws {
      try check("STANDARD_SCRYPT") {
        ($0.cpuMemCost, $0.blockSize, $0.parallelization) = (cost, blockSize, lanes)
      }
    }
    try scrypt(262_144, 8, 1)
    #expect(throws: HashParameterError.tooExpensive) { try scrypt(524_288, 8, 1) }
    #expect(throws: HashParameterError.tooExpensive) { try scrypt(262_144, 8, 5) }
    #expect(throws: HashParameterError.tooExpensive) { try scrypt(1 << 30, 1 << 20, 1 << 20) }
    #expect(throws: HashParameterError.notPowerOfTwo("cpuMemCost")) { try scrypt(1_000, 8, 1) }
    #expect(throws: HashParameterError.missing("blockSize")) { try scrypt(1_024, nil, 1) }
    #expect(throws: HashParameterError.self) { try scrypt(1_024, 0, 1) }
    for (rounds, cost) in [(0, 14), (9, 14), (8, 0), (8, 15)] {
      #expect(throws: HashParameterError.self) {
        try check("SCRYPT") { ($0.signerKey, $0.rounds, $0.memoryCost) = ([1], rounds, cost) }
      }
    }
  }

  @Test func `Argon2 parameters have limits`() throws {
    func argon2(_ set: (inout Argon2) -> Void) throws {
      try check("ARGON2") {
        var argon2 = Argon2(kind: .id, version: 19, memory: 65_536, passes: 16, lanes: 16)
        set(&argon2)
        $0.argon2 = argon2
      }
    }
    try argon2 { _ in }
    try argon2 { ($0.memory, $0.passes) = (262_144, 4) }
    #expect(throws: HashParameterError.tooExpensive) { try argon2 { $0.memory = 65_537 } }
    #expect(throws: HashParameterError.self) { try argon2 { $0.memory = 262_145 } }
    #expect(throws: HashParameterError.self) { try argon2 { $0.memory = 127 } }
    #expect(throws: HashParameterError.self) { try argon2 { $0.passes = 17 } }
    #expect(throws: HashParameterError.self) { try argon2 { $0.passes = 0 } }
    #expect(throws: HashParameterError.self) { try argon2 { $0.lanes = 17 } }
    #expect(throws: HashParameterError.self) { try argon2 { $0.version = 17 } }
    #expect(throws: HashParameterError.missing("argon2Parameters")) { try check("ARGON2") { _ in } }
  }

  @Test func `an unknown algorithm is refused`() throws {
    #expect(throws: HashParameterError.unknownAlgorithm) { try check("ROT13") { _ in } }
    #expect(try PasswordAlgorithm(HashParameters()) == .selfDescribing)
  }

  /// All bytes of a derived hash are possible, but text of this length is another form of one.
  @Test func `text isn't a derived hash`() throws {
    let texts = [
      "pbkdf2_sha256$260000$salt$2xEC+ixf3L2lw2xEC+ixf3L2lw2xEC+ixf3L2lw2xECA=",
      "2xEC+ixf3L2lw2xEC+ixfw", "00112233445566778899aabbccddeeff",
      "2xEC+ixf3L2lw2xEC+ixf3L2lw2xEC+ixf3\nL2lw2xECA=",
    ]
    let algorithms: [PasswordAlgorithm] = [
      .pbkdf2(.sha1, rounds: 1), .pbkdf2(.sha256, rounds: 1), .pbkdf2(.sha512, rounds: 1),
      .scrypt(cost: 1_024, blockSize: 8, parallelization: 1),
      .argon2(Argon2(kind: .id, version: 19, memory: 64, passes: 1, lanes: 1)),
      .digest(.md5, rounds: 1, order: .saltFirst), .digest(.sha512, rounds: 1, order: .saltFirst),
      .hmac(.sha256, key: [1], order: .saltFirst), .bcrypt, .selfDescribing,
      .firebaseScrypt(signerKey: [1, 2], saltSeparator: [], rounds: 8, memoryCost: 14),
    ]
    for algorithm in algorithms {
      for text in texts {
        let bytes = Array(text.utf8)
        // The hexadecimal text of an MD5 digest is one of its forms.
        if case .digest(.md5, _, _) = algorithm, bytes.count == 32 { continue }
        #expect(throws: ImportedHashError.malformed, "\(algorithm) \(text)") {
          try PasswordHash(bytes, salt: Array("saltsalt".utf8), by: algorithm)
        }
      }
    }
  }

  @Test func `a hash must have its algorithm's length`() throws {
    let short = [UInt8](repeating: 7, count: 8)
    for algorithm in [
      PasswordAlgorithm.digest(.sha256, rounds: 1, order: .saltFirst),
      .hmac(.sha1, key: [1], order: .saltFirst), .bcrypt,
      .firebaseScrypt(signerKey: [1, 2], saltSeparator: [], rounds: 8, memoryCost: 14),
    ] {
      #expect(throws: ImportedHashError.malformed) {
        try PasswordHash(short, salt: [], by: algorithm)
      }
      #expect(throws: ImportedHashError.empty) { try PasswordHash([], salt: [], by: algorithm) }
    }
    #expect(throws: ImportedHashError.salt) {
      try PasswordHash(
        short, salt: [1],
        by: .argon2(Argon2(kind: .id, version: 19, memory: 64, passes: 1, lanes: 1)))
    }
  }
}
