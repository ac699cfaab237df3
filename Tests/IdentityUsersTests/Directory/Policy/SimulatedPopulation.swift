@testable import Identity

/// Users with device clocks whose codes are simulated, the same in every run.
struct SimulatedPopulation {
  /// The distances of the correct codes of each user, by day.
  private(set) var users: [[Int: [Int]]] = []
  /// The near misses of an attacker, by distance.
  private(set) var guesses: [Int] = []
  private var state: UInt64 = 0x9E37_79B9_7F4A_7C15

  static let days = 30

  /// Returns a number below a bound.
  mutating func random(below bound: Int) -> Int {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return Int((state >> 33) % UInt64(bound))
  }

  /// Adds users who sign in on about one of four days, whose clocks are off by a number of intervals
  /// and who enter a code of 20 after its interval has ended.
  mutating func add(_ count: Int, clock: Int, delays: Bool = false) {
    for _ in 0..<count {
      var codes: [Int: [Int]] = [:]
      for day in 0..<Self.days where random(below: 4) == 0 || day == users.count % Self.days {
        codes[day] = (0...random(below: 3)).map { _ in
          clock - (delays && clock >= 0 && random(below: 20) == 0 ? 1 : 0)
        }
      }
      users.append(codes)
    }
  }

  /// Adds users who enter many codes every day, all at one distance.
  mutating func addHostile(_ count: Int, at distance: Int) {
    for _ in 0..<count {
      let codes = Array(repeating: distance, count: 20)
      users.append(Dictionary(uniqueKeysWithValues: (0..<Self.days).map { ($0, codes) }))
    }
  }

  /// Adds random guesses that happen to be near misses.
  mutating func addGuesses(_ count: Int) {
    for _ in 0..<count { guesses.append(random(below: 21) - 10) }
  }

  /// Users whose clocks are right, or off by one interval at most.
  static func normal() -> SimulatedPopulation {
    var population = SimulatedPopulation()
    population.add(850, clock: 0, delays: true)
    population.add(90, clock: -1)
    population.add(60, clock: 1, delays: true)
    return population
  }

  /// Two groups, one of which has clocks that are three intervals slow.
  static func twoGroups() -> SimulatedPopulation {
    var population = SimulatedPopulation()
    population.add(700, clock: 0, delays: true)
    population.add(300, clock: -3)
    return population
  }

  /// The normal users, and one phone that's seven intervals slow.
  static func onePhoneOff() -> SimulatedPopulation {
    var population = normal()
    population.add(1, clock: -7)
    return population
  }

  /// The normal users, and an attacker who guesses.
  static func attacked() -> SimulatedPopulation {
    var population = normal()
    population.addGuesses(5_000)
    return population
  }

  /// The counts while a window was in effect, made by looking at every code.
  func histogram(window: Int) -> OffsetHistogram {
    var (accepted, confirmed) = (Array(repeating: 0, count: 21), Array(repeating: 0, count: 21))
    var unconfirmed = Array(repeating: 0, count: 21)
    var (userDays, reaches) = (Array(repeating: 0, count: 11), Array(repeating: 0, count: 11))
    for codes in users {
      for distances in codes.values {
        for distance in distances {
          if abs(distance) <= window {
            accepted[distance + 10] += 1
          } else {
            confirmed[distance + 10] += 1
          }
        }
        userDays[distances.map(abs).max() ?? 0] += 1
      }
      let reach = codes.values.joined().map(abs).max() ?? 0
      for side in 0...reach { reaches[side] += 1 }
    }
    for distance in guesses where abs(distance) > window { unconfirmed[distance + 10] += 1 }
    return OffsetHistogram(
      days: Self.days, accepted: accepted, confirmed: confirmed, unconfirmed: unconfirmed,
      userDays: userDays, users: reaches)
  }
}
