public import Crypto

/// The parameters of one-time codes: the shared secret, the hash function, the code length, and the
/// time step.
///
/// Source: RFC 4226 (HOTP) and RFC 6238 (TOTP). Time is always a parameter; this type never reads a
/// clock.
public struct OneTimePassword: Sendable {
  /// The shared secret; RFC 4226 section 4 requires at least 16 bytes and recommends 20.
  public let secret: Secret
  /// The hash function of the HMAC; authenticator apps expect SHA-1.
  public let function: HashFunction
  /// The number of digits in a code, 6 to 8.
  public let digits: Int
  /// The length of a time step in seconds, 1 to 300; 30 by default.
  public let period: Int64

  /// Creates a generator; nil when `digits` or `period` is out of range or the secret is empty.
  public init?(
    secret: Secret, function: HashFunction = .sha1, digits: Int = 6, period: Int64 = 30
  ) {
    guard (6...8).contains(digits), (1...300).contains(period), !secret.isEmpty else { return nil }
    self.secret = secret
    self.function = function
    self.digits = digits
    self.period = period
  }

  /// Returns the time step of a time in seconds since 1970: floor(time / period), RFC 6238 section
  /// 4.2.
  public func step(at seconds: Int64) -> Int64 {
    let (quotient, rest) = seconds.quotientAndRemainder(dividingBy: period)
    return rest < 0 ? quotient - 1 : quotient
  }

  /// Returns the code of a counter or time step (RFC 4226 section 5.3), with leading zeros.
  ///
  /// - Throws: `CryptoError.failed` when the hash function isn't available.
  public func code(step: Int64) throws(CryptoError) -> String {
    var generator = try generator()
    let text = String(try number(step: step, with: &generator))
    return String(repeating: "0", count: digits - text.utf8.count) + text
  }

  /// Computes many codes for one secret in the same memory.
  struct Generator: ~Copyable {
    fileprivate var hmac: HMAC
    fileprivate var message = [UInt8](repeating: 0, count: 8)
    fileprivate var code: [UInt8]
  }

  func generator() throws(CryptoError) -> Generator {
    Generator(
      hmac: try HMAC(function, key: secret),
      code: [UInt8](repeating: 0, count: function.digestLength))
  }

  /// Returns the code as a number below 10^digits.
  func number(
    step: Int64, with generator: inout Generator
  ) throws(CryptoError) -> UInt32 {
    for index in 0..<8 {
      generator.message[index] = UInt8(truncatingIfNeeded: step >> Int64(56 - 8 * index))
    }
    try generator.hmac.write(codeFor: generator.message, to: &generator.code)
    let offset = Int(generator.code[generator.code.count - 1] & 0x0F)
    let truncated =
      UInt32(generator.code[offset] & 0x7F) << 24 | UInt32(generator.code[offset + 1]) << 16
      | UInt32(generator.code[offset + 2]) << 8 | UInt32(generator.code[offset + 3])
    return truncated % modulus
  }

  private var modulus: UInt32 { digits == 6 ? 1_000_000 : digits == 7 ? 10_000_000 : 100_000_000 }

  /// Returns the number of a typed code; nil unless it's exactly `digits` digits.
  func number(_ code: TypedCode) -> UInt32? {
    guard code.isDigits(digits) else { return nil }
    return code.text.utf8.reduce(0 as UInt32) { $0 * 10 + UInt32($1 - UInt8(ascii: "0")) }
  }
}
