import Crypto
import OTP
import Testing

@Suite struct OneTimePasswordTests {
  static let ascii = "12345678901234567890"

  /// RFC 4226, appendix D.
  @Test(arguments: [
    (0, "755224"), (1, "287082"), (2, "359152"), (3, "969429"), (4, "338314"),
    (5, "254676"), (6, "287922"), (7, "162583"), (8, "399871"), (9, "520489"),
  ])
  func `HOTP matches the test values of RFC 4226 appendix D`(counter: Int64, code: String) throws {
    let password = try #require(OneTimePassword(secret: Secret(Self.ascii)))
    #expect(try password.code(step: counter) == code)
  }

  struct Vector: Sendable, CustomTestStringConvertible {
    let time: Int64
    let function: HashFunction
    let code: String
    var testDescription: String { "\(function.rawValue) at \(time)" }
  }

  /// RFC 6238, appendix B.
  static let vectors: [Vector] = [
    (59, "94287082", "46119246", "90693936"),
    (1_111_111_109, "07081804", "68084774", "25091201"),
    (1_111_111_111, "14050471", "67062674", "99943326"),
    (1_234_567_890, "89005924", "91819424", "93441116"),
    (2_000_000_000, "69279037", "90698825", "38618901"),
    (20_000_000_000, "65353130", "77737706", "47863826"),
  ].flatMap { time, sha1, sha256, sha512 in
    [
      Vector(time: time, function: .sha1, code: sha1),
      Vector(time: time, function: .sha256, code: sha256),
      Vector(time: time, function: .sha512, code: sha512),
    ]
  }

  @Test(arguments: vectors)
  func `TOTP matches the test vectors of RFC 6238 appendix B`(vector: Vector) throws {
    let length = vector.function.digestLength
    let seed = String(String(repeating: Self.ascii, count: 4).prefix(length))
    let password = try #require(
      OneTimePassword(secret: Secret(seed), function: vector.function, digits: 8))
    #expect(try password.code(step: password.step(at: vector.time)) == vector.code)
  }

  @Test(arguments: vectors.filter { $0.function == .sha1 })
  func `six- and seven-digit codes are the last digits of eight`(vector: Vector) throws {
    for digits in 6...7 {
      let password = try #require(OneTimePassword(secret: Secret(Self.ascii), digits: digits))
      let code = try password.code(step: password.step(at: vector.time))
      #expect(code == String(vector.code.suffix(digits)))
    }
  }

  @Test func `V8: digits, period, and secret out of range are refused`() {
    #expect(OneTimePassword(secret: Secret("x"), digits: 5) == nil)
    #expect(OneTimePassword(secret: Secret("x"), digits: 9) == nil)
    #expect(OneTimePassword(secret: Secret("x"), period: 0) == nil)
    #expect(OneTimePassword(secret: Secret("")) == nil)
  }

  @Test func `steps before 1970 are negative`() throws {
    let password = try #require(OneTimePassword(secret: Secret("x")))
    #expect(password.step(at: -1) == -1)
    #expect(password.step(at: -30) == -1)
    #expect(password.step(at: 0) == 0)
    #expect(password.step(at: 29) == 0)
  }
}
