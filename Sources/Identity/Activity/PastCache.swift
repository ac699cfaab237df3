import Synchronization

/// Past hours, of which the first and every `step`th are read.
struct PastPeriod: Hashable {
  let isWhole: Bool
  let first: Int64
  let step: Int64
  let last: Int64
  /// ``ExpectedTime/changes``: hours that a wrong clock showed as past may not be past.
  let clockChanges: Int

  /// The maximum number of pools whose hours a statement reads.
  static let mostPools = 1_000
}

/// A cache of what is known of past hours of pools, which doesn't change.
final class PastCache<Value: Sendable>: Sendable {
  private struct State {
    var values: [PastPeriod: [Int64: Value]] = [:]
    var count = 0
  }

  /// The maximum number of values; the cache is cleared when it's exceeded.
  private let limit: Int
  private let state = Mutex(State())

  init(limit: Int = 10_000) { self.limit = limit }

  /// Values are kept if `isFinal` returns true after they were found, and `find` gets up to
  /// ``PastPeriod/mostPools`` keys at a time.
  func values(
    of keys: [Int64], in period: PastPeriod, keepingIf isFinal: () throws -> Bool = { true },
    _ find: ([Int64]) throws -> [Int64: Value]
  ) rethrows -> [Int64: Value] {
    var values: [Int64: Value] = state.withLock { state in
      guard let known = state.values[period] else { return [:] }
      return Dictionary(
        uniqueKeysWithValues: Set(keys).compactMap { key in
          known[key].map { (key, $0) }
        })
    }
    var rest = keys.filter { values[$0] == nil }[...]
    var new: [Int64: Value] = [:]
    while !rest.isEmpty {
      let part = rest.prefix(PastPeriod.mostPools)
      rest = rest.dropFirst(part.count)
      new.merge(try find(Array(part))) { $1 }
    }
    if !new.isEmpty, try isFinal() { keep(new, in: period) }
    values.merge(new) { $1 }
    return values
  }

  private func keep(_ new: [Int64: Value], in period: PastPeriod) {
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
