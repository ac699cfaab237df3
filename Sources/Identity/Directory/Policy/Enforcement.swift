public import Database
import JSON
import Synchronization

/// How the server enforces mandatory enrollment.
///
/// It has an effect only while TOTP is enabled and the enrollment pattern is “mandatory”.
public struct Enforcement: Hashable, Sendable {
  /// What happens at the sign-in of a user who should have a second factor and has none.
  public enum Mode: String, CaseIterable, Sendable, SQLConvertible {
    /// The ID token says so, and the application decides.
    case claim
    /// The sign-in is refused, and the user is sent an enrollment link.
    case refuse
  }

  public let mode: Mode
  public let from: Day
  /// The days that each user has, counted from the first day or from the creation of the account,
  /// whichever is later.
  public let graceDays: Int

  public static let graceRange = 0...90

  /// Creates an enforcement; nil if the number of days isn't in ``graceRange``.
  public init?(_ mode: Mode, from day: Day, graceDays: Int) {
    guard Self.graceRange.contains(graceDays) else { return nil }
    (self.mode, from, self.graceDays) = (mode, day, graceDays)
  }

  private init(_ mode: Mode, like other: Enforcement) {
    (self.mode, from, graceDays) = (mode, other.from, other.graceDays)
  }

  /// Returns what a server does: one that sends no email refuses no one, because refused users
  /// couldn't get an enrollment link.
  public func applied(carriesMail: Bool) -> Enforcement {
    carriesMail ? self : Enforcement(.claim, like: self)
  }

  /// Reads the columns `enforcement, enforced_from, grace_days`; nil without enforcement.
  init?(_ row: inout Row) throws {
    let (mode, day, days): (Mode?, String?, Int?)
    (mode, day, days) = (try row.next(), try row.next(), try row.next())
    guard let mode, let day = day.flatMap({ Day($0) }), let days else { return nil }
    self.init(mode, from: day, graceDays: days)
  }

  /// Returns whether users are refused less often, or later, than by another enforcement.
  func isLooser(than other: Enforcement) -> Bool {
    if mode == .claim, other.mode == .refuse { return true }
    return from > other.from || graceDays > other.graceDays
  }

  /// The first moment at which a user can be due, given the day of the pattern “mandatory”.
  func start(mandatoryFrom: Day?) -> Instant {
    max(from.start, mandatoryFrom?.start ?? from.start)
  }

  /// The enforcement in policy files and evidence.
  var json: JSON {
    [
      "mode": .string(mode.rawValue), "from": .string(from.description),
      "graceDays": .number(JSON.Number(graceDays)),
    ]
  }
}

extension PolicyEdit {
  /// The enforcement that has an effect; nil while TOTP is disabled or the pattern isn't
  /// “mandatory”.
  public var effectiveEnforcement: Enforcement? {
    configuration.isTOTPOn && pattern == .mandatory ? enforcement : nil
  }

  /// The first moment at which a user is due; nil without enforcement in effect.
  var firstDue: Instant? {
    effectiveEnforcement.map { enforcement in
      enforcement.start(mandatoryFrom: mandatoryFrom)
        .advanced(bySeconds: Int64(enforcement.graceDays) * 86_400)
    }
  }

  /// The first day on which users are due, not before today; nil without enforcement in effect.
  public func firstDueDay(at now: Instant) -> Day? { firstDue.map { Day(max($0, now)) } }
}

extension Outbox {
  fileprivate static let mark = InstanceValue("sends_email")

  /// Returns whether a new policy refuses users who couldn't be sent enrollment links, and the old
  /// one refused no one.
  ///
  func isMissing(
    for new: PolicyEdit, over old: PolicyEdit, _ connection: borrowing Connection
  ) throws -> Bool {
    guard new.enforcement?.mode == .refuse, old.enforcement?.mode != .refuse else { return false }
    return try !isMailSent(connection)
  }

  /// Returns whether emails are sent: by this process, or by the server when it last started, since
  /// commands don't send them.
  func isMailSent(_ connection: borrowing Connection) throws -> Bool {
    try carriesMail || Self.mark.read(connection) == "true"
  }
}

extension OutboxEntries {
  /// Records whether this server sends emails, and its public URL, for commands that run without
  /// it; call it when the server starts.
  ///
  /// `publicURL` has no trailing slash.
  public func recordServer(at publicURL: String) async throws {
    try await store.write { connection in
      try Outbox.mark.store(String(store.outbox.carriesMail), connection)
      try ActionLinks.lastURL.store(publicURL, connection)
    }
  }
}

/// Whether a user should have a second factor by now.
public enum EnrollmentDuty: Sendable, Equatable {
  /// The user doesn't have to enroll, or not before a time.
  case notDue(until: Instant?)
  case due(since: Instant)
  /// The user has a second factor whose codes are required.
  case enrolled
  case exempt

  /// Decides whether a user should have a second factor by now.
  ///
  /// A factor of a disabled kind doesn't count. Anonymous users can't enroll, so they're never due.
  public init(
    _ policy: PolicyEdit, factors: Set<Factor.Kind>, isAnonymous: Bool, isExempt: Bool,
    createdAt: Instant, at now: Instant
  ) {
    guard factors.isDisjoint(with: policy.configuration.kinds) else {
      self = .enrolled
      return
    }
    guard let enforcement = policy.effectiveEnforcement, !isAnonymous else {
      self = .notDue(until: nil)
      return
    }
    guard !isExempt else {
      self = .exempt
      return
    }
    let start = max(enforcement.start(mandatoryFrom: policy.mandatoryFrom), createdAt)
    let dueAt = start.advanced(bySeconds: Int64(enforcement.graceDays) * 86_400)
    self = now < dueAt ? .notDue(until: dueAt) : .due(since: dueAt)
  }

  public var isDue: Bool { if case .due = self { true } else { false } }

  /// When the user should have enrolled; nil if they don't have to.
  public var dueAt: Instant? {
    switch self {
    case .notDue(let until): until
    case .due(let since): since
    case .enrolled, .exempt: nil
    }
  }
}

/// The users of a pool without a second factor of a kind that a configuration enables.
public struct UnenrolledUsers: Sendable, Equatable {
  public let total: Int
  public let exempt: Int
  /// The number of them who are anonymous, and not exempt.
  public let anonymous: Int
  /// Whether any of them has a factor of a disabled kind.
  public let haveDisabledFactors: Bool

  /// The number of users who have to enroll where enrollment is mandatory, once their time is over.
  ///
  /// Anonymous users can't enroll; see ``EnrollmentDuty``.
  public var required: Int { max(total - exempt - anonymous, 0) }

  static func count(
    _ policy: Policy, under configuration: MFAConfiguration, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> UnenrolledUsers {
    let (pool, kinds) = (policy.pool, configuration.kinds)
    let total = policy.users(without: kinds)
    let exempt = try connection.first(
      """
      SELECT count(*) FROM exemption e
        \(SQL.orderedJoin) account a ON a.account_key = e.account_key
      WHERE a.scope_key = \(pool.key) AND \(Exemptions.current(in: pool, at: now))
        \(without(kinds))
      """
    ) { try $0.next() as Int }
    let anonymous = try connection.first(
      """
      SELECT count(*) FROM account a \(index: "account_anonymous")
      WHERE a.scope_key = \(pool.key) AND a.anonymous = 1 \(without(kinds))
        AND \(isNotExempt(at: now))
      """
    ) { try $0.next() as Int }
    return UnenrolledUsers(
      total: total, exempt: exempt ?? 0, anonymous: anonymous ?? 0,
      haveDisabledFactors: total != policy.users - policy.enrolledUsers)
  }

  /// The further condition that accounts `a` have no factor of these kinds.
  fileprivate static func without(_ kinds: Set<Factor.Kind>) -> SQL {
    let totp: SQL = kinds.contains(.totp) ? "AND a.has_totp = 0" : ""
    let phone: SQL = kinds.contains(.phone) ? "AND a.has_phone = 0" : ""
    return "\(totp) \(phone)"
  }

  /// The condition that accounts `a` aren't exempt from MFA.
  fileprivate static func isNotExempt(at now: Instant) -> SQL {
    """
    NOT EXISTS (SELECT 1 FROM exemption e
      WHERE e.account_key = a.account_key AND e.ends_at > \(now))
    """
  }
}

extension Policies {
  /// `configuration` is the one that enables kinds of factors; nil for the policy's.
  public func unenrolledUsers(
    _ policy: Policy, under configuration: MFAConfiguration? = nil
  ) async throws -> UnenrolledUsers {
    try await store.read { now, connection in
      try UnenrolledUsers.count(
        policy, under: configuration ?? policy.configuration, at: now, connection)
    }
  }

  /// Returns how many users of a pool have no second factor and no exemption, but still have time to
  /// enroll; up to a minute old for pools of more than 10,000 users.
  public func usersInGrace(
    _ policy: Policy, of unenrolled: UnenrolledUsers
  ) async throws -> Int {
    guard let enforcement = policy.edit.effectiveEnforcement else { return 0 }
    let (now, pool) = (store.clock.now(), policy.pool)
    let start = enforcement.start(mandatoryFrom: policy.mandatoryFrom)
    let cutoff = now.advanced(bySeconds: -Int64(enforcement.graceDays) * 86_400)
    guard start <= cutoff else { return unenrolled.required }
    guard enforcement.graceDays > 0 else { return 0 }
    return try await store.read { connection in
      try graceCounts.value(
        of: pool.key, version: policy.version, users: policy.users, at: now
      ) {
        try connection.first(
          """
          SELECT count(*) FROM account a \(index: "account_by_creation")
          WHERE a.scope_key = \(pool.key) AND a.created_at > \(cutoff)
            AND a.anonymous = 0 \(UnenrolledUsers.without(policy.configuration.kinds))
            AND \(UnenrolledUsers.isNotExempt(at: now))
          """
        ) { try $0.next() } ?? 0
      }
    }
  }
}

/// Counts of users of large pools who still have time to enroll.
///
/// Counting hundreds of thousands of users takes longer than a page may, so a count is kept for up to
/// a minute. Those of small pools aren't kept.
final class GraceCounts: Sendable {
  private struct Entry {
    let version: Int
    let end: Instant
    let count: Int
  }

  /// The number of users of a pool up to which they are counted each time.
  static let small = 10_000
  /// How long a count is kept, in seconds.
  static let lifetime: Int64 = 60
  /// The maximum number of counts; when it's exceeded, all are dropped.
  private static let limit = 1_000
  private let entries = Mutex<[Int64: Entry]>([:])

  /// Returns the count kept for a version of a pool's policy, or else the result of `count`.
  func value(
    of pool: Int64, version: Int, users: Int, at now: Instant, orCount count: () throws -> Int
  ) rethrows -> Int {
    guard users > Self.small else { return try count() }
    if let entry = entries.withLock({ $0[pool] }), entry.version == version, now < entry.end,
      now >= entry.end.advanced(bySeconds: -Self.lifetime)
    {
      return entry.count
    }
    let found = try count()
    entries.withLock { entries in
      if entries.count >= Self.limit { entries = [:] }
      entries[pool] = Entry(
        version: version, end: now.advanced(bySeconds: Self.lifetime), count: found)
    }
    return found
  }
}
