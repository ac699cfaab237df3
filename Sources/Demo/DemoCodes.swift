import Database
import Identity
import OTP

private typealias DemoCode = (at: Instant, finding: CodeFinding)

private struct DemoHabit {
  /// The number of intervals by which the clock of the user's phone is off.
  var drift = 0
  /// How often someone guessed, and how many seconds ago for the last time.
  var guesses: (times: Int64, ago: Int64) = (0, 0)
}

extension Demo {
  private static let codeDays: Int64 = 86
  /// How long a user waits before entering another code, in seconds.
  private static let pause: Int64 = 40
  /// How often users sign in by the hour of the day, in UTC.
  private static let hours: [Int64] = [
    6, 7, 7, 7, 8, 8, 8, 8, 8, 8, 9, 9, 9, 9, 9, 10, 10, 10, 11, 11, 12, 13, 13, 14, 14, 15, 16, 17,
    18, 20, 21,
  ]

  /// Creates code attempts of users, up to when they were last seen.
  func giveCodes(_ crowds: [DemoCrowd]) async throws {
    let example = exampleUser(crowds)?.user.uid
    let calls = [now.seconds - 86_400, now.seconds - 1_200]
    for crowd in crowds {
      let configuration = crowd.demoPool.plan.policy(at: now).configuration
      guard configuration.isTOTPOn else { continue }
      // The first user is the one whose factor was renamed.
      let habits = [
        DemoHabit(drift: -3), DemoHabit(guesses: (10, 5_400)), DemoHabit(guesses: (9, 60)),
        DemoHabit(drift: -3),
      ]
      let troubled =
        crowd.demoPool.plan.name == "retail"
        ? Dictionary(uniqueKeysWithValues: zip(cast(crowd).map(\.uid), habits)) : [:]
      let users = crowd.users.filter { user in
        !user.new.disabled && user.enrolledAt.map { $0 < user.lastSeen ?? $0 } ?? false
      }.map { user -> (user: DemoUser, codes: [DemoCode]) in
        let isExample = user.uid == example
        let habit = isExample ? DemoHabit() : troubled[user.uid] ?? habit()
        let isCalling = troubled[user.uid].map { $0.drift != 0 } ?? false
        let visits = isExample ? daily(user) : isCalling ? calls : visits(user)
        return (user, codes(at: visits, habit, configuration.window))
      }
      try await store(users, in: crowd.demoPool.pool, configuration.window)
    }
    let now = now
    try await identity.store.write { connection in
      _ = try AccountRecord.expireLocks(at: now, connection)
    }
  }

  private func store(
    _ part: [(user: DemoUser, codes: [DemoCode])], in pool: Pool, _ window: Window
  ) async throws {
    let origins = part.map { _ in
      RequestOrigin(
        address: "203.0.113.\(random.below(254) + 1)", userAgent: random.one(of: data.programs))
    }
    try await identity.store.write { connection in
      for ((user, codes), origin) in zip(part, origins) {
        guard let key = try AccountRecord.find(pool, ID(user.uid), connection)?.key else {
          continue
        }
        for (at, finding) in codes {
          guard let account = try AccountRecord.find(pool, ID(user.uid), connection),
            account.has(.totp)
          else { break }
          let attempt = CodeAttemptRecorder(
            account: account, pool: pool, way: .app, enrollment: ID(user.factor), window: window,
            origin: origin)
          if finding.result.isSuccess {
            try attempt.pass(finding, at: at, connection)
          } else {
            _ = try attempt.fail(finding, at: at, connection)
          }
        }
        let used = codes.last { $0.finding.result == .accepted }?.at
        try connection.run(
          """
          UPDATE factor SET last_used_at = \(used)
          WHERE account_key = \(key) AND enrollment_id = \(user.factor)
          """)
      }
    }
  }

  private func habit() -> DemoHabit {
    switch random.below(1_000) {
    case ..<920: DemoHabit()
    case ..<970: DemoHabit(drift: -2 - random.below(6))
    case ..<990: DemoHabit(drift: 2 + random.below(4))
    default: DemoHabit(guesses: (3, random.number(86_400...20 * 86_400)))
    }
  }

  /// Returns sign-ins of the example user, enough to fill a page of their own.
  private func daily(_ user: DemoUser) -> [Int64] {
    guard let last = user.lastSeen?.seconds, let enrolled = user.enrolledAt?.seconds else {
      return []
    }
    let (start, count) = (max(enrolled, last - 30 * 86_400), Int64(CodeAttempts.shown + 5))
    return (1...count).map { start + (last - start) * $0 / count }
  }

  /// Returns the times at which a user signs in, mostly on weekday mornings, and when they were last
  /// seen.
  private func visits(_ user: DemoUser) -> [Int64] {
    guard let last = user.lastSeen?.seconds, let enrolled = user.enrolledAt?.seconds else {
      return []
    }
    let first = max(enrolled / 86_400 + 1, now.seconds / 86_400 - Self.codeDays)
    guard first < last / 86_400 else { return [last] }
    let days = (0..<random.below(12)).map { _ in random.number(first...last / 86_400 - 1) }
    // January 1, 1970 was a Thursday.
    let working = Set(days).sorted().filter { ($0 + 3) % 7 < 5 || random.happens(250) }
    return working.map {
      $0 * 86_400 + random.one(of: Self.hours) * 3_600 + random.number(0...3_300)
    } + [last]
  }

  private func codes(at visits: [Int64], _ habit: DemoHabit, _ window: Window) -> [DemoCode] {
    let limit = window.adjacentIntervals
    var codes: [DemoCode] = []
    func record(_ seconds: Int64, _ result: CodeAttempt.Result, _ distance: Int? = nil) {
      let at = Instant(seconds: min(seconds, now.seconds))
      let step = distance.map { at.seconds / TOTPFactor.period + Int64($0) }
      codes.append((at, CodeFinding(result, distance: distance, step: step)))
    }
    /// Adds a code this many intervals off, which the window accepts or rejects.
    func record(_ seconds: Int64, off distance: Int) {
      let isAccepted = abs(distance) <= limit
      record(seconds, isAccepted ? .accepted : distance < 0 ? .late : .early, distance)
    }
    // Users whose codes are never accepted contact support before they are locked out.
    for seconds in abs(habit.drift) > limit ? visits.suffix(2) : visits {
      let distance = habit.drift == 0 && random.happens(130) ? max(-1, -limit) : habit.drift
      let mishap = random.below(1_000)
      switch mishap {
      case _ where abs(habit.drift) > limit: record(seconds - Self.pause, off: distance)
      case ..<60: record(seconds - Self.pause, mishap < 45 ? .wrong : .unreadable)
      case ..<90 where limit < Window.range.upperBound:
        record(seconds - Self.pause, off: -limit - 1)
      default: break
      }
      record(seconds, off: distance)
      if mishap > 970, abs(distance) <= limit { record(seconds + 2, .used, distance) }
    }
    for number in 0..<habit.guesses.times {
      let at = now.seconds - habit.guesses.ago - number * Self.pause
      record(max((visits.last ?? 0) + 1, at), .wrong)
    }
    return codes.sorted { $0.at < $1.at }
  }
}
