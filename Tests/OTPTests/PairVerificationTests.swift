import Crypto
import Testing

@testable import OTP

@Suite struct PairVerificationTests {
  private static let now: Int64 = 1_800_000_015

  private let password: OneTimePassword

  init() throws {
    password = try #require(OneTimePassword(secret: Secret("12345678901234567890")))
  }

  private func find(
    _ first: Int, _ second: Int, after used: UsedSteps = UsedSteps()
  ) throws -> PairVerification {
    let now = password.step(at: Self.now)
    return try password.find(
      TypedCode(password.code(step: now + Int64(first))),
      then: TypedCode(password.code(step: now + Int64(second))),
      at: Self.now, after: used)
  }

  @Test func `two consecutive codes are found up to 40 steps away`() throws {
    let now = password.step(at: Self.now)
    for offset in -39...40 {
      let expected = PairVerification.found(step: now + Int64(offset), offset: offset)
      #expect(try find(offset - 1, offset) == expected)
    }
    #expect(try find(40, 41) == .refused)
    #expect(try find(-41, -40) == .refused)
    #expect(try find(-42, -41) == .refused)
  }

  @Test func `other codes than two consecutive ones aren't found`() throws {
    #expect(try find(3, 3) == .refused)
    #expect(try find(4, 3) == .refused)
    #expect(try find(3, 5) == .refused)
    #expect(try find(100, 3) == .refused)
    #expect(try find(3, 100) == .refused)
  }

  @Test func `V1: both steps of a resynchronization come after the last accepted one`() throws {
    let now = password.step(at: Self.now)
    #expect(try find(3, 4, after: UsedSteps(last: now + 9)) == .old(step: now + 4, wait: 6))
    #expect(try find(3, 4, after: UsedSteps(last: now + 4)) == .old(step: now + 4, wait: 1))
    #expect(try find(3, 4, after: UsedSteps(last: now + 3)) == .old(step: now + 4, wait: 0))
    let expected = PairVerification.found(step: now + 4, offset: 4)
    #expect(try find(3, 4, after: UsedSteps(last: now + 2)) == expected)
    // Steps before the last accepted one in which no code was accepted: they may have been seen.
    let seen = UsedSteps(last: now, unused: "0-\(now - 21)")
    #expect(try find(-30, -29, after: seen) == .old(step: now - 29, wait: 30))
    #expect(try find(1, 2, after: seen).isFound)
    // Steps that no device can show yet were accepted while the server's clock was ahead.
    let ahead = UsedSteps(last: now + 1_000, unused: "\(now + 1)-\(now + 979)")
    #expect(try find(1, 2, after: ahead).isFound)
    #expect(try find(0, 1, after: ahead) == .old(step: now + 1, wait: 0))
    #expect(try find(-30, -29, after: ahead) == .old(step: now - 29, wait: 30))
  }

  @Test(arguments: [("12345", "123456"), ("123456", ""), ("abcdef", "123456"), ("1234567", "1")])
  func `text that isn't six digits is refused`(first: String, second: String) throws {
    let found = try password.find(
      TypedCode(first), then: TypedCode(second), at: Self.now, after: UsedSteps())
    #expect(found == .refused)
  }

  @Test func `codes are read as people type them`() throws {
    let now = password.step(at: Self.now)
    let codes = try [7, 8].map { try password.code(step: now + $0) }
    let found = try password.find(
      TypedCode(" \(codes[0].prefix(3)) \(codes[0].suffix(3))"),
      then: TypedCode("\(codes[1].prefix(3))-\(codes[1].suffix(3))"), at: Self.now,
      after: UsedSteps())
    #expect(found == .found(step: now + 8, offset: 8))
  }

  @Test func `V2: equal neighbors are a pair`() throws {
    // With this secret, which was found by search, steps 100 and 101 have the same code.
    let password = try #require(OneTimePassword(secret: Secret("seed 1741748")))
    let code = TypedCode(try password.code(step: 100))
    let found = try password.find(code, then: code, at: 3_000, after: UsedSteps())
    #expect(found == .found(step: 101, offset: 1))
  }

  @Test func `V2: codes that are consecutive in two places are refused`() {
    #expect(OneTimePassword.index(of: 1, then: 2, in: [0, 1, 2, 3]) == 2)
    #expect(OneTimePassword.index(of: 1, then: 2, in: [1, 2, 3, 1, 2]) == nil)
    #expect(OneTimePassword.index(of: 1, then: 1, in: [1, 1, 1]) == nil)
    #expect(OneTimePassword.index(of: 2, then: 1, in: [1, 2, 3]) == nil)
  }
}

extension PairVerification {
  fileprivate var isFound: Bool { if case .found = self { true } else { false } }
}
