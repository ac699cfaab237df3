/// A random number generator that is determined by its seed (SplitMix64).
struct Seeded: RandomNumberGenerator {
  private var state: UInt64

  init(_ seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }

  /// Returns true with the given probability in percent.
  mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }

  mutating func below(_ count: Int) -> Int { Int.random(in: 0..<count, using: &self) }

  /// Returns a random element, or nil if there are none.
  mutating func pick<T>(_ some: some Collection<T>) -> T? { some.randomElement(using: &self) }

  /// Returns a random element, chosen by weight.
  mutating func pick<T>(weighted some: [(T, Int)]) -> T? {
    var rest = below(some.reduce(0) { $0 + $1.1 })
    for (one, weight) in some {
      rest -= weight
      if rest < 0 { return one }
    }
    return some.last?.0
  }
}
