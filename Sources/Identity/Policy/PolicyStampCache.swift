import Synchronization

/// A cache of what follows from the policies of a project's pools.
///
/// A project's stamp increases in the same write as every change to them, so a value cached under
/// the stamp of a snapshot is correct for that snapshot.
final class PolicyStampCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry {
    let stamp: Int64
    let value: Value
  }

  /// The maximum number of cached projects; when it's exceeded, the cache is cleared.
  private let limit = 5_000
  private let entries = Mutex<[Key: Entry]>([:])

  /// Returns the value cached for a project under a stamp, or else the result of `read`.
  ///
  /// A key that was just read with the project is cheaper than its ID.
  func value(
    of project: Key, stamp: Int64, orRead read: () throws -> Value
  ) rethrows -> Value {
    if let entry = entries.withLock({ $0[project] }), entry.stamp == stamp { return entry.value }
    let value = try read()
    entries.withLock { entries in
      if entries.count >= limit { entries = [:] }
      entries[project] = Entry(stamp: stamp, value: value)
    }
    return value
  }
}
