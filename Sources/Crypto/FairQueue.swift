/// Running and waiting elements, with round-robin turns between groups.
struct FairQueue<Element> {
  /// The result of adding an element.
  enum Admission {
    /// The element runs now.
    case start
    /// The element waits, possibly in place of another one, which is rejected.
    case wait(displaced: Element?)
    /// The queue is full.
    case refuse
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
  private var waiting: [Int64: [Element]] = [:]
  /// The groups with waiting elements, in order of their turns.
  private var turns: [Int64] = []

  /// Creates a queue in which `width` elements run at once and `places` can wait.
  init(width: Int, places: Int) {
    (self.width, self.places) = (width, places)
    placesOfOne = places - places / 4
  }

  /// Adds an element, which runs now if fewer than `width` are running.
  mutating func add(_ element: Element, of group: Int64) -> Admission {
    if running < width {
      running += 1
      return .start
    }
    let own = waiting[group]?.count ?? 0
    guard own < placesOfOne else {
      rejections += 1
      return .refuse
    }
    var displaced: Element?
    if count >= places {
      rejections += 1
      guard let longest = waiting.max(by: { $0.value.count < $1.value.count }),
        longest.value.count > own + 1
      else { return .refuse }
      displaced = waiting[longest.key]?.removeLast()
      count -= 1
    }
    if own == 0 { turns.append(group) }
    waiting[group, default: []].append(element)
    count += 1
    return .wait(displaced: displaced)
  }

  /// Returns the element to run after one has finished; nil when none is waiting.
  mutating func next() -> Element? {
    guard !turns.isEmpty else {
      running -= 1
      return nil
    }
    let group = turns.removeFirst()
    let element = waiting[group]?.removeFirst()
    count -= 1
    if waiting[group]?.isEmpty ?? true {
      waiting[group] = nil
    } else {
      turns.append(group)
    }
    return element
  }
}
