import Database
import OTP
import Testing

@testable import Identity
@testable import TestIdentity

/// A slow recount of everything that happened in a pool.
struct ActivityModel {
  struct Event {
    let account: ID<Account>
    let at: Instant
    let way: CodeAttempt.Way
    let result: CodeAttempt.Result
    let distance: Int?
    var isConfirmed = false

    /// Whether the code counts as the user's own.
    var isLegitimate: Bool {
      way == .app && distance != nil
        && (result == .accepted || [.late, .early].contains(result) && isConfirmed)
    }
  }

  private(set) var events: [Event] = []
  private var deleted: Set<ID<Account>> = []

  /// Learns from an account's log what the last attempt did.
  mutating func learn(_ log: [CodeAttempt], of account: ID<Account>, at now: Instant) {
    guard let newest = log.first else { return }
    if events.contains(where: { $0.account == account && $0.at == newest.at }) {
      events.append(
        Event(account: account, at: now, way: newest.way, result: newest.result, distance: nil))
    } else {
      events.append(
        Event(
          account: account, at: newest.at, way: newest.way, result: newest.result,
          distance: newest.distance))
    }
    let confirmed = Set(log.filter(\.isConfirmed).map(\.at))
    for index in events.indices
    where events[index].account == account && confirmed.contains(events[index].at) {
      events[index].isConfirmed = true
    }
  }

  mutating func delete(_ account: ID<Account>) { deleted.insert(account) }

  /// Returns the attempts by hour and outcome.
  static func checks(_ events: [Event]) -> [Instant: [CodeAttempt.Outcome: Int]] {
    Dictionary(grouping: events) { Instant(seconds: $0.at.seconds / 3_600 * 3_600) }
      .mapValues { Dictionary(grouping: $0, by: \.result.outcome).mapValues(\.count) }
  }

  func offsets(days: Int, at now: Instant) -> OffsetHistogram {
    let first = now.seconds / 86_400 - Int64(days) + 1
    let recent = events.filter { $0.at.seconds / 86_400 >= first }
    var (accepted, confirmed, unconfirmed) = ([Int](), [Int](), [Int]())
    for distance in -10...10 {
      let codes = recent.filter { $0.way == .app && $0.distance == distance }
      let near = codes.filter { [.late, .early].contains($0.result) }
      accepted.append(codes.count { $0.result == .accepted })
      confirmed.append(near.count(where: \.isConfirmed))
      unconfirmed.append(near.count { !$0.isConfirmed })
    }
    struct UserDay: Hashable {
      let account: ID<Account>
      let day: Int64
    }
    let own = recent.filter(\.isLegitimate)
    let reaches = Dictionary(
      grouping: own, by: { UserDay(account: $0.account, day: $0.at.seconds / 86_400) }
    ).mapValues { $0.map { abs($0.distance ?? 0) }.max() ?? 0 }
    return OffsetHistogram(
      days: days, accepted: accepted, confirmed: confirmed, unconfirmed: unconfirmed,
      userDays: (0...10).map { reach in reaches.values.count { $0 == reach } },
      users: (0...10).map { reach in affected(reach: reach, days: days, at: now).count })
  }

  /// Returns the largest distance of each user with codes at least this far away.
  func affected(reach: Int, days: Int, at now: Instant) -> [ID<Account>: Int] {
    let first = now.seconds / 86_400 - Int64(days) + 1
    let own = events.filter {
      $0.isLegitimate && $0.at.seconds / 86_400 >= first && !deleted.contains($0.account)
    }
    return Dictionary(grouping: own, by: \.account)
      .mapValues { $0.map { abs($0.distance ?? 0) }.max() ?? 0 }.filter { $0.value >= reach }
  }

  /// Returns the number of a user's codes at least this far away.
  func codes(of account: ID<Account>, reach: Int, days: Int, at now: Instant) -> Int {
    let first = now.seconds / 86_400 - Int64(days) + 1
    return events.count {
      $0.isLegitimate && $0.account == account && $0.at.seconds / 86_400 >= first
        && abs($0.distance ?? 0) >= reach
    }
  }
}

extension HourlyChecks {
  /// The number of attempts by outcome, without zeros.
  var byOutcome: [CodeAttempt.Outcome: Int] {
    [.accepted: accepted, .outside: outside, .incorrect: incorrect, .locked: locked, .other: other]
      .filter { $0.value != 0 }
  }
}

extension Instance {
  /// Folds all activity.
  func fold() async throws {
    var rounds = 0
    while try await identity.activity.fold() {
      rounds += 1
      try #require(rounds < 100)
    }
  }
}
