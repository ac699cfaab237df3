import Synchronization
import Templating

/// Caches markup by the value it was rendered from, so that a list renders only rows that changed.
///
/// Values are compared in full, so the markup is never stale. A full cache is emptied.
final class MarkupCache<Value: Hashable & Sendable>: Sendable {
  private let drawn = Mutex<[Value: [UInt8]]>([:])
  private let limit: Int

  /// Creates a cache for at most `limit` pieces of about 1 KB each.
  init(limit: Int = 2_000) {
    self.limit = limit
  }

  func joined(_ values: [Value], draw: (Value) -> [UInt8]) -> Markup {
    // Read outside the lock: the copy shares storage until the cache is changed.
    let known = drawn.withLock { $0 }
    var missing: [(Value, [UInt8])] = []
    var bytes: [UInt8] = []
    bytes.reserveCapacity(values.count * 900)
    for value in values {
      if let markup = known[value] {
        bytes += markup
      } else {
        let markup = draw(value)
        missing.append((value, markup))
        bytes += markup
      }
    }
    if !missing.isEmpty { keep(missing) }
    return Markup(trusted: bytes)
  }

  private func keep(_ new: [(Value, [UInt8])]) {
    drawn.withLock { drawn in
      if drawn.count + new.count > limit { drawn = [:] }
      for (value, markup) in new.prefix(limit) { drawn[value] = markup }
    }
  }
}

/// Caches markup of rows by their table's context, such as its columns, which is compared once for
/// all rows.
///
/// When it's full, all is forgotten.
final class MarkupCaches<Context: Hashable & Sendable, Value: Hashable & Sendable>: Sendable {
  private let caches = Mutex<[Context: MarkupCache<Value>]>([:])
  private let limit: Int

  init(limit: Int = 20) {
    self.limit = limit
  }

  subscript(context: Context) -> MarkupCache<Value> {
    caches.withLock { caches in
      if let cache = caches[context] { return cache }
      if caches.count >= limit { caches = [:] }
      let cache = MarkupCache<Value>(limit: 500)
      caches[context] = cache
      return cache
    }
  }
}
