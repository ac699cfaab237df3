import Identity
import Testing

@testable import TestIdentity

struct IDTests {
  @Test func `IDs are compared byte for byte, not as text`() {
    let composed = ID<Account>("\u{E9}")
    let decomposed = ID<Account>("e\u{301}")
    #expect(composed.text == decomposed.text)
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    #expect(composed == ID("\u{E9}"))
  }

  @Test func `lookalikes of equal length, or of an ASCII character, are different IDs`() {
    #expect(ID<Account>("K") != ID("\u{212A}"))
    let one = ID<Account>("a\u{316}\u{301}")
    let other = ID<Account>("a\u{301}\u{316}")
    #expect(one.text == other.text && one.text.utf8.count == other.text.utf8.count)
    #expect(one != other)
  }
}

struct UseCaseTests {
  @Test func `what keeps the use cases keeps a reference to them`() {
    #expect(MemoryLayout<Identity>.size == MemoryLayout<AnyObject>.size)
  }
}

struct InstantTests {
  @Test func `times are formatted as RFC 3339 with a fraction`() {
    let time = Instant(microseconds: 1_790_244_900_123_456)
    #expect(time.rfc3339 == "2026-09-24T10:15:00.123456Z")
    #expect(time.rfc3339Milliseconds == "2026-09-24T10:15:00.123Z")
    #expect(Instant(seconds: 0).rfc3339 == "1970-01-01T00:00:00.000000Z")
    #expect(Instant(seconds: 951_782_400).rfc3339 == "2000-02-29T00:00:00.000000Z")
  }

  @Test func `times before 1970 round down`() {
    let time = Instant(microseconds: -1)
    #expect(time.seconds == -1)
    #expect(time.milliseconds == -1)
    #expect(time.rfc3339 == "1969-12-31T23:59:59.999999Z")
  }

  @Test(arguments: [Int64.min, -62_167_219_201_000_000, 253_402_300_800_000_000, .max])
  func `times outside the calendar are clamped to its first or last instant`(number: Int64) {
    let edge = number < 0 ? "0000-01-01T00:00:00.000000Z" : "9999-12-31T23:59:59.999999Z"
    #expect(Instant(microseconds: number).rfc3339 == edge)
    let whole = number < 0 ? "0000-01-01T00:00:00" : "9999-12-31T23:59:59"
    #expect(Instant(seconds: number).rfc3339.hasPrefix(whole))
    #expect(Instant(milliseconds: number).rfc3339.hasPrefix(whole))
    #expect(FixedClock.noon.advanced(bySeconds: number).rfc3339.hasPrefix(whole))
  }

  @Test func `the system clock returns a plausible time`() {
    let now = WallClock.system.now()
    #expect(now > Instant(seconds: 1_750_000_000))
    #expect(now < Instant(seconds: 4_000_000_000))
  }
}
