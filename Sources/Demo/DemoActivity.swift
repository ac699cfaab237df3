import Database
import Identity
import OTP

extension Demo {
  /// Stores the numbers of users from before the month, day by day, as if they had been observed.
  func storeGrowth(_ crowds: [DemoCrowd]) async throws {
    for crowd in crowds { try await storeGrowth(of: [crowd], as: crowd.pool.scope, isWhole: false) }
    for project in Dictionary(grouping: crowds, by: \.pool.scope.project).values {
      guard let own = project.first(where: { $0.pool.scope.tenant == nil }) else { continue }
      try await storeGrowth(of: project, as: own.pool.scope, isWhole: true)
    }
  }

  private func storeGrowth(
    of crowds: [DemoCrowd], as scope: Scope, isWhole: Bool
  ) async throws {
    let month = now.advanced(bySeconds: -Self.days * 86_400)
    let users = crowds.flatMap(\.users)
    let made = users.map(\.madeAt).filter { $0 < month }.sorted()
    let enrolled = users.compactMap(\.enrolledAt).filter { $0 < month }.sorted()
    guard let first = made.first else { return }
    try await identity.store.write(DemoError.self) { connection in
      var counts = (users: 0, enrolled: 0)
      for at in stride(from: first.seconds, to: month.seconds - 86_400, by: 86_400) {
        while counts.users < made.count, made[counts.users].seconds <= at { counts.users += 1 }
        while counts.enrolled < enrolled.count, enrolled[counts.enrolled].seconds <= at {
          counts.enrolled += 1
        }
        try Activity.record(
          users: counts.users, enrolled: counts.enrolled, of: scope, isWhole: isWhole,
          at: Instant(seconds: at), connection)
      }
    }
  }

  /// The number of days of code attempts.
  private static let codeDays: Int64 = 86
  /// How often users sign in by the hour of the day, in UTC.
  private static let hours: [Int64] = [
    6, 7, 7, 7, 8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 10, 10, 10, 11, 11, 12, 13, 13, 14, 14, 15, 16, 17,
    18, 20, 21,
  ]

  /// Returns a user's everyday sign-ins before their other codes, mostly on weekday mornings.
  func everyday(
    _ user: DemoUser, before codes: [(at: Instant, finding: CodeFinding)], _ window: Window,
    _ random: DemoRandom
  ) -> [(at: Instant, finding: CodeFinding)] {
    guard let end = codes.first?.at.seconds, let enrolled = user.enrolledAt else { return [] }
    let start = max(enrolled.seconds + 60, now.seconds - Self.codeDays * 86_400)
    guard end - start > 2 * 86_400 else { return [] }
    let visits = random.below(Int(min((end - start) / 86_400, 12)))
    let days = (0..<visits).map { _ in random.number(start / 86_400 + 1...end / 86_400 - 1) }
    // January 1, 1970 was a Thursday.
    let working = Set(days).sorted().filter { ($0 + 3) % 7 < 5 || random.happens(250) }
    var everyday: [(at: Instant, finding: CodeFinding)] = []
    let limit = window.adjacentIntervals
    func add(_ seconds: Int64, _ distance: Int) {
      let result: CodeAttempt.Result =
        abs(distance) <= limit ? .accepted : distance < 0 ? .late : .early
      everyday.append(
        (
          Instant(seconds: seconds),
          CodeFinding(
            result, distance: distance, step: seconds / TOTPFactor.period + Int64(distance))
        ))
    }
    for day in working {
      let seconds = day * 86_400 + random.one(of: Self.hours) * 3_600 + random.number(0...3_300)
      switch random.below(1_000) {
      case ..<780: add(seconds, 0)
      case ..<900: add(seconds, -1)
      case ..<930: add(seconds, 1)
      case ..<965:
        // The code of a slow reader, and the right one soon after.
        add(seconds, -2 - random.below(3))
        if everyday.last?.finding.result != .accepted { add(seconds + 40, 0) }
      default:
        everyday.append((Instant(seconds: seconds), CodeFinding(.wrong)))
        add(seconds + 40, 0)
      }
    }
    return everyday
  }

  /// Adds codes that were entered too late, each shortly before an accepted one.
  func withNearMisses(
    _ codes: [(at: Instant, finding: CodeFinding)], _ window: Window, _ random: DemoRandom
  ) -> [(at: Instant, finding: CodeFinding)] {
    let distance = -window.adjacentIntervals - 1
    guard Window.range.contains(-distance) else { return codes }
    var all: [(at: Instant, finding: CodeFinding)] = []
    for code in codes {
      let at = code.at.advanced(bySeconds: -40)
      let isAlone = all.last.map { $0.at < at.advanced(bySeconds: -60) } ?? true
      if isAlone, code.finding.result == .accepted, random.happens(20) {
        let step = at.seconds / TOTPFactor.period + Int64(distance)
        all.append((at, CodeFinding(.late, distance: distance, step: step)))
      }
      all.append(code)
    }
    return all
  }

  /// Adds all activity to the counts by hour.
  func fold() async throws { while try await identity.activity.fold() {} }
}
