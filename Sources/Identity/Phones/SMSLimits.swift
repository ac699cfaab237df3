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

/// The daily limits of text messages of a user pool.
///
/// They cap the cost of SMS pumping, in which someone requests messages to numbers that earn money
/// with each message they receive. Days are UTC. In a pool with second factors by text message, none
/// are sent for phone sign-in, which anyone can request, once three quarters of a limit are reached.
public struct SMSLimits: Sendable, Equatable {
  /// The maximum number of messages of a user pool.
  public let perPool: Int
  /// The maximum number of messages of a user pool to numbers of one region.
  public let perRegion: Int

  /// Creates limits.
  public init(perPool: Int = 1_000, perRegion: Int = 200) {
    (self.perPool, self.perRegion) = (perPool, perRegion)
  }

  /// The region of the count of all messages.
  private static let all = "*"

  /// Returns the limits for phone sign-in: three quarters, if the pool uses second factors by text
  /// message.
  ///
  /// - Throws: Database errors, and ``PolicyError/scopeNotFound`` for a deleted pool.
  private func forSignIn(
    in scope: Scope, _ connection: borrowing Connection
  ) throws -> SMSLimits {
    guard try Policies.stored(scope.key, connection).configuration.isSMSOn else { return self }
    return SMSLimits(perPool: perPool - perPool / 4, perRegion: perRegion - perRegion / 4)
  }

  /// Counts a message.
  ///
  /// - Parameters:
  ///   - number: The recipient.
  ///   - isSignIn: Whether the message is for phone sign-in.
  ///   - scope: The user pool.
  ///   - now: The current time.
  ///   - connection: The transaction.
  /// - Returns: When the next message may be sent if a limit is reached; otherwise nil.
  /// - Throws: Database errors, and ``PolicyError/scopeNotFound`` for a deleted pool.
  func charge(
    _ number: String, forSignIn isSignIn: Bool, in scope: Scope, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Instant? {
    let region = CallingCodes.regions(of: number).first ?? ""
    let sent = try connection.all(
      """
      SELECT region, sent FROM sms_count
      WHERE scope_key = \(scope.key) AND day = \(now.day) AND region IN (\(Self.all), \(region))
      """
    ) { (region: try $0.value(0) as String, sent: try $0.value(1) as Int) }
    let limits = isSignIn ? try forSignIn(in: scope, connection) : self
    guard sent.allSatisfy({ $0.sent < limits.limit(of: $0.region) }) else {
      return Instant(seconds: (now.day + 1) * 86_400)
    }
    for region in [Self.all, region] {
      try connection.run(
        """
        INSERT INTO sms_count (scope_key, day, region, sent)
        VALUES (\(scope.key), \(now.day), \(region), 1)
        ON CONFLICT (scope_key, day, region) DO UPDATE SET sent = sms_count.sent + 1
        """)
    }
    return nil
  }

  private func limit(of region: String) -> Int { region == Self.all ? perPool : perRegion }

  /// Returns the number of messages of a pool today; nil if no limit is reached, including that of
  /// phone sign-in if it's enabled.
  func reached(
    in scope: Scope, at now: Instant, _ connection: borrowing Connection
  ) throws -> Int? {
    let sent = try connection.all(
      "SELECT region, sent FROM sms_count WHERE scope_key = \(scope.key) AND day = \(now.day)"
    ) { (region: try $0.value(0) as String, sent: try $0.value(1) as Int) }
    // Most pools send none.
    guard !sent.isEmpty else { return nil }
    let isSignInOn = scope.tenant == nil ? try SignIns.methods(scope, connection).phone : false
    let limits = isSignInOn ? try forSignIn(in: scope, connection) : self
    return sent.first { $0.sent >= limits.limit(of: $0.region) }?.sent
  }

  /// Deletes the counts of days before yesterday.
  static func purgeExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    try connection.deletePart(
      "FROM sms_count WHERE day < \(now.day - 1)", of: "sms_count", by: "scope_key, day, region")
  }
}
