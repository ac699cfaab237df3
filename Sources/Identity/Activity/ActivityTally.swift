package struct ActivityTally: Sendable {
  struct Checks: Equatable {
    var accepted = 0
    var outside = 0
    var incorrect = 0
    var locked = 0
    var other = 0

    mutating func add(_ outcome: CodeAttempt.Outcome) {
      switch outcome {
      case .accepted: accepted += 1
      case .outside: outside += 1
      case .incorrect: incorrect += 1
      case .locked: locked += 1
      case .other: other += 1
      }
    }

    mutating func add(_ more: Checks) {
      accepted += more.accepted
      outside += more.outside
      incorrect += more.incorrect
      locked += more.locked
      other += more.other
    }
  }

  struct Offset: Hashable {
    let day: Int64
    let distance: Int
  }

  struct ReachDay: Hashable {
    let reach: Int
    let day: Int64
  }

  private(set) var hours: [Int64: Checks] = [:]
  /// Codes of authenticator apps at sign-in, by day and distance.
  private(set) var offsets: [Offset: OffsetCounts] = [:]
  /// The change of the numbers of users by day and by their largest distance on it.
  private(set) var userDays: [ReachDay: Int] = [:]
  /// The change of the numbers of users by distance and by the last day on which they reached it.
  private(set) var users: [ReachDay: Int] = [:]
  private(set) var accounts: [Int64: (former: CodeReach, current: CodeReach)] = [:]

  init() {}

  init(_ deltas: [ActivityDelta]) { for delta in deltas { add(delta) } }

  mutating func add(_ delta: ActivityDelta) {
    switch delta.kind {
    case .attempt(let outcome):
      hours[delta.hour, default: Checks()].add(outcome)
      if let distance = delta.distance {
        let offset = Offset(day: delta.day, distance: distance)
        if outcome == .accepted {
          offsets[offset, default: OffsetCounts()].accepted += 1
        } else {
          offsets[offset, default: OffsetCounts()].unconfirmed += 1
        }
      }
    case .confirmed:
      guard let distance = delta.distance else { break }
      let offset = Offset(day: delta.day, distance: distance)
      offsets[offset, default: OffsetCounts()].confirmed += 1
      offsets[offset, default: OffsetCounts()].unconfirmed -= 1
    case .deleted: break
    }
    guard let former = delta.reach else { return }
    change(delta, from: former)
  }

  private mutating func change(_ delta: ActivityDelta, from former: CodeReach) {
    var current = CodeReach(nil)
    if delta.kind != .deleted, let distance = delta.distance {
      current = former
      _ = current.add(distance: distance, day: delta.day)
      if let reach = former.reach(on: delta.day) {
        userDays[ReachDay(reach: reach, day: delta.day), default: 0] -= 1
      }
      if let reach = current.reach(on: delta.day) {
        userDays[ReachDay(reach: reach, day: delta.day), default: 0] += 1
      }
    }
    for (reach, day) in former.days.enumerated() {
      users[ReachDay(reach: reach, day: day), default: 0] -= 1
    }
    for (reach, day) in current.days.enumerated() {
      users[ReachDay(reach: reach, day: day), default: 0] += 1
    }
    accounts[delta.account] = (accounts[delta.account]?.former ?? former, current)
  }
}
