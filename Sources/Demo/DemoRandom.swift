import Crypto
import Identity
import Synchronization

/// A reproducible random number generator: SplitMix64, by Steele, Lea, and Flood.
final class DemoRandom: Sendable {
  private let state: Mutex<UInt64>

  init(seed: UInt64) { state = Mutex(seed) }

  func next() -> UInt64 {
    state.withLock { state in
      state &+= 0x9E37_79B9_7F4A_7C15
      var mixed = state
      mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
      mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
      return mixed ^ (mixed >> 31)
    }
  }

  /// Returns a number from 0 up to, but not including, `bound`.
  func below(_ bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }

  func number(_ range: ClosedRange<Int64>) -> Int64 {
    range.lowerBound + Int64(below(Int(range.upperBound - range.lowerBound) + 1))
  }

  /// Returns true with a probability of `perMille` in 1,000.
  func happens(_ perMille: Int) -> Bool { below(1_000) < perMille }

  /// Returns one of several values, which must not be empty.
  func one<Value>(of values: [Value]) -> Value { values[below(values.count)] }

  func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 32) }
  }

  var source: RandomSource { RandomSource { self.bytes($0) } }
}

final class DemoClock: Sendable {
  private let moment: Mutex<Instant>

  init(_ moment: Instant) { self.moment = Mutex(moment) }

  var now: Instant { moment.withLock { $0 } }

  func set(_ moment: Instant) { self.moment.withLock { $0 = moment } }
}
