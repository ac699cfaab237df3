import Database
import OTP
import Testing

@testable import Identity
@testable import TestIdentity

struct FactorClockTests {
  @Test(arguments: [-40, -1, 0, 1, 40])
  func `a factor's time is the server's, shifted by its offset`(offset: Int) {
    let now = FixedClock.noon
    let clock = FactorClock(offset: offset)
    #expect(clock.time(at: now).seconds == now.seconds + Int64(offset) * 30)
    #expect(clock.step(at: now) == now.seconds / 30 + Int64(offset))
    #expect(FactorClock.server.time(at: now) == now)
  }

  @Test func `two accepted codes in a row in one direction move the offset by one`() {
    var clock = FactorClock(offset: 12)
    clock.follow(1)
    #expect(clock.offset == 12 && clock.trend == 1)
    clock.follow(2)
    #expect(clock.offset == 13 && clock.trend == 0)
    // It takes two more.
    clock.follow(1)
    #expect(clock.offset == 13)
    clock.follow(0)
    clock.follow(1)
    #expect(clock.offset == 13)
    clock.follow(-1)
    #expect(clock.offset == 13)
    clock.follow(-1)
    #expect(clock.offset == 12)
  }

  @Test func `the offset follows through zero, and stops at 40`() {
    var clock = FactorClock(offset: -1)
    for _ in 0..<4 { clock.follow(1) }
    #expect(clock.offset == 1)
    for _ in 0..<200 { clock.follow(3) }
    #expect(clock.offset == 40)
    for _ in 0..<400 { clock.follow(-3) }
    #expect(clock.offset == -40)
  }

  @Test func `a factor that wasn't resynchronized never moves`() {
    var clock = FactorClock.server
    for _ in 0..<10 { clock.follow(-5) }
    #expect(clock == .server)
  }

  /// A fast device has shown the codes that it shows again once it's set right.
  @Test(arguments: [-30, 0, 30])
  func `used steps begin before the factor's time, or the server's if that's earlier`(
    offset: Int
  ) {
    let now = FixedClock.noon
    let clock = FactorClock(offset: offset)
    let step = clock.step(at: now)
    let first = min(step, FactorClock.server.step(at: now)) - UsedSteps.margin
    var used = UsedSteps(last: now.seconds / 30 - 1_000)
    used.accept(step - 1, at: now, of: clock, expecting: ExpectedTime())
    #expect(used.contains(step - 1) && !used.contains(step))
    #expect(used.contains(first) && !used.contains(first - 1))
  }
}
