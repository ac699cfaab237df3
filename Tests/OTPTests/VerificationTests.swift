import Crypto
import OTP
import Testing

@Suite struct VerificationTests {
  let password: OneTimePassword
  static let now: Int64 = 1_800_000_015

  init() throws {
    password = try #require(OneTimePassword(secret: Secret("12345678901234567890")))
  }

  func code(_ offset: Int) throws -> String {
    try password.code(step: password.step(at: Self.now) + Int64(offset))
  }

  func codeAttempt(_ code: String, _ intervals: Int, after step: Int64? = nil) throws
    -> CodeVerification
  {
    let window = try #require(Window(adjacentIntervals: intervals))
    return try password.verify(
      TypedCode(code), at: Self.now, window: window, after: UsedSteps(last: step))
  }

  @Test(arguments: [
    "%d%d%d %d%d%d", " %d%d%d\u{A0}%d%d%d\n", "%d%d%d-%d%d%d", "%d%d\u{2011}%d%d\u{2013}%d%d",
    "\u{200F}%d%d%d\u{202F}%d%d%d\u{200E}", "\t%d%d%d%d%d%d",
  ])
  func `a code is accepted as people type or paste it`(format: String) throws {
    let code = try code(0)
    let now = password.step(at: Self.now)
    // ASCII, Persian, Arabic-Indic, Devanagari, full-width, and mathematical digits.
    for zero in [0x30, 0x06F0, 0x0660, 0x0966, 0xFF10, 0x1D7CE] as [UInt32] {
      var digits = code.utf8.compactMap { Unicode.Scalar(zero + UInt32($0 - 0x30)) }[...]
      var typed = ""
      for part in format.split(separator: "%d", omittingEmptySubsequences: false).enumerated() {
        if part.offset > 0, let digit = digits.popFirst() { typed.unicodeScalars.append(digit) }
        typed += part.element
      }
      #expect(TypedCode(typed).text == code)
      #expect(try codeAttempt(typed, 0) == .accepted(step: now, offset: 0))
    }
    #expect(try codeAttempt("\(code)1", 0) == .unreadable)
  }

  @Test func `other characters stay, and long text is no code`() throws {
    #expect(TypedCode("ab\u{BD}\u{2460} 1").text == "ab\u{BD}\u{2460}1")
    #expect(TypedCode("\u{FF21}\u{FF5A}\u{FF3B}\u{FF0D}9").text == "Az\u{FF3B}9")
    let long = String(repeating: " ", count: 300) + "123456"
    #expect(TypedCode(long).text == long)
  }

  @Test(arguments: 0...10)
  func `only steps in the window are accepted, with their offset`(
    intervals: Int
  ) throws {
    let now = password.step(at: Self.now)
    for offset in -intervals...intervals {
      let expected = CodeVerification.accepted(step: now + Int64(offset), offset: offset)
      #expect(try codeAttempt(code(offset), intervals) == expected)
    }
    #expect(try codeAttempt(code(11), intervals) == .refused)
    #expect(try codeAttempt(code(-11), intervals) == .refused)
  }

  @Test(arguments: 0...9)
  func `a step outside the window is recognized up to ten steps away`(
    intervals: Int
  ) throws {
    let now = password.step(at: Self.now)
    for distance in (intervals + 1)...10 {
      for offset in [-distance, distance] {
        let expected = CodeVerification.outside(step: now + Int64(offset), offset: offset)
        #expect(try codeAttempt(code(offset), intervals) == expected)
        // Outside the window, it doesn't matter which steps were used before.
        #expect(try codeAttempt(code(offset), intervals, after: now + 20) == expected)
      }
    }
  }

  @Test func `V1: a used step and every step before it are replays`() throws {
    let last = password.step(at: Self.now) - 1
    #expect(try codeAttempt(code(-1), 5, after: last) == .replayed(step: last, offset: -1))
    #expect(try codeAttempt(code(-3), 5, after: last) == .replayed(step: last - 2, offset: -3))
    #expect(try codeAttempt(code(0), 5, after: last) == .accepted(step: last + 1, offset: 0))
  }

  @Test(arguments: [
    "", "12345", "1234567", "1000000", "abcdef", "12 456", "-12345", "①②③④⑤⑥", "12345\0",
  ])
  func `text that isn't six digits is unreadable`(text: String) throws {
    #expect(try codeAttempt(text, 10) == .unreadable)
  }

  @Test func `V2: a code shared by two steps is accepted for the unused one`() throws {
    // With this secret, which was found by search, steps 100 and 101 have the same code.
    let password = try #require(OneTimePassword(secret: Secret("seed 1741748")))
    let code = TypedCode(try password.code(step: 100))
    #expect(try password.code(step: 101) == code.text)
    let window = try #require(Window(adjacentIntervals: 1))
    let first = try password.verify(code, at: 3_000, window: window, after: UsedSteps())
    let second = try password.verify(code, at: 3_000, window: window, after: UsedSteps(last: 100))
    let third = try password.verify(code, at: 3_000, window: window, after: UsedSteps(last: 101))
    #expect(first == .accepted(step: 100, offset: 0))
    #expect(second == .accepted(step: 101, offset: 1))
    #expect(third == .replayed(step: 100, offset: 0))
  }

  @Test func `a step in the window takes precedence over one outside`() throws {
    // Steps 100 and 101 have the same code.
    let password = try #require(OneTimePassword(secret: Secret("seed 1741748")))
    let code = TypedCode(try password.code(step: 100))
    let window = try #require(Window(adjacentIntervals: 0))
    for step in [100, 101] as [Int64] {
      let codeAttempt = try password.verify(code, at: step * 30, window: window, after: UsedSteps())
      #expect(codeAttempt == .accepted(step: step, offset: 0))
    }
    let near = try password.verify(code, at: 99 * 30, window: window, after: UsedSteps())
    #expect(near == .outside(step: 100, offset: 1))
  }

  @Test func `a window computes its number of codes and lifetimes`() throws {
    let five = try #require(Window(adjacentIntervals: 5))
    #expect(five == .standard)
    #expect((five.codes, five.lifetime, five.lateness) == (11, 330, 150))
    #expect(Window(adjacentIntervals: 11) == nil)
    #expect(Window(adjacentIntervals: -1) == nil)
    #expect(abs(five.chance(ofGuesses: 10) - 0.00011) < 0.000_001)
  }
}
