import Crypto
import Identity
import Synchronization

/// A clock that only advances when a test advances it.
final class FixedClock: Sendable {
  /// 2026-03-01T12:00:00Z, the start of a 30-second time step.
  static let noon = Instant(seconds: 1_772_366_400)

  private let time = Mutex(noon)

  var now: Instant { time.withLock { $0 } }
  var wall: WallClock { WallClock { self.now } }

  func advance(_ seconds: Int64) { time.withLock { $0 = $0.advanced(bySeconds: seconds) } }

  func advance(microseconds: Int64) {
    time.withLock { $0 = Instant(microseconds: $0.microseconds + microseconds) }
  }
}

/// A source of the same random bytes in each run, so that no test fails once in a million runs.
final class Dice: Sendable {
  private let state: Mutex<UInt64>

  init(seed: UInt64) { state = Mutex(seed) }

  var source: RandomSource { RandomSource { self.bytes($0) } }

  /// SplitMix64.
  private func bytes(_ count: Int) -> [UInt8] {
    state.withLock { state in
      var bytes: [UInt8] = []
      while bytes.count < count {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        word ^= word >> 31
        for shift in stride(from: UInt64(0), to: 64, by: 8) {
          bytes.append(UInt8(truncatingIfNeeded: word >> shift))
        }
      }
      return Array(bytes.prefix(count))
    }
  }
}
