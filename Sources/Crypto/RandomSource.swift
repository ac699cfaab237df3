import CCrypto

/// A source of random bytes.
///
/// Tests use a deterministic source.
public struct RandomSource: Sendable {
  private let fill: @Sendable (Int) -> [UInt8]

  /// Creates a source from a function that returns `count` bytes.
  public init(_ fill: @escaping @Sendable (_ count: Int) -> [UInt8]) { self.fill = fill }

  /// libcrypto's generator, seeded by the kernel.
  ///
  /// It ends the process when no entropy is available.
  public static let system = RandomSource { count in
    var bytes = [UInt8](repeating: 0, count: count)
    let result = unsafe bytes.withUnsafeMutableBufferPointer {
      unsafe RAND_bytes($0.baseAddress, Int32($0.count))
    }
    precondition(result == 1, "no entropy for random bytes")
    return bytes
  }

  /// Returns `count` random bytes.
  public func bytes(_ count: Int) -> [UInt8] { fill(count) }

  /// Returns a token of `count` random bytes as base64url text; 16 bytes are 128 bits.
  public func token(bytes count: Int) -> String { Base64URL.encode(fill(count)) }

  /// Returns a random (version 4) UUID in lowercase (RFC 9562 section 5.4).
  public func uuid() -> String {
    var bytes = fill(16)
    bytes[6] = (bytes[6] & 0x0F) | 0x40
    bytes[8] = (bytes[8] & 0x3F) | 0x80
    let hex = Hex.encode(bytes)
    let parts = [0..<8, 8..<12, 12..<16, 16..<20, 20..<32]
    return parts.map { range in
      String(hex.dropFirst(range.lowerBound).prefix(range.count))
    }.joined(separator: "-")
  }

  /// Returns `count` characters chosen uniformly from `alphabet`, which has 2 to 256 characters.
  public func text(_ count: Int, from alphabet: String) -> String {
    let letters = Array(alphabet)
    let limit = 256 - 256 % letters.count
    var result = ""
    while result.count < count {
      for byte in fill(count * 2) where Int(byte) < limit && result.count < count {
        result.append(letters[Int(byte) % letters.count])
      }
    }
    return result
  }
}
