import Synchronization

/// Past hours, of which the first and every `step`th are read.
struct PastPeriod: Hashable {
  let isWhole: Bool
  let first: Int64
  let step: Int64
  let last: Int64
  /// ``ExpectedTime/changes``: hours that a wrong clock showed as past may not be past.
  let clockChanges: Int
}

/// A cache of what is known of past hours of pools, which doesn't change.
final class PastCache<Value: Sendable>: Sendable {
  private struct State {
    var values: [PastPeriod: [Int64: Value]] = [:]
    var count = 0
  }

  /// The maximum number of values; the cache is cleared when it's exceeded.
  private let limit = 10_000
  private let state = Mutex(State())

  /// Returns the values of pools by their keys, in order; `find` returns one that isn't known.
  func values(
    of keys: [Int64], in period: PastPeriod, _ find: (Int64) throws -> Value
  ) rethrows -> [Value] {
    let known = state.withLock { $0.values[period] } ?? [:]
    var new: [(Int64, Value)] = []
    let values = try keys.map { key in
      if let value = known[key] { return value }
      let value = try find(key)
      new.append((key, value))
      return value
    }
    if !new.isEmpty { keep(new, in: period) }
    return values
  }

  private func keep(_ new: [(Int64, Value)], in period: PastPeriod) {
    state.withLock { state in
      if state.count + new.count > limit { state = State() }
      for (key, value) in new.prefix(limit) {
        if state.values[period, default: [:]].updateValue(value, forKey: key) == nil {
          state.count += 1
        }
      }
    }
  }
}
