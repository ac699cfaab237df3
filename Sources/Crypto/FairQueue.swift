/// Who runs and who waits, with turns that go round between groups.
struct FairQueue<Element> {
  /// What becomes of an element.
  enum Admission {
    /// It runs now.
    case start
    /// It waits, perhaps in the place of another one, which is refused.
    case wait(displaced: Element?)
    /// There's no place for it.
    case refuse
  }

  private let width: Int
  private let places: Int
  /// How many may wait of one group.
  private let placesOfOne: Int
  private var running = 0
  private var count = 0
  private var waiting: [Int64: [Element]] = [:]
  /// The groups that wait, the one whose turn is next first.
  private var turns: [Int64] = []

  /// Makes a queue of which `width` elements run at once and `places` wait.
  init(width: Int, places: Int) {
    (self.width, self.places) = (width, places)
    placesOfOne = places - places / 4
  }

  /// Adds an element, which runs when fewer than `width` do.
  mutating func add(_ element: Element, of group: Int64) -> Admission {
    if running < width {
      running += 1
      return .start
    }
    let own = waiting[group]?.count ?? 0
    guard own < placesOfOne else { return .refuse }
    var displaced: Element?
    if count >= places {
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

  /// The element that runs after one that has ended; nil when none waits.
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
