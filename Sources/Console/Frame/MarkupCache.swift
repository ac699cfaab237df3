import Synchronization
import Templating

/// Markup by the value that it was drawn from, so that a list draws a line when it changes and not
/// each time it is shown.
///
/// Values are compared whole, so what is shown is never older than the value. When the cache is
/// full it is emptied.
final class MarkupCache<Value: Hashable & Sendable>: Sendable {
  private let drawn = Mutex<[Value: Markup]>([:])
  private let limit: Int

  /// Makes room for `limit` pieces, each of which may be a kilobyte.
  init(limit: Int = 2_000) {
    self.limit = limit
  }

  /// The markup of all values, one behind the other.
  func joined(_ values: [Value], draw: (Value) -> Markup) -> Markup {
    // Looked at outside of the lock: the copy is a reference as long as nobody adds to it.
    let known = drawn.withLock { $0 }
    var missing: [(Value, Markup)] = []
    var bytes: [UInt8] = []
    bytes.reserveCapacity(values.count * 900)
    for value in values {
      if let markup = known[value] {
        bytes += markup.bytes
      } else {
        let markup = draw(value)
        missing.append((value, markup))
        bytes += markup.bytes
      }
    }
    if !missing.isEmpty { keep(missing) }
    return Markup(trusted: bytes)
  }

  private func keep(_ new: [(Value, Markup)]) {
    drawn.withLock { drawn in
      if drawn.count + new.count > limit { drawn = [:] }
      for (value, markup) in new.prefix(limit) { drawn[value] = markup }
    }
  }
}
