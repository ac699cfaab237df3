import OTP
import Testing

@testable import Identity

@Suite struct WindowRecommendationTests {
  struct Case: CustomTestStringConvertible {
    let testDescription: String
    let population: @Sendable () -> SimulatedPopulation
    let expected: Int
  }

  static let cases = [
    Case(testDescription: "normal drift", population: SimulatedPopulation.normal, expected: 1),
    Case(testDescription: "two groups", population: SimulatedPopulation.twoGroups, expected: 3),
    Case(
      testDescription: "one phone seven intervals off",
      population: SimulatedPopulation.onePhoneOff, expected: 1),
    Case(
      testDescription: "an attacker who guesses", population: SimulatedPopulation.attacked,
      expected: 1),
  ]

  private func found(
    _ population: SimulatedPopulation, window: Int = 1, goal: SignInGoal = .standard
  ) throws -> WindowRecommendation {
    let histogram = population.histogram(window: window)
    guard case .window(let found) = WindowRecommendation.find(in: histogram, goal: goal) else {
      throw NotFound()
    }
    return found
  }

  private struct NotFound: Error {}

  @Test(arguments: cases)
  func `simulated populations get the expected window`(_ example: Case) throws {
    for window in [0, 1, 5, 10] {
      let found = try found(example.population(), window: window)
      #expect(found.window.adjacentIntervals == example.expected)
      #expect(found.kept * 10_000 >= found.total * 9_990)
      if let smaller = found.keptBySmaller { #expect(smaller * 10_000 < found.total * 9_990) }
    }
  }

  @Test(arguments: cases, 0...10)
  func `one percent of hostile accounts at any distance changes nothing`(
    _ example: Case, distance: Int
  ) throws {
    for sign in [-1, 1] {
      var population = example.population()
      population.addHostile(population.users.count / 100, at: sign * distance)
      #expect(try found(population).window.adjacentIntervals == example.expected)
    }
  }

  @Test func `users who are set aside are reported with the window that they need`() throws {
    let found = try found(.onePhoneOff())
    #expect(found.setAside?.users == 1)
    #expect(found.setAside?.beyond.adjacentIntervals == 1)
    #expect(found.setAside?.needing.adjacentIntervals == 7)
    #expect(found.notHelped == 1)
    #expect(try self.found(.normal()).setAside == nil)
  }

  @Test func `many sign-ins on one day count once`() throws {
    var population = SimulatedPopulation.normal()
    population.addHostile(5, at: 9)
    let histogram = population.histogram(window: 1)
    let days = population.users.reduce(0) { $0 + $1.count }
    #expect(histogram.userDays.reduce(0, +) == days)
    #expect(try found(population).window.adjacentIntervals == 1)
  }

  @Test func `a lower goal is reached by a smaller window`() throws {
    var population = SimulatedPopulation()
    population.add(960, clock: 0)
    population.add(40, clock: 2)
    let least = try #require(SignInGoal(basisPoints: 9_500))
    #expect(try found(population, goal: least).window.adjacentIntervals == 0)
    #expect(try found(population).window.adjacentIntervals == 2)
    #expect(SignInGoal(basisPoints: 8_999) == nil && SignInGoal(basisPoints: 10_001) == nil)
  }

  @Test func `nothing is recommended below 30 user-days`() {
    var histogram = OffsetHistogram(days: 30)
    #expect(WindowRecommendation.find(in: histogram) == .notEnoughData(userDays: 0))
    histogram = OffsetHistogram(
      days: 30, accepted: [], confirmed: [], unconfirmed: [],
      userDays: [29, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0], users: [29, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
    #expect(WindowRecommendation.find(in: histogram) == .notEnoughData(userDays: 29))
  }

  @Test func `nothing is recommended from the user-days of deleted users`() {
    let histogram = OffsetHistogram(
      days: 30, accepted: [], confirmed: [], unconfirmed: [],
      userDays: [0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0], users: Array(repeating: 0, count: 11))
    #expect(WindowRecommendation.find(in: histogram) == .notEnoughData(userDays: 0))
  }

  @Test func `no one is set aside among fewer than 30 users`() throws {
    var population = SimulatedPopulation()
    population.add(19, clock: 0)
    population.add(1, clock: 4)
    let found = try found(population)
    #expect(found.window.adjacentIntervals == 4 && found.setAside == nil)
  }
}

@Suite struct WindowEvidenceTests {
  @Test(arguments: WindowRecommendationTests.cases)
  func `every count equals a recount of the codes`(_ example: WindowRecommendationTests.Case) {
    let population = example.population()
    for window in [0, 1, 5] {
      let evidence = WindowEvidence(population.histogram(window: window))
      let codes = population.users.flatMap { $0.values.joined() }
      #expect(evidence.codes == codes.count && evidence.users == population.users.count)
      for effect in evidence.effects {
        let side = effect.window.adjacentIntervals
        #expect(effect.rejected == codes.count { abs($0) > side })
        #expect(effect.lost == codes.count { abs($0) <= window && abs($0) > side })
        #expect(effect.recovered == codes.count { abs($0) > window && abs($0) <= side })
        #expect(
          effect.users == population.users.count { $0.values.joined().contains { abs($0) > side } })
      }
      #expect(evidence.unconfirmed == population.guesses.count { abs($0) > window })
    }
  }

  @Test func `a change of the window compares what both reject`() throws {
    let evidence = WindowEvidence(SimulatedPopulation.twoGroups().histogram(window: 1))
    let (one, three) = (
      try #require(Window(adjacentIntervals: 1)), try #require(Window(adjacentIntervals: 3))
    )
    let wider = evidence.change(from: one, to: three)
    #expect(wider.codes == evidence.effect(of: one).rejected && wider.users == 300)
    #expect(wider.stillRejected == 0 && wider.stillAffected == 0)
    let narrower = evidence.change(from: three, to: one)
    #expect(narrower.codes == -wider.codes && narrower.users == -300)
    #expect(narrower.stillAffected == 300)
  }

  @Test func `fewer than 30 accepted codes are too few`() {
    var accepted = Array(repeating: 0, count: 21)
    accepted[10] = 29
    var histogram = OffsetHistogram(
      days: 30, accepted: accepted, confirmed: accepted, unconfirmed: accepted,
      userDays: Array(repeating: 0, count: 11), users: Array(repeating: 0, count: 11))
    #expect(!WindowEvidence(histogram).isEnough)
    accepted[10] = 30
    histogram = OffsetHistogram(
      days: 30, accepted: accepted, confirmed: accepted, unconfirmed: accepted,
      userDays: Array(repeating: 0, count: 11), users: Array(repeating: 0, count: 11))
    #expect(WindowEvidence(histogram).isEnough)
  }
}
