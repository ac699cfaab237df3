import Crypto

/// Ids that sort by the time they were made: 8 bytes of microseconds, then 8 random ones.
///
/// New rows then lie beside each other in their table, so that a commit of many writes few pages.
enum TimeOrderedID {
  static let length = 16

  static func make(at now: Instant, random: RandomSource) -> [UInt8] {
    first(at: now).prefix(8) + random.bytes(8)
  }

  /// An id that sorts before every id that is made at a moment or later.
  static func first(at moment: Instant) -> [UInt8] {
    let bytes = stride(from: Int64(56), through: 0, by: -8).map { shift in
      UInt8(truncatingIfNeeded: moment.microseconds >> shift)
    }
    return bytes + [UInt8](repeating: 0, count: 8)
  }
}
