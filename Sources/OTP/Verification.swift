public import Crypto

/// The result of verifying a code.
public enum CodeVerification: Sendable, Hashable {
  /// The code is valid for `step`, `offset` steps from now (negative: late), and wasn't used
  /// before.
  case accepted(step: Int64, offset: Int)
  /// The code is valid, but its step is used (RFC 6238 section 5.2).
  case replayed(step: Int64, offset: Int)
  /// The code belongs to a step outside the window, but within ``OneTimePassword/reach`` of now.
  ///
  /// It's rejected like any other incorrect code; the distinction is only for the log.
  case outside(step: Int64, offset: Int)
  /// The code is incorrect and belongs to no step near now.
  case refused
  /// The text isn't a code: it doesn't have the right number of digits.
  case unreadable
}

extension OneTimePassword {
  /// The number of steps checked on each side of now, regardless of the window.
  public static let reach = Window.range.upperBound

  /// Verifies a code against the 21 time steps around a time.
  ///
  /// All of them are computed and compared, regardless of the window and of earlier matches, and
  /// without branches that depend on the result. Neither timing nor work therefore reveals which
  /// step matched, or whether one was close (ASVS 11.2.4). Text that isn't a code takes the same
  /// time. If two steps have the same code by chance, an unused one in the window takes precedence
  /// over a used one, which takes precedence over one outside the window; after that the nearest
  /// step wins, then the earlier one.
  ///
  /// - Parameters:
  ///   - code: The code as typed.
  ///   - seconds: The time, in seconds since 1970.
  ///   - window: The steps to accept.
  ///   - used: The used steps, which aren't accepted.
  /// - Returns: The result, with the offset of the step that matched.
  /// - Throws: `CryptoError.failed` when the hash function isn't available.
  public func verify(
    _ code: TypedCode, at seconds: Int64, window: Window, after used: UsedSteps
  ) throws(CryptoError) -> CodeVerification {
    var generator = try generator()
    let typed = number(code)
    // Codes are always smaller than this, so text that isn't a code matches nothing.
    let candidate = typed ?? UInt32.max
    let now = step(at: seconds)
    var (fresh, replayed, near) = (Choice(), Choice(), Choice())
    for offset in Self.offsets {
      let step = now + Int64(offset)
      let number = try number(step: step, with: &generator)
      let hit = Self.mask(number == candidate)
      let inside = Self.mask(abs(offset) <= window.adjacentIntervals)
      let unused = Self.mask(!used.contains(step))
      fresh.take(offset, where: hit & inside & unused)
      replayed.take(offset, where: hit & inside & ~unused)
      near.take(offset, where: hit & ~inside)
    }
    if let offset = fresh.offset { return .accepted(step: now + Int64(offset), offset: offset) }
    if let offset = replayed.offset { return .replayed(step: now + Int64(offset), offset: offset) }
    if let offset = near.offset { return .outside(step: now + Int64(offset), offset: offset) }
    return typed == nil ? .unreadable : .refused
  }

  /// 0, −1, 1, −2, 2, and so on: the nearest first, and the earlier of two.
  private static let offsets = [0] + (1...reach).flatMap { [-$0, $0] }

  private static func mask(_ condition: Bool) -> Int64 { condition ? -1 : 0 }

  /// Keeps the first offset with a full mask, without branching.
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

/// The result of looking for two consecutive codes (RFC 6238 section 6).
public enum PairVerification: Sendable, Hashable {
  /// The codes are those of the step before `step` and of `step`, `offset` steps from now (negative:
  /// late), and both come after the last used step.
  case found(step: Int64, offset: Int)
  /// The codes are those of the step before `step` and of `step`, but the earlier one doesn't come after
  /// the last used step, so it may have been seen; the device shows the first code that does in `wait`
  /// steps, 0 for now.
  case old(step: Int64, wait: Int64)
  /// No two consecutive steps near now have the codes, several pairs of steps do, or a text isn't
  /// a code.
  case refused
}

extension OneTimePassword {
  /// The number of steps on each side of now in which two consecutive codes are looked for.
  public static let pairReach = 40

  /// Looks for two consecutive codes of a device whose clock may be far off.
  ///
  /// All 81 steps around the time are computed and all 80 pairs of neighbors compared, without
  /// branches that depend on the result, as in ``verify(_:at:window:after:)``. A guess of both codes
  /// is right in 80 of 10^12 cases.
  ///
  /// - Parameters:
  ///   - first: The earlier code, as typed.
  ///   - second: The code after it, as typed.
  ///   - seconds: The server's time, in seconds since 1970.
  ///   - used: The used steps; none up to the last of them is accepted.
  /// - Returns: The result, with the later step and its offset.
  /// - Throws: `CryptoError.failed` when the hash function isn't available.
  public func find(
    _ first: TypedCode, then second: TypedCode, at seconds: Int64, after used: UsedSteps
  ) throws(CryptoError) -> PairVerification {
    var generator = try generator()
    let now = step(at: seconds)
    var numbers: [UInt32] = []
    for offset in -Self.pairReach...Self.pairReach {
      numbers.append(try number(step: now + Int64(offset), with: &generator))
    }
    // Codes are always smaller than this, so text that isn't a code matches nothing.
    let index = Self.index(
      of: number(first) ?? UInt32.max, then: number(second) ?? UInt32.max,
      in: numbers)
    guard let index else { return .refused }
    let offset = index - Self.pairReach
    let step = now + Int64(offset)
    let last = used.last(at: now) ?? -1
    return step - 1 > last
      ? .found(step: step, offset: offset) : .old(step: step, wait: last + 1 - step)
  }

  /// Returns the index of the later of two neighbors with these values; nil unless exactly one pair of
  /// neighbors has them.
  static func index(of first: UInt32, then second: UInt32, in numbers: [UInt32]) -> Int? {
    var (pairs, sum): (Int64, Int64) = (0, 0)
    for index in numbers.indices.dropFirst() {
      let hit = mask(numbers[index - 1] == first) & mask(numbers[index] == second)
      pairs += hit & 1
      sum += hit & Int64(index)
    }
    return pairs == 1 ? Int(sum) : nil
  }
}
