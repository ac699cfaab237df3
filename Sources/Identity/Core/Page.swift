public struct Page<Element: Sendable>: Sendable {
  public let items: [Element]
  /// The cursor to pass as `after` for the next page; nil on the last page.
  public let next: String?

  public init(items: [Element], next: String?) {
    self.items = items
    self.next = next
  }

  /// Returns the page size for a requested limit, from 1 to 100,000: a larger page could exhaust
  /// the server's memory.
  static func size(_ limit: Int) -> Int { min(max(limit, 1), 100_000) }

  /// Creates a page of up to `limit` items from a list read with one extra item.
  init(_ items: [Element], limit: Int, key: (Element) -> String) {
    if items.count > limit {
      let shown = Array(items.prefix(limit))
      self.items = shown
      next = shown.last.map(key)
    } else {
      self.items = items
      next = nil
    }
  }
}
