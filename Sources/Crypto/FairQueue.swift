/// Running and waiting elements, with turns between groups by the cost of their elements.
///
/// Each group has a tag, the cost that it was served so far; the group with the smallest one is
/// next. A group that had nothing waiting begins with the tag of the element that was started last,
/// so it neither saves up turns nor pays for idle time.
///
/// Source: Goyal, Vin, Cheng, "Start-time Fair Queuing", 1996.
struct FairQueue<Element> {
  enum Admission {
    /// The element runs now.
    case start
    /// The element waits, possibly in place of another one, which is rejected.
    case wait(displaced: Element?)
    /// The queue is full.
    case refuse
  }

  /// The waiting elements of a group, and their cost.
  private struct Line {
    var elements: [(element: Element, cost: Int)] = []
    var cost = 0
  }

  private let width: Int
  private let places: Int
  /// The maximum number of waiting elements per group.
  private let placesOfOne: Int
  /// The number of elements that run.
  private(set) var running = 0
  /// The number of elements that wait.
  private(set) var count = 0
  /// The number of elements rejected so far, including those displaced.
  private(set) var rejections = 0
  private var waiting: [Int64: Line] = [:]
  /// The groups with waiting elements, in the order in which their elements began to wait.
  private var order: [Int64] = []
  /// The cost that groups were served so far; without those that are behind `served`.
  private var tags: [Int64: Int] = [:]
  /// The tag of the element that was started last.
  private var served = 0

  /// Creates a queue in which `width` elements run at once and `places` can wait.
  init(width: Int, places: Int) {
    (self.width, self.places) = (width, places)
    placesOfOne = places - places / 4
  }

  /// Adds an element, which runs now if fewer than `width` are running.
  mutating func add(_ element: Element, of group: Int64, cost: Int) -> Admission {
    let cost = max(1, cost)
    if running < width {
      running += 1
      charge(group, cost)
      return .start
    }
    let own = waiting[group] ?? Line()
    guard own.elements.count < placesOfOne else {
      rejections += 1
      return .refuse
    }
    var displaced: Element?
    if count >= places {
      rejections += 1
      guard let longest = waiting.max(by: { $0.value.cost < $1.value.cost }),
        longest.value.cost > own.cost + cost
      else { return .refuse }
      displaced = removeLast(of: longest.key)
    }
    if own.elements.isEmpty {
      order.append(group)
      tags[group] = tag(group)
    }
    waiting[group, default: Line()].elements.append((element, cost))
    waiting[group]?.cost += cost
    count += 1
    return .wait(displaced: displaced)
  }

  /// Returns the element to run after one has finished; nil when none is waiting.
  mutating func next() -> Element? {
    var group: Int64?
    // The first of equal ones, so that they take turns.
    for candidate in order where group.map({ tag(candidate) < tag($0) }) ?? true {
      group = candidate
    }
    guard let group, let first = waiting[group]?.elements.removeFirst() else {
      running -= 1
      return nil
    }
    order.removeAll { $0 == group }
    waiting[group]?.cost -= first.cost
    count -= 1
    if waiting[group]?.elements.isEmpty ?? true {
      waiting[group] = nil
    } else {
      order.append(group)
    }
    charge(group, first.cost)
    return first.element
  }

  private func tag(_ group: Int64) -> Int { max(tags[group] ?? 0, served) }

  private mutating func charge(_ group: Int64, _ cost: Int) {
    served = tag(group)
    tags[group] = served + cost
    tags = tags.filter { $0.value > served || waiting[$0.key] != nil }
  }

  private mutating func removeLast(of group: Int64) -> Element? {
    guard let last = waiting[group]?.elements.popLast() else { return nil }
    waiting[group]?.cost -= last.cost
    count -= 1
    if waiting[group]?.elements.isEmpty ?? true {
      waiting[group] = nil
      order.removeAll { $0 == group }
    }
    return last.element
  }
}
