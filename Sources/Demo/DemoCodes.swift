import Crypto
import Database
import Identity
import OTP

/// How a demo user enters codes.
private enum DemoHabit {
  /// Enters correct codes, occasionally an interval late.
  case steady
  /// Mistypes a code before entering a correct one.
  case clumsy
  /// Submits the form twice.
  case hasty
  /// Has a phone whose clock is this many intervals off.
  case drifting(Int)
  /// Guesses this many times, the last time this many seconds ago.
  case guessing(Int, ago: Int64)
}

extension Demo {
  /// The number of users whose codes are stored together.
  private static let codeBatch = 200
  /// How long a user waits before entering another code, in seconds.
  private static let pause: Int64 = 40

  /// Creates code attempts of users, all before they were last seen.
  func giveCodes(_ crowds: [DemoCrowd]) async throws {
    let spared = exampleUser(crowds)?.user.uid
    let everyday = DemoRandom(seed: seed ^ 0xACCE_55ED)
    for crowd in crowds {
      let configuration = crowd.pool.plan.policy(at: now).configuration
      guard configuration.isTOTPOn else { continue }
      // The first user is the one whose factor was renamed.
      let habits: [DemoHabit] = [
        .drifting(-3), .guessing(10, ago: 5_400), .guessing(9, ago: 60), .drifting(-3),
      ]
      let troubled =
        crowd.pool.plan.name == "retail"
        ? Dictionary(uniqueKeysWithValues: zip(cast(crowd).map(\.uid), habits)) : [:]
      let users = crowd.users.filter { user in
        !user.disabled && user.enrolledAt.map { $0 < user.lastSeen ?? $0 } ?? false
      }
      for start in stride(from: 0, to: users.count, by: Self.codeBatch) {
        var part: [(user: DemoUser, codes: [(at: Instant, finding: CodeFinding)])] = []
        for user in users[start..<min(start + Self.codeBatch, users.count)] {
          let isExample = user.uid == spared
          let habit = isExample ? .steady : troubled[user.uid] ?? habit()
          let codes = codes(of: user, habit, configuration.window)
          if isExample {
            part.append((user, daily(user, before: codes) + codes))
          } else if troubled[user.uid] != nil {
            part.append((user, codes))
          } else {
            let window = configuration.window
            let earlier = self.everyday(user, before: codes, window, everyday)
            part.append((user, earlier + withNearMisses(codes, window, everyday)))
          }
        }
        try await store(part, in: crowd.pool.scope, configuration.window)
      }
    }
    let now = now
    try await identity.store.write(DemoError.self) { connection in
      _ = try AccountRecord.expireLocks(at: now, connection)
    }
  }

  private func store(
    _ part: [(user: DemoUser, codes: [(at: Instant, finding: CodeFinding)])], in scope: Scope,
    _ window: Window
  ) async throws {
    let origins = part.map { _ in origin() }
    try await identity.store.write(DemoError.self) { connection in
      for ((user, codes), origin) in zip(part, origins) {
        guard let key = try AccountRecord.find(scope, ID(user.uid), connection)?.key else {
          continue
        }
        for (at, finding) in codes {
          guard let account = try AccountRecord.find(scope, ID(user.uid), connection),
            account.has(.totp)
          else { break }
          let attempt = CodeAttemptRecorder(
            account: account, scope: scope, way: .app, enrollment: ID(user.factor), window: window,
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
          UPDATE factor SET last_used_at = \(used?.microseconds)
          WHERE account_key = \(key) AND enrollment_id = \(user.factor)
          """)
      }
    }
  }

  /// Adds correct codes of the example user before the others, enough to fill a page of their own.
  private func daily(
    _ user: DemoUser, before codes: [(at: Instant, finding: CodeFinding)]
  ) -> [(at: Instant, finding: CodeFinding)] {
    guard let end = codes.first?.at.seconds, let enrolled = user.enrolledAt else { return [] }
    let (start, count) = (max(enrolled.seconds, end - 30 * 86_400), Int64(CodeAttempts.shown + 5))
    return (1...count).map { number in
      let at = start + (end - start) * number / (count + 1)
      return (
        Instant(seconds: at),
        CodeFinding(.accepted, distance: 0, step: at / TOTPFactor.period)
      )
    }
  }

  private func habit() -> DemoHabit {
    switch random.below(1_000) {
    case ..<740: .steady
    case ..<850: .clumsy
    case ..<920: .hasty
    case ..<970: .drifting(-2 - random.below(6))
    case ..<990: .drifting(2 + random.below(4))
    default: .guessing(3, ago: random.number(86_400...20 * 86_400))
    }
  }

  private func codes(
    of user: DemoUser, _ habit: DemoHabit, _ window: Window
  ) -> [(at: Instant, finding: CodeFinding)] {
    guard let last = user.lastSeen, let enrolled = user.enrolledAt else { return [] }
    let first = max(enrolled.seconds, last.seconds - 20 * 86_400)
    var moments = (0..<random.below(6)).map { _ in random.number(first...last.seconds) }
    moments = moments.sorted() + [last.seconds]
    if case .drifting(let steps) = habit, abs(steps) > window.adjacentIntervals {
      // Users whose codes are never accepted contact support before they are locked out.
      moments = Array(moments.suffix(2))
    }
    var codes: [(at: Instant, finding: CodeFinding)] = []
    func record(_ seconds: Int64, _ result: CodeAttempt.Result, _ distance: Int? = nil) {
      let at = Instant(seconds: min(seconds, now.seconds))
      let step = distance.map { at.seconds / TOTPFactor.period + Int64($0) }
      codes.append((at, CodeFinding(result, distance: distance, step: step)))
    }
    /// Adds a code this many intervals off, which the window accepts or rejects.
    func record(_ seconds: Int64, off distance: Int) {
      let isAccepted = abs(distance) <= window.adjacentIntervals
      record(seconds, isAccepted ? .accepted : distance < 0 ? .late : .early, distance)
    }
    for seconds in moments {
      let usual = random.happens(850) ? 0 : max(-1, -window.adjacentIntervals)
      switch habit {
      case .steady: record(seconds, off: usual)
      case .clumsy:
        for wrong in stride(from: Int64(random.below(3)), to: 0, by: -1) {
          record(seconds - wrong * Self.pause, random.happens(800) ? .wrong : .unreadable)
        }
        record(seconds, off: usual)
      case .hasty:
        record(seconds, off: usual)
        if random.happens(500) { record(seconds + 2, .used, usual) }
      case .drifting(let steps):
        record(seconds, off: steps)
        if abs(steps) > window.adjacentIntervals {
          record(seconds + Self.pause, off: steps)
          if random.happens(300), seconds != moments.last { record(seconds + 300, off: 0) }
        }
      case .guessing: record(seconds, off: usual)
      }
    }
    if case .guessing(let times, let ago) = habit {
      for number in stride(from: Int64(times), to: 0, by: -1) {
        record(max(last.seconds + 1, now.seconds - ago - number * Self.pause), .wrong)
      }
    }
    return codes.sorted { $0.at < $1.at }
  }

  private func origin() -> RequestOrigin {
    RequestOrigin(
      address: "203.0.113.\(random.below(254) + 1)", userAgent: random.one(of: Self.programs))
  }

  /// The user agents of users.
  package static let programs = [
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36",
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:144.0) Gecko/20100101 Firefox/144.0",
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15",
    "Mozilla/5.0 (iPhone; CPU iPhone OS 26_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.1 Mobile/15E148 Safari/604.1",
    "Mozilla/5.0 (Linux; Android 16) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Mobile Safari/537.36",
    "FirebaseAuth.iOS/12.5.0 com.example.harbour/4.2 iPhone/26.1 hw/iPhone16_2",
    "Dalvik/2.1.0 (Linux; U; Android 16; Pixel 9 Build/BP3A.250905.014)",
  ]
}
