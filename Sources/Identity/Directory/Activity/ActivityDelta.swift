package import Database

/// One change of the counts of a pool, appended by the write that causes it.
package struct ActivityDelta {
  package enum Kind: Equatable {
    case attempt(CodeAttempt.Outcome)
    /// A near miss that a correct code followed; its attempt was counted as a near miss.
    case confirmed
    case deleted

    static let confirmedText = "confirmed"
    static let deletedText = "deleted"

    init(_ text: String) throws {
      switch text {
      case Self.confirmedText: self = .confirmed
      case Self.deletedText: self = .deleted
      default:
        guard let outcome = CodeAttempt.Outcome(rawValue: text) else {
          throw Failure("unknown activity")
        }
        self = .attempt(outcome)
      }
    }

    var text: String {
      switch self {
      case .attempt(let outcome): outcome.rawValue
      case .confirmed: Self.confirmedText
      case .deleted: Self.deletedText
      }
    }
  }

  /// The number in the database, by which changes are in order; nil for a new one.
  let number: Int64?
  let account: Int64
  let hour: Int64
  let kind: Kind
  /// The distance of a code of an authenticator app at sign-in.
  var distance: Int?
  /// The account's former reach, if the code changed it, or if the account is deleted.
  var reach: CodeReach?

  var day: Int64 { hour / 24 }

  static let columns: SQL = "number, account_key, hour, kind, distance, reach"

  package init(
    account: Int64, hour: Int64, _ kind: Kind, distance: Int? = nil, reach: CodeReach? = nil
  ) {
    number = nil
    self.account = account
    self.hour = hour
    self.kind = kind
    self.distance = distance
    self.reach = reach
  }

  init(_ row: inout Row) throws {
    number = try row.next()
    account = try row.next()
    hour = try row.next()
    kind = try Kind(try row.next())
    distance = try row.next()
    reach = (try row.next() as String?).map { CodeReach($0) }
  }

  func insert(in pool: Int64, _ connection: borrowing Connection) throws {
    try connection.runLater(
      """
      INSERT INTO activity_delta (number, scope_key, account_key, hour, kind, distance, reach)
      VALUES (\(SQL.nextNumber("number", of: "activity_delta")), \(pool), \(account), \(hour),
        \(kind.text), \(distance),
        \(reach.map { $0.text ?? "" }))
      """)
  }

  static func all(
    in pool: Int64, _ connection: borrowing Connection
  ) throws -> [ActivityDelta] {
    try connection.all(
      "SELECT \(columns) FROM activity_delta WHERE scope_key = \(pool) ORDER BY number"
    ) { try ActivityDelta(&$0) }
  }
}

extension CodeAttempt {
  public enum Outcome: String, Sendable, CaseIterable {
    /// A code was accepted, including backup codes.
    case accepted
    /// The code's interval was outside the window.
    case outside
    /// The code was incorrect, malformed, expired, or already used.
    case incorrect
    /// The code wasn't checked because of incorrect codes before it.
    case locked
    /// The factor is suspended.
    case other

    public var results: [Result] { Result.allCases.filter { $0.outcome == self } }
  }
}

extension CodeAttempt.Result {
  public var outcome: CodeAttempt.Outcome {
    switch self {
    case .accepted, .temporary, .recovery: .accepted
    case .late, .early: .outside
    case .wrong, .used, .older, .unreadable, .expired: .incorrect
    case .blocked, .closed: .locked
    case .suspended: .other
    }
  }
}

extension Instant {
  /// Whole hours since 1970, rounded down.
  package var hour: Int64 { Self.floor(seconds, by: 3_600) }

  init(hour: Int64) { self.init(seconds: hour * 3_600) }
}

/// Counts an account's code attempts in the write that records them.
struct CodeAttemptCount {
  let account: Int64
  /// The account's reach, which the caller stores.
  private(set) var reach: CodeReach

  init(_ account: Account) {
    self.account = account.key
    reach = account.reach
  }

  /// Codes entered during enrollment have no distance: no one is rejected at sign-in because of them.
  mutating func add(
    _ finding: CodeFinding, _ way: CodeAttempt.Way, at: Instant, _ connection: borrowing Connection
  ) throws {
    let outcome = finding.result.outcome
    var distance: Int?
    if way == .app, finding.result == .accepted || outcome == .outside {
      distance = finding.distance
    }
    let former = outcome == .accepted ? distance.flatMap { move(distance: $0, day: at.day) } : nil
    try insert(
      ActivityDelta(
        account: account, hour: at.hour, .attempt(outcome), distance: distance, reach: former),
      connection)
  }

  mutating func confirm(
    _ nearMiss: CodeAttemptRecord.NearMiss, _ connection: borrowing Connection
  ) throws {
    guard nearMiss.way == .app, let distance = nearMiss.distance else {
      return
    }
    let former = move(distance: distance, day: nearMiss.at.day)
    try insert(
      ActivityDelta(
        account: account, hour: nearMiss.at.hour, .confirmed, distance: distance, reach: former),
      connection)
  }

  static func delete(_ account: Account, _ connection: borrowing Connection) throws {
    guard account.reach.text != nil else { return }
    try ActivityDelta(account: account.key, hour: 0, .deleted, reach: account.reach)
      .insert(in: account.poolKey, connection)
  }

  private mutating func move(distance: Int, day: Int64) -> CodeReach? {
    let former = reach
    return reach.add(distance: distance, day: day) ? former : nil
  }

  private func insert(_ delta: ActivityDelta, _ connection: borrowing Connection) throws {
    try delta.insert(in: Pool.key(ofAccount: account), connection)
  }
}

/// The last days on which a user's codes were at least each distance from the current interval.
///
/// Only accepted codes of an authenticator app at sign-in and confirmed near misses count.
package struct CodeReach: Sendable, Equatable {
  /// The distances, in intervals.
  static let range = 0...10
  /// The number of digits of a day in the stored form.
  static let digits = 5

  /// The last day by distance, from 0 to the largest ever; days never increase with the distance.
  private(set) var days: [Int64]

  package init(_ text: String?) {
    var days: [Int64] = []
    var day: Int64 = 0
    for (index, digit) in (text ?? "").utf8.enumerated() {
      day = day * 10 + Int64(digit) - Int64(UInt8(ascii: "0"))
      if index % Self.digits == Self.digits - 1 {
        days.append(day)
        day = 0
      }
    }
    self.days = days
  }

  package var text: String? {
    guard !days.isEmpty else { return nil }
    var text = ""
    for day in days {
      let number = String(day)
      text += String(repeating: "0", count: Self.digits - number.utf8.count) + number
    }
    return text
  }

  /// Adds a code; codes of a user arrive in order of time.
  package mutating func add(distance: Int, day: Int64) -> Bool {
    guard day >= days.first ?? 0, day < 100_000 else { return false }
    var isChanged = false
    for reach in 0...min(abs(distance), Self.range.upperBound) {
      if reach == days.count {
        days.append(day)
        isChanged = true
      } else if days[reach] < day {
        days[reach] = day
        isChanged = true
      }
    }
    return isChanged
  }

  /// Returns the largest distance on the user's last day; nil if that was another day.
  func reach(on day: Int64) -> Int? { days.lastIndex(of: day) }

  /// Returns the largest distance since the beginning of a day; nil if there were no codes.
  func reach(since day: Int64) -> Int? { days.lastIndex { $0 >= day } }
}

extension Activity {
  /// Stores the numbers of users at the end of an hour that was never observed.
  package static func record(
    users: Int, enrolled: Int, of pool: Pool, isWhole: Bool, at: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO enrollment_hour (scope_key, whole, hour, users, enrolled_users)
      VALUES (\(pool.key), \(isWhole), \(at.hour), \(users), \(enrolled))
      ON CONFLICT (scope_key, whole, hour) DO NOTHING
      """)
  }
}
