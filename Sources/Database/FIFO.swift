/// A first-in, first-out queue, for drivers.
package struct FIFO<Element> {
  private var elements: [Element?] = []
  private var start = 0

  /// Creates an empty queue.
  package init() {}

  /// The number of elements.
  package private(set) var count = 0

  /// The next element.
  package var first: Element? {
    mutating get {
      skipRemoved()
      return start < elements.count ? elements[start] : nil
    }
  }

  /// Appends an element.
  package mutating func append(_ element: Element) {
    elements.append(element)
    count += 1
  }

  /// Puts an element before the others.
  package mutating func prepend(_ element: Element) {
    if start > 0 {
      start -= 1
      elements[start] = element
    } else {
      elements.insert(element, at: 0)
    }
    count += 1
  }

  /// Removes and returns the next element.
  package mutating func popFirst() -> Element? {
    skipRemoved()
    guard start < elements.count else { return nil }
    let element = elements[start].take()
    start += 1
    count -= 1
    if start == elements.count {
      elements.removeAll(keepingCapacity: true)
      start = 0
    } else if start >= 64, start * 2 > elements.count {
      elements.removeFirst(start)
      start = 0
    }
    return element
  }

  /// Removes and returns the first element that meets a condition.
  package mutating func remove(where condition: (Element) -> Bool) -> Element? {
    for index in start..<elements.count {
      guard let element = elements[index], condition(element) else { continue }
      elements[index] = nil
      count -= 1
      return element
    }
    return nil
  }

  private mutating func skipRemoved() {
    while start < elements.count, elements[start] == nil { start += 1 }
  }
}
