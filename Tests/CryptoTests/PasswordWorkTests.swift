import Dispatch
import Testing

@testable import Crypto

struct PasswordWorkTests {
  /// The work of the most costly hash of each algorithm that can be imported.
  private static let most: [String: Int] = [
    "HMAC_MD5": 1, "HMAC_SHA1": 1, "HMAC_SHA256": 1, "HMAC_SHA512": 1,
    "MD5": 16_384, "SHA1": 16_384, "SHA256": 16_384, "SHA512": 16_384,
    "PBKDF_SHA1": 2_000_000, "PBKDF2_SHA256": 2_000_000, "PBKDF2_SHA512": 2_000_000,
    "SCRYPT": 65_536, "STANDARD_SCRYPT": 4_194_304, "BCRYPT": 1_474_560, "ARGON2": 1_048_576,
  ]

  /// The most costly parameters that the limits allow.
  private static var parameters: HashParameters {
    var parameters = HashParameters()
    parameters.signerKey = [1]
    parameters.rounds = nil
    (parameters.cpuMemCost, parameters.blockSize, parameters.parallelization) = (262_144, 8, 4)
    parameters.memoryCost = 14
    parameters.argon2 = Argon2(kind: .id, version: 19, memory: 262_144, passes: 4, lanes: 16)
    return parameters
  }

  @Test(arguments: most.keys.sorted())
  func `the work of each algorithm has an upper limit`(algorithm: String) throws {
    var parameters = Self.parameters
    parameters.algorithm = algorithm
    switch algorithm {
    case "PBKDF_SHA1", "PBKDF2_SHA256", "PBKDF2_SHA512": parameters.rounds = 2_000_000
    case "SCRYPT": parameters.rounds = 8
    default: parameters.rounds = 8_192
    }
    let hash: PasswordHash =
      if algorithm == "BCRYPT" {
        try PasswordHash(
          Array("$2b$14$abcdefghijklmnopqrstuughE8Ev8uGFaUgY2cNEySvxngrb/Jzdm".utf8), salt: [],
          by: .bcrypt)
      } else {
        try Self.hash(by: PasswordAlgorithm(parameters))
      }
    #expect(hash.work == Self.most[algorithm])
  }

  /// A hash of the shortest length that the algorithm has.
  private static func hash(by algorithm: PasswordAlgorithm) throws -> PasswordHash {
    let count =
      switch algorithm {
      case .hmac(let digest, _, _), .digest(let digest, _, _), .pbkdf2(let digest, _): digest.length
      case .firebaseScrypt(let key, _, _, _): key.count
      case .scrypt, .bcrypt, .argon2, .selfDescribing: 32
      }
    return try PasswordHash(
      [UInt8](repeating: 7, count: count), salt: [UInt8](repeating: 1, count: 8), by: algorithm)
  }

  @Test func `each block of a PBKDF2 hash takes all rounds`() throws {
    let hash = try PasswordHash(
      [UInt8](repeating: 7, count: 65), salt: [1], by: .pbkdf2(.sha256, rounds: 100_000))
    #expect(hash.work == 300_000)
  }

  @Test func `a new hash is ordinary, and bcrypt from 12 on is costly`() {
    func bcrypt(_ cost: String) -> PasswordHash {
      PasswordHash(
        encoded: "$2b$\(cost)$abcdefghijklmnopqrstuughE8Ev8uGFaUgY2cNEySvxngrb/Jzdm")
    }
    let new = PasswordHash.Cost.current.work
    #expect(new == 38_912)
    #expect(bcrypt("11").work + new <= PasswordHash.ordinaryWork)
    #expect(bcrypt("12").work + new > PasswordHash.ordinaryWork)
  }

  @Test func `costly hashes of one pool delay no ordinary hash of any pool`() async throws {
    let reached = AsyncStream<Void>.makeStream()
    let door = DispatchSemaphore(value: 0)
    // A wrong password is hashed at the end, with a salt that waits at the door.
    let random = RandomSource { count in
      reached.continuation.yield()
      door.wait()
      return [UInt8](repeating: 7, count: count)
    }
    let hasher = PasswordHasher(width: 1, cost: PasswordTests.cheap, random: random)
    let ordinary = try await PasswordHasher(width: 1, cost: PasswordTests.cheap)
      .hash(Secret("abc"), for: PasswordTests.pool)
    let costly = try PasswordHash(
      [UInt8](repeating: 7, count: 32), salt: [1], by: .pbkdf2(.sha256, rounds: 400_000))
    let (one, other) = (PasswordHasher.Pool(1), PasswordHasher.Pool(2))
    async let flood = withTaskGroup(of: Bool?.self) { group in
      for _ in 0..<20 {
        group.addTask { try? await hasher.matches(Secret("x"), costly, for: one) }
      }
      return await group.reduce(into: [Bool?]()) { $0.append($1) }
    }
    var iterator = reached.stream.makeAsyncIterator()
    _ = await iterator.next()
    // One runs, and twelve wait: three quarters of the 16 places.
    while hasher.load.rejections < 7 { await Task.yield() }
    #expect((hasher.load.running, hasher.load.waiting) == (1, 12))
    for pool in [one, other] {
      #expect(try await hasher.matches(Secret("abc"), ordinary, for: pool))
    }
    #expect((hasher.load.running, hasher.load.waiting) == (1, 12))
    for _ in 0..<13 { door.signal() }
    let outcomes = await flood
    #expect(outcomes.count { $0 == nil } == 7)
    #expect(outcomes.count { $0 == false } == 13)
  }
}
