public import Crypto

/// What came of comparing a code with a window.
public enum CodeVerification: Sendable, Hashable {
  /// The code is that of `step`, `offset` steps from now (negative: late), and was not used before.
  case accepted(step: Int64, offset: Int)
  /// The code is right, but its step is not above the last accepted one (RFC 6238 section 5.2).
  case replayed(step: Int64, offset: Int)
  /// The code is that of a step beyond the window, but within ``OneTimePassword/reach`` of now.
  ///
  /// It is refused like any wrong one; this is for the log alone.
  case outside(step: Int64, offset: Int)
  /// The code is none of those near now.
  case refused
  /// The text is no code: not as many digits as codes have, or not digits.
  case unreadable
}

extension OneTimePassword {
  /// How many steps on each side of now are looked at, whatever the window is.
  public static let reach = Window.range.upperBound

  /// Compares `code` with the codes of all 21 steps around the time step of `seconds`.
  ///
  /// Every one of them is computed and compared, whatever the window is and whatever was found
  /// before, without a branch that depends on it. So neither the time nor the work tells where a
  /// code matched, nor whether it was near (ASVS 11.2.4). Text that is not a code costs the same.
  /// Where two steps have the same code by chance, one of the window that is still unused counts
  /// before a used one, and that before one beyond the window; then the one nearest to now, then
  /// the earlier.
  ///
  /// - Parameters:
  ///   - code: The text as typed, without spaces.
  ///   - seconds: The time, in seconds since 1970.
  ///   - window: The steps to accept.
  ///   - lastStep: The highest step accepted before; only greater ones are accepted.
  /// - Returns: What came of it, with the offset of the step that matched.
  /// - Throws: `CryptoError.failed` when the hash function is missing.
  public func verify(
    _ code: String, at seconds: Int64, window: Window, after lastStep: Int64?
  ) throws(CryptoError) -> CodeVerification {
    var generator = try generator()
    let typed = number(typed: code)
    // No code is as large as this, so text that is not a code matches nothing.
    let candidate = typed ?? UInt32.max
    let now = step(at: seconds)
    let floor = lastStep ?? Int64.min
    var (fresh, used, near) = (Choice(), Choice(), Choice())
    for offset in Self.offsets {
      let step = now + Int64(offset)
      let number = try number(step: step, with: &generator)
      let hit = Self.mask(number == candidate)
      let inside = Self.mask(abs(offset) <= window.adjacentIntervals)
      let unused = Self.mask(step > floor)
      fresh.take(offset, where: hit & inside & unused)
      used.take(offset, where: hit & inside & ~unused)
      near.take(offset, where: hit & ~inside)
    }
    if let offset = fresh.offset { return .accepted(step: now + Int64(offset), offset: offset) }
    if let offset = used.offset { return .replayed(step: now + Int64(offset), offset: offset) }
    if let offset = near.offset { return .outside(step: now + Int64(offset), offset: offset) }
    return typed == nil ? .unreadable : .refused
  }

  /// 0, −1, 1, −2, 2 and so on: the nearest first, and of two the earlier.
  private static let offsets = [0] + (1...reach).flatMap { [-$0, $0] }

  private static func mask(_ condition: Bool) -> Int64 { condition ? -1 : 0 }

  /// Keeps the first offset it is given a full mask with, without branching on it.
  private struct Choice {
    private var value: Int64 = 0
    private var found: Int64 = 0

    mutating func take(_ offset: Int, where mask: Int64) {
      let now = mask & ~found
      value = (value & ~now) | (Int64(offset) & now)
      found |= mask
    }

    var offset: Int? { found == 0 ? nil : Int(value) }
  }
}
