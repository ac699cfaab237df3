import Crypto
import Synchronization

/// Lots that fall the same for the same seed: SplitMix64, by Steele, Lea and Flood.
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

  /// A number from 0 up to, and without, `bound`.
  func below(_ bound: Int) -> Int { Int(next() % UInt64(max(bound, 1))) }

  /// A number of a range.
  func number(_ range: ClosedRange<Int64>) -> Int64 {
    range.lowerBound + Int64(below(Int(range.upperBound - range.lowerBound) + 1))
  }

  /// True in so many of a thousand cases.
  func happens(_ perMille: Int) -> Bool { below(1_000) < perMille }

  /// One of several, of which there is at least one.
  func one<Value>(of values: [Value]) -> Value { values[below(values.count)] }

  func bytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8(truncatingIfNeeded: next() >> 32) }
  }

  /// The lots as random bytes for the use cases.
  var source: RandomSource { RandomSource { self.bytes($0) } }
}

/// A clock that is moved.
final class DemoClock: Sendable {
  private let moment: Mutex<Instant>

  init(_ moment: Instant) { self.moment = Mutex(moment) }

  var now: Instant { moment.withLock { $0 } }

  func set(_ moment: Instant) { self.moment.withLock { $0 = moment } }
}
