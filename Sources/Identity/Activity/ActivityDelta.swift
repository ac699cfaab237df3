import Database

/// One change of the counts of a pool, appended by the write that causes it.
struct ActivityDelta {
  enum Kind: Equatable {
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

  init(
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
