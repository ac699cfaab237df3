/// The time steps of one secret whose codes aren't accepted anymore.
///
/// Every step up to the last accepted one is used (RFC 6238, section 5.2), except ranges in which
/// no code was ever accepted. Such a range lies before each accepted step, because it's unknown
/// whether the clock was right: if it was ahead and is set back, the user isn't locked out until
/// then, and if it jumps ahead again, the codes of that time stay used.
///
/// A used step never becomes unused. A range that can't be needed anymore becomes used, so few are
/// kept: those that ended within the day before the time that the server expects, and later ones.
public struct UsedSteps: Sendable, Hashable {
  /// The number of steps before the current one that become used with an accepted step: the widest
  /// window, and as much again for a clock that drifts back.
  public static let margin = Int64(2 * OneTimePassword.reach)
  /// The length of the shortest range that's kept.
  public static let shortest = 20
  /// The number of ranges that are kept before the expected time, and of other ones.
  public static let most = 8
  /// How many steps before the expected time a range is still kept: a day.
  public static let kept: Int64 = 2_880

  /// The last used step; nil if none is.
  public private(set) var last: Int64?
  /// The ranges up to the last used step that are unused, in ascending order.
  private var unused: [ClosedRange<Int64>] = []

  /// Creates the steps of a secret with all steps up to the last one used.
  public init(last: Int64? = nil) { self.last = last }

  /// Creates the steps from their stored form; without a readable text, all steps up to the last
  /// one are used.
  public init(last: Int64?, unused text: String?) {
    self.last = last
    guard let last, let text else { return }
    for part in text.utf8.split(separator: UInt8(ascii: " ")) {
      let ends = part.split(separator: UInt8(ascii: "-")).map { Int64(String($0) ?? "") }
      guard ends.count == 2, let first = ends[0], let end = ends[1], first <= end, end < last,
        first > unused.last?.upperBound ?? -1
      else {
        unused = []
        return
      }
      unused.append(first...end)
    }
  }

  /// The unused ranges as text, such as `0-59079000 59080000-59081234`; nil if there are none.
  public var unusedText: String? {
    guard !unused.isEmpty else { return nil }
    return unused.map { "\($0.lowerBound)-\($0.upperBound)" }.joined(separator: " ")
  }

  /// Returns whether a step is used.
  public func contains(_ step: Int64) -> Bool {
    guard let last, step <= last else { return false }
    return !unused.contains { $0.contains(step) }
  }

  /// Returns the last used step of those that a device can have shown.
  ///
  /// Later ones are from a time when the server's clock was ahead.
  ///
  /// - Parameter now: The current step of the server's clock.
  /// - Returns: The step; nil or negative if there is none.
  public func last(at now: Int64) -> Int64? {
    let limit = now + Int64(OneTimePassword.pairReach + OneTimePassword.reach)
    guard let last, last > limit else { return last }
    return unused.first { $0.contains(limit) }.map { $0.lowerBound - 1 } ?? limit
  }

  /// Returns whether a step is used and the next one isn't, as after its code was accepted.
  public func endsWith(_ step: Int64) -> Bool { contains(step) && !contains(step + 1) }

  /// Marks a step as used, with the ones before it that the clock can reach.
  ///
  /// - Parameters:
  ///   - step: The step whose code was accepted.
  ///   - now: The clock's current step.
  ///   - expected: The step of the time that the server expects; the current one if it trusts the
  ///     clock.
  public mutating func accept(_ step: Int64, at now: Int64, expected: Int64) {
    mark(max(0, min(step, now - Self.margin))...max(0, step))
    unused.removeAll { range in
      range.count < Self.shortest || range.upperBound < expected - Self.kept
    }
    let earlier = unused.prefix { $0.upperBound < expected }
    var others = Array(unused.dropFirst(earlier.count))
    while others.count > Self.most {
      let open = others.indices.filter { !others[$0].contains(expected) }
      others.remove(at: open.min { others[$0].count < others[$1].count } ?? 0)
    }
    unused = earlier.suffix(Self.most) + others
  }

  /// Marks all steps up to one as used.
  public mutating func accept(through step: Int64) { mark(0...max(0, step)) }

  /// Marks the steps as used that are used elsewhere.
  public mutating func formUnion(_ other: UsedSteps) {
    guard let otherLast = other.last else { return }
    guard let last else {
      self = other
      return
    }
    let tail = (min(last, otherLast) + 1)...Int64.max
    let mine = last < otherLast ? unused + [tail] : unused
    let theirs = otherLast < last ? other.unused + [tail] : other.unused
    unused = mine.flatMap { range in
      theirs.compactMap { $0.overlaps(range) ? $0.clamped(to: range) : nil }
    }
    self.last = max(last, otherLast)
  }

  private mutating func mark(_ used: ClosedRange<Int64>) {
    unused = unused.flatMap { range -> [ClosedRange<Int64>] in
      guard range.overlaps(used) else { return [range] }
      var left: [ClosedRange<Int64>] = []
      if range.lowerBound < used.lowerBound { left.append(range.lowerBound...used.lowerBound - 1) }
      if range.upperBound > used.upperBound { left.append(used.upperBound + 1...range.upperBound) }
      return left
    }
    let next = (last ?? -1) + 1
    guard used.upperBound >= next else { return }
    if used.lowerBound > next { unused.append(next...used.lowerBound - 1) }
    last = used.upperBound
  }
}
