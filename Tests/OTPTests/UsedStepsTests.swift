import OTP
import Testing

@Suite struct UsedStepsTests {
  @Test func `with a steady clock, every step up to the last accepted one is used`() {
    var used = UsedSteps()
    var model: Int64 = 0
    var random = SplitMix(state: 1)
    var now: Int64 = 59_000_000
    for _ in 0..<2_000 {
      now += Int64.random(in: 0...200, using: &random)
      let step = now + Int64.random(in: -10...10, using: &random)
      for near in (now - 10)...(now + 10) {
        #expect(used.contains(near) == (near <= model))
      }
      guard !used.contains(step) else { continue }
      used.accept(step, at: now, expected: now)
      model = max(model, step)
      #expect(used.last == model && used.endsWith(model))
    }
  }

  @Test func `the ranges between sign-ins of a day are kept, and no more than eight`() {
    var used = UsedSteps(last: 59_000_000)
    for day in 1...100 as ClosedRange<Int64> {
      let now = 59_000_000 + day * 2_880
      used.accept(now, at: now, expected: now)
      #expect((used.unusedText ?? "").split(separator: " ").count <= 2)
    }
    for hour in 1...100 as ClosedRange<Int64> {
      let now = 60_000_000 + hour * 120
      used.accept(now, at: now, expected: now)
      #expect((used.unusedText ?? "").split(separator: " ").count <= UsedSteps.most)
    }
    var often = UsedSteps(last: 59_000_000)
    often.accept(59_000_030, at: 59_000_030, expected: 59_000_030)
    #expect(often == UsedSteps(last: 59_000_030))
  }

  @Test func `V1: a step that was used while the clock was ahead stays used when it's ahead again`()
  {
    let (now, ahead) = (Int64(59_000_000), Int64(59_000_000 + 400 * 2_880))
    var used = UsedSteps()
    used.accept(now, at: now, expected: now)
    used.accept(ahead, at: ahead, expected: now + 1)
    #expect(used.contains(now) && used.contains(ahead) && !used.contains(now + 2))
    used.accept(now + 2, at: now + 2, expected: now + 2)
    #expect(used.contains(now + 2) && used.contains(ahead) && !used.contains(ahead + 1))
    #expect(used.unusedText == "0-\(now - 21) \(now + 3)-\(ahead - 21)")
  }

  /// The clock jumps by up to 400 days in both directions and drifts; the model is the set of
  /// accepted steps.
  @Test(arguments: 0..<300 as Range<UInt64>)
  func `V1: no step is accepted twice, whatever the clock did`(seed: UInt64) {
    var world = World(seed: seed)
    for _ in 0..<150 {
      world.move()
      for _ in 0..<Int.random(in: 0...3, using: &world.random) { world.enterCode() }
      world.enterAcceptedCodes()
    }
    #expect(world.twice == [])
  }

  /// The same with a clock whose jumps of an hour and more are noticed.
  @Test(arguments: 0..<300 as Range<UInt64>)
  func `V1: once the clock is right again, no one waits longer than half an hour`(seed: UInt64) {
    var world = World(seed: seed, noticesJumps: true)
    // More sign-ins at wrong times than the ranges that are kept would let the user wait then.
    world.jumpsLeft = UsedSteps.most - 1
    for _ in 0..<60 {
      world.move()
      for _ in 0..<Int.random(in: 0...2, using: &world.random) { world.enterCode() }
      world.clock = world.real
      #expect(world.wait <= World.longestWait)
      world.real += Int64.random(in: 0...20_000, using: &world.random)
      world.clock = world.real
      world.enterCode(offset: 0)
    }
    #expect(world.twice == [])
  }

  @Test func `steps survive storing, and an unreadable text leaves all of them used`() {
    var world = World(seed: 7, noticesJumps: true)
    for _ in 0..<50 {
      world.move()
      world.enterCode()
      #expect(UsedSteps(last: world.used.last, unused: world.used.unusedText) == world.used)
    }
    for text in ["", "5", "5-", "-5", "9-5", "5-9 7-8", "5-100", "5-9  x", "5-9-11", "é-9"] {
      let used = UsedSteps(last: 100, unused: text)
      #expect((0...100).allSatisfy { used.contains($0) }, "\(text)")
    }
  }

  @Test(arguments: 0..<200 as Range<UInt64>)
  func `a union has the steps that are used in either`(seed: UInt64) {
    var random = SplitMix(state: seed)
    func some() -> UsedSteps {
      var used = UsedSteps(last: Bool.random(using: &random) ? nil : 300)
      for _ in 0..<Int.random(in: 0...6, using: &random) {
        let now = Int64.random(in: 0...2_000, using: &random)
        used.accept(now, at: now, expected: 0)
      }
      return used
    }
    let (one, other) = (some(), some())
    var union = one
    union.formUnion(other)
    for step in 0...2_100 as ClosedRange<Int64> {
      #expect(union.contains(step) == (one.contains(step) || other.contains(step)))
    }
    #expect(UsedSteps(last: union.last, unused: union.unusedText) == union)
    union.accept(through: 1_000)
    #expect((0...1_000).allSatisfy { union.contains($0) })
  }
}

/// A user with one factor, and a server whose clock isn't always right.
private struct World {
  /// Half an hour, as docs/protections.md says.
  static let longestWait = 60
  private static let day: Int64 = 2_880

  var random: SplitMix
  var used = UsedSteps()
  var real: Int64 = 59_000_000
  var clock: Int64 = 59_000_000
  private(set) var accepted: Set<Int64> = []
  private(set) var twice: [Int64] = []
  private let noticesJumps: Bool
  /// How often the clock still jumps far.
  var jumpsLeft = Int.max

  init(seed: UInt64, noticesJumps: Bool = false) {
    random = SplitMix(state: seed)
    self.noticesJumps = noticesJumps
  }

  /// The time that the server expects, in steps.
  private mutating func expected() -> Int64 {
    guard noticesJumps else { return Bool.random(using: &random) ? clock : real }
    return abs(clock - real) < 120 ? clock : real
  }

  /// Time passes, and the clock drifts, jumps, or is right.
  mutating func move() {
    real += Int64.random(in: 0...40, using: &random)
    let kind = Int.random(in: 0..<6, using: &random)
    if kind > 2 {
      guard jumpsLeft > 0 else { return }
      jumpsLeft -= 1
    }
    switch kind {
    case 0: clock = real
    case 1: clock += Int64.random(in: -20...20, using: &random)
    case 2: clock = real + Int64.random(in: -119...119, using: &random)
    case 3: clock = real + 400 * Self.day
    case 4: clock = real - 400 * Self.day
    default: clock = real + Int64.random(in: -400...400, using: &random) * Self.day
    }
  }

  /// Enters a code of a step near the clock's, often one that was accepted before.
  mutating func enterCode(offset: Int64? = nil) {
    var step = clock + (offset ?? Int64.random(in: -10...10, using: &random))
    if offset == nil, Bool.random(using: &random),
      let known = accepted.filter({ abs($0 - clock) <= 10 }).randomElement(using: &random)
    {
      step = known
    }
    guard !used.contains(step) else { return }
    if !accepted.insert(step).inserted { twice.append(step) }
    used.accept(step, at: clock, expected: expected())
  }

  /// Enters every code near the clock's time that was accepted before.
  mutating func enterAcceptedCodes() {
    for step in accepted.sorted() where abs(step - clock) <= 10 && !used.contains(step) {
      twice.append(step)
    }
  }

  /// The number of steps until a code is accepted, with the right clock.
  var wait: Int {
    (0...Int64(Self.longestWait) * 10).first { !used.contains(real + $0) }.map(Int.init)
      ?? Int.max
  }
}

private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var word = state
    word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
    word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
    return word ^ (word >> 31)
  }
}
