import Synchronization

/// Past hours of a pool, of which the first and every `step`th are read.
struct PastPeriod: Hashable {
  let key: Int64
  let isWhole: Bool
  let first: Int64
  let step: Int64
  let last: Int64
}

/// A cache of what is known of past hours, which doesn't change.
final class PastCache<Value: Sendable>: Sendable {
  /// The maximum number of values; the cache is cleared when it's exceeded.
  private let limit = 10_000
  private let values = Mutex<[PastPeriod: Value]>([:])

  func value(_ period: PastPeriod, _ find: () throws -> Value) rethrows -> Value {
    if let known = values.withLock({ $0[period] }) { return known }
    let found = try find()
    values.withLock { values in
      if values.count >= limit { values = [:] }
      values[period] = found
    }
    return found
  }
}
