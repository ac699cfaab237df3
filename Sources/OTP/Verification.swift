public import Crypto

/// What came of comparing a code with a window.
public enum Verdict: Sendable, Hashable {
  /// The code is that of `step`, `offset` steps from now (negative: late), and was not used before.
  case accepted(step: Int64, offset: Int)
  /// The code is right, but its step is not above the last accepted one (RFC 6238 section 5.2).
  case replayed(offset: Int)
  /// The code is none of the window's, or not a code at all.
  case refused
}

extension OneTimePassword {
  /// Compares `code` with all 2n + 1 codes around the time step of `seconds`.
  ///
  /// Every code of the window is computed and compared whatever was found before, without a branch
  /// that depends on it, so that the time does not tell where a code matched (ASVS 11.2.4). Text
  /// that is not a code costs the same. Where two steps have the same code by chance, the one
  /// nearest to now that is still unused counts, then the earlier.
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
  ) throws(CryptoError) -> Verdict {
    var hmac = try HMAC(function, key: secret)
    let typed = number(typed: code)
    // No code is as large as this, so text that is not a code matches nothing.
    let candidate = typed ?? UInt32.max
    let now = step(at: seconds)
    let floor = lastStep ?? Int64.min
    var fresh = Choice()
    var used = Choice()
    for distance in 0...window.adjacentIntervals {
      for offset in distance == 0 ? [0] : [-distance, distance] {
        let step = now + Int64(offset)
        let number = try number(step: step, with: &hmac)
        let hit = Self.mask(number == candidate)
        let unused = Self.mask(step > floor)
        fresh.take(offset, where: hit & unused)
        used.take(offset, where: hit & ~unused)
      }
    }
    if let offset = fresh.offset { return .accepted(step: now + Int64(offset), offset: offset) }
    if let offset = used.offset { return .replayed(offset: offset) }
    return .refused
  }

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
