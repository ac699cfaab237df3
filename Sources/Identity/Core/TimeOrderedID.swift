import Crypto

/// Generates IDs that sort by creation time: 8 bytes of microseconds followed by 8 random bytes.
///
/// New rows are stored next to one another, so a transaction with many rows writes few pages.
enum TimeOrderedID {
  static let length = 16

  static func make(at now: Instant, random: RandomSource) -> [UInt8] {
    Array(first(at: now).prefix(8) + random.bytes(8))
  }

  /// Returns an ID that sorts before every ID generated at or after a time.
  static func first(at moment: Instant) -> [UInt8] {
    let bytes = stride(from: Int64(56), through: 0, by: -8).map { shift in
      UInt8(truncatingIfNeeded: moment.microseconds >> shift)
    }
    return bytes + [UInt8](repeating: 0, count: 8)
  }
}
