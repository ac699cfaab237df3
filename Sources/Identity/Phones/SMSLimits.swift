import Database
import Synchronization

/// Counts the text messages that the limits of this process refused.
final class SMSRejections: Sendable {
  private let number = Atomic<Int>(0)

  /// The number since the start.
  var count: Int { number.load(ordering: .relaxed) }

  func add() { number.add(1, ordering: .relaxed) }
}

extension Identity {
  /// The number of text messages that a daily limit refused since the start.
  public var textMessageRejections: Int { store.outbox.smsRejections.count }
}

/// The daily limits of text messages of a pool.
///
/// They cap the cost of SMS pumping, in which someone requests messages to numbers that earn money
/// with each message they receive. Days are UTC. Half of a limit is reserved for numbers that are
/// enrolled or belong to an account; messages to other numbers, which anyone can request, get at
/// most a tenth of the rest in an hour.
public struct SMSLimits: Sendable, Equatable {
  public let perPool: Int
  public let perRegion: Int

  public init(perPool: Int = 1_000, perRegion: Int = 200) {
    (self.perPool, self.perRegion) = (perPool, perRegion)
  }

  /// What is counted: all messages, or those of one region, and of these the ones to unknown numbers.
  private struct Count {
    /// The stored name of all regions.
    private static let all = "*"
    private static let suffix = "?"

    let region: String
    let isToUnknown: Bool

    var stored: String { isToUnknown ? region + Self.suffix : region }

    init(stored: String) {
      isToUnknown = stored.hasSuffix(Self.suffix)
      region = isToUnknown ? String(stored.dropLast()) : stored
    }

    private init(_ region: String, isToUnknown: Bool) {
      (self.region, self.isToUnknown) = (region, isToUnknown)
    }

    static func of(_ region: String, isKnown: Bool) -> [Count] {
      (isKnown ? [false] : [false, true]).flatMap { isToUnknown in
        [all, region].map { Count($0, isToUnknown: isToUnknown) }
      }
    }

    func limit(_ limits: SMSLimits) -> Int {
      let limit = region == Self.all ? limits.perPool : limits.perRegion
      return isToUnknown ? limit - limit / 2 : limit
    }
  }

  /// `isKnown` says whether the number is enrolled or belongs to an account.
  ///
  /// - Returns: When the next message may be sent if a limit is reached; otherwise nil.
  func charge(
    _ number: String, isKnown: Bool, in pool: Pool, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Instant? {
    let counts = Count.of(CallingCodes.regions(of: number).first ?? "", isKnown: isKnown)
    let sent = try connection.all(
      """
      SELECT region, sent FROM sms_count
      WHERE scope_key = \(pool.key) AND day = \(now.day)
        AND region IN (\(SQL.list(counts.map(\.stored))))
      """
    ) { (count: Count(stored: try $0.next()), sent: try $0.next() as Int) }
    guard sent.allSatisfy({ $0.sent < $0.count.limit(self) }) else {
      return Instant(seconds: (now.day + 1) * 86_400)
    }
    let hourly = counts.filter(\.isToUnknown).map { count in
      (
        name: CounterName.messages(toUnknownNumbersOf: count.region, in: pool.key),
        limit: max(count.limit(self) / 10, 1)
      )
    }
    for (name, limit) in hourly {
      if let until = try HourlyQuota.exhausted(name, limit: limit, at: now, connection) {
        return until
      }
    }
    for (name, limit) in hourly {
      _ = try HourlyQuota.take(name, limit: limit, at: now, connection)
    }
    for count in counts {
      try connection.run(
        """
        INSERT INTO sms_count (scope_key, day, region, sent)
        VALUES (\(pool.key), \(now.day), \(count.stored), 1)
        ON CONFLICT (scope_key, day, region) DO UPDATE SET sent = sms_count.sent + 1
        """)
    }
    return nil
  }

  /// Returns the number of messages of a pool today that reached a limit, including that of unknown
  /// numbers; nil if none did.
  func reached(
    in pool: Pool, at now: Instant, _ connection: borrowing Connection
  ) throws -> Int? {
    try connection.all(
      "SELECT region, sent FROM sms_count WHERE scope_key = \(pool.key) AND day = \(now.day)"
    ) { (count: Count(stored: try $0.next()), sent: try $0.next() as Int) }
    .first { $0.sent >= $0.count.limit(self) }?.sent
  }

  /// Deletes the counts of days before yesterday.
  static func purgeExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    try connection.deletePart(
      "FROM sms_count WHERE day < \(now.day - 1)", of: "sms_count", by: "scope_key, day, region")
  }
}
