public import Database
public import OTP

/// An enrolled second factor.
public struct Factor: Sendable {
  public enum Kind: String, Sendable, CaseIterable, SQLConvertible {
    case totp
    case phone
  }

  /// The enrollment ID.
  public let id: ID<Factor>
  public let kind: Kind
  public let displayName: String?
  public let enrolledAt: Instant
  /// The time a code of the factor was last accepted; nil if none was since enrollment.
  public let lastUsedAt: Instant?
  /// The phone number in E.164 format; nil for other kinds.
  public let phoneNumber: String?
  /// The time until which its codes are rejected; nil or in the past if they're accepted.
  public let suspendedUntil: Instant?
  /// How many intervals the device's clock is ahead of the server's, negative if it's behind; nil if
  /// the factor wasn't resynchronized.
  public let clockOffset: Int?
  /// The stored form of its used steps.
  private let steps: (last: Int64?, unused: String?)

  /// The maximum length of a name, in Unicode scalars.
  public static let longestName = 100
  /// The maximum length of an enrollment ID, in bytes.
  static let longestID = 128

  public var visibleName: String? { displayName?.ifVisible }

  public var label: String { visibleName ?? phoneNumber ?? "authenticator" }

  public func isSuspended(at now: Instant) -> Bool { suspendedUntil.map { now < $0 } ?? false }

  /// Returns when a device that showed the code of a step at a time shows the first one after the last
  /// accepted one; nil if that's the next one, or earlier.
  func accepted(after step: Int64, at moment: Instant) -> Instant? {
    let used = UsedSteps(last: steps.last, unused: steps.unused)
    let wait = (used.last(at: FactorClock.server.step(at: moment)) ?? -1) + 1 - step
    return wait > 1 ? moment.advanced(bySeconds: wait * TOTPFactor.period) : nil
  }

  /// Returns from when codes of a device that shows the server's time are accepted, if the factor has
  /// no offset; nil if the next one is.
  ///
  /// A device that was fast has used up steps that are yet to come.
  public func acceptedWithoutOffset(at now: Instant) -> Instant? {
    accepted(after: FactorClock.server.step(at: now), at: now)
  }

  /// Returns the name to store; nil if it's blank or nobody could see it.
  static func storedName(_ name: String?) -> String? { name?.trimmed.ifVisible }

  static func isTooLong(_ name: String) -> Bool { name.unicodeScalars.count > longestName }

  static let columns: SQL = """
    enrollment_id, kind, display_name, enrolled_at, last_used_at, phone, suspended_until,
      clock_offset, last_step, unused_steps
    """

  init(_ row: inout Row) throws {
    id = try row.next()
    kind = try row.next()
    displayName = try row.next()
    enrolledAt = try row.next()
    lastUsedAt = try row.next()
    phoneNumber = try row.next()
    suspendedUntil = try row.next()
    clockOffset = try row.next()
    steps = (last: try row.next(), unused: try row.next())
  }

  /// Reads an account's factors, in order of enrollment.
  static func all(of account: Int64, _ connection: borrowing Connection) throws -> [Factor] {
    try connection.all(
      "SELECT \(columns) FROM factor WHERE account_key = \(account) ORDER BY position"
    ) { try Factor(&$0) }
  }
}

package struct NewFactor: Sendable {
  package var id: ID<Factor>
  let kind: Factor.Kind
  let displayName: String?
  var enrolledAt: Instant
  package var phoneNumber: String?
  var sealedSecret: SealedTOTPSecret?
  var used: UsedSteps
  var lastUsedAt: Instant?
  var suspendedUntil: Instant?

  package init(
    id: ID<Factor>, kind: Factor.Kind, displayName: String?, enrolledAt: Instant,
    phoneNumber: String? = nil, sealedSecret: SealedTOTPSecret? = nil,
    used: UsedSteps = UsedSteps(),
    lastUsedAt: Instant? = nil
  ) {
    self.id = id
    self.kind = kind
    self.displayName = displayName
    self.enrolledAt = enrolledAt
    self.phoneNumber = phoneNumber
    self.sealedSecret = sealedSecret
    self.used = used
    self.lastUsedAt = lastUsedAt
  }
}

/// Writes factors and the data derived from them on the account and the pool.
package enum FactorRecord {
  /// Inserts a factor as the account's newest.
  static func insert(
    _ new: NewFactor, for account: Account, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    let place: SQL =
      "(SELECT coalesce(max(position), 0) + 1 FROM factor WHERE account_key = \(account.key))"
    try insert(new, of: account.key, at: place, connection)
    try connection.run(
      """
      UPDATE campaign_user SET enrolled_at = \(new.enrolledAt)
      WHERE account_key = \(account.key) AND enrolled_at IS NULL
      """)
    // A user with a new factor can't have removed factors restored as well.
    try RemovedFactors.end(account.key, connection)
    try reconcile(account.key, in: pool, connection)
  }

  /// Inserts factors after a position; the caller updates the account's flags, the counts, and the
  /// search index.
  package static func store(
    _ factors: [NewFactor], of key: Int64, after place: Int, _ connection: borrowing Connection
  ) throws {
    for (index, new) in factors.enumerated() {
      try insert(new, of: key, at: "\(place + index + 1)", connection)
    }
  }

  private static func insert(
    _ new: NewFactor, of key: Int64, at position: SQL, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO factor (account_key, position, enrollment_id, kind, display_name, enrolled_at,
        sealed_secret, secret_digest, last_step, unused_steps, phone, last_used_at,
        suspended_until)
      VALUES (\(key), \(position), \(new.id), \(new.kind), \(new.displayName),
        \(new.enrolledAt), \(new.sealedSecret?.box), \(new.sealedSecret?.digest),
        \(new.used.last), \(new.used.unusedText), \(new.phoneNumber),
        \(new.lastUsedAt), \(new.suspendedUntil))
      """)
  }

  /// Updates the name and enrollment time of a factor; the caller updates the search index.
  static func update(
    _ factor: NewFactor, of key: Int64, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE factor SET display_name = \(factor.displayName),
        enrolled_at = \(factor.enrolledAt)
      WHERE account_key = \(key) AND enrollment_id = \(factor.id)
      """)
  }

  /// Deletes factors, and updates the account's row once.
  ///
  /// `account` is the account with all of its factors. With `end`, the account's sessions end too.
  ///
  /// - Returns: The number of sessions ended.
  @discardableResult
  static func delete(
    _ factors: [Factor], of account: Account, endingSessionsAt end: Instant? = nil,
    in pool: Pool, _ connection: borrowing Connection
  ) throws -> Int {
    for factor in factors {
      try connection.run(
        """
        DELETE FROM factor
        WHERE account_key = \(account.key) AND enrollment_id = \(factor.id)
        """)
    }
    let rest = account.without(factors)
    let (before, after) = (marks(account), marks(rest))
    // The incorrect codes may have been for a deleted factor, and must not keep a user with another
    // factor locked out; so may those that showed a wrong clock, if it's an app.
    let clock: SQL = factors.contains { $0.kind == .totp } ? "clock_off = 0, " : ""
    let columns: SQL = """
      wrong_codes = 0, \(clock)codes_blocked_until = NULL, has_totp = \(after.totp),
        has_phone = \(after.phone),
        suspended_until = \(rest.factors.compactMap(\.suspendedUntil?.microseconds).max())
      """
    var ended = 0
    if let end {
      ended = try AccountRecord.endSessions(account.key, setting: columns, at: end, connection)
    } else {
      try AccountRecord.set(columns, of: account.key, connection)
    }
    var change = before.change(to: after)
    if account.codesBlockedUntil != nil { change.locked = -1 }
    try CountChanges.append(change, to: pool.key, connection)
    try BackupCodeStore.reconcile(account.key, hasTOTP: after.totp, connection)
    try SearchIndex.update(rest, connection)
    return ended
  }

  /// Updates the account's flags, the pool's counts, and the search index after a change to its
  /// factors.
  static func reconcile(
    _ key: Int64, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    let before = try connection.first(
      "SELECT has_totp, has_phone, suspended_until FROM account WHERE account_key = \(key)"
    ) { row in
      (
        marks: try Marks(totp: row.next(), phone: row.next()),
        suspendedUntil: try row.next() as Instant?
      )
    }
    guard let (before, suspendedUntil) = before else { return }
    let factors = try Factor.all(of: key, connection)
    if factors.compactMap(\.suspendedUntil).max() != suspendedUntil {
      try settleSuspension(key, connection)
    }
    let after = Marks(
      totp: factors.contains { $0.kind == .totp }, phone: factors.contains { $0.kind == .phone })
    if before != after {
      try AccountRecord.set(
        "has_totp = \(after.totp), has_phone = \(after.phone)", of: key, connection)
      try CountChanges.append(before.change(to: after), to: pool.key, connection)
    }
    try BackupCodeStore.reconcile(key, hasTOTP: after.totp, connection)
    if let account = try AccountRecord.find(key: key, connection) {
      try SearchIndex.update(account, connection)
    }
  }

  /// Stores the latest end of the factors' suspensions on the account, for lists.
  static func settleSuspension(_ key: Int64, _ connection: borrowing Connection) throws {
    try AccountRecord.set(
      """
      suspended_until = (SELECT max(suspended_until) FROM factor WHERE account_key = \(key))
      """, of: key, connection)
  }

  private static func marks(_ account: Account) -> Marks {
    Marks(totp: account.has(.totp), phone: account.has(.phone))
  }

  private struct Marks: Equatable {
    let totp: Bool
    let phone: Bool
    var any: Bool { totp || phone }

    func change(to after: Marks) -> AccountCounts {
      var change = AccountCounts()
      change.enrolledUsers = after.any.number - any.number
      change.totpUsers = after.totp.number - totp.number
      change.phoneUsers = after.phone.number - phone.number
      return change
    }
  }
}

extension Bool {
  package var number: Int { self ? 1 : 0 }
}

package enum PhoneFactor {
  /// Inserts a new factor as the account's newest.
  ///
  /// The caller checks the limit and that the phone number isn't already enrolled.
  package static func insert(
    _ id: ID<Factor>, displayName: String?, phoneNumber: String, enrolledAt: Instant,
    for account: Account, in pool: Pool, _ connection: borrowing Connection
  ) throws {
    try FactorRecord.insert(
      NewFactor(
        id: id, kind: .phone, displayName: displayName, enrolledAt: enrolledAt,
        phoneNumber: phoneNumber),
      for: account, in: pool, connection)
  }

  static func accept(
    _ factor: ID<Factor>, of account: Account, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE factor SET last_used_at = \(now)
      WHERE account_key = \(account.key) AND enrollment_id = \(factor)
      """)
  }
}

/// A list of enrollment IDs as one text: each is followed by a line feed, which no ID contains.
enum EnrollmentIDs {
  static func text(of factors: [Factor]) -> String {
    factors.map { $0.id.text + "\n" }.joined()
  }

  /// Returns the IDs in a text; earlier releases separated them with spaces.
  static func list(in text: String) -> [String] {
    text.split(separator: text.utf8.contains(10) ? "\n" : " ").map(String.init)
  }
}

/// Two consecutive codes of a device, as an agent types them.
public struct CodePair: Sendable {
  let first: TypedCode
  let second: TypedCode

  /// Creates a pair of codes, which needn't have the right format.
  public init(first: TypedCode, second: TypedCode) { (self.first, self.second) = (first, second) }

  /// The errors of texts that aren't codes, in the order of the form; they aren't tries.
  var faults: [ActionInputError] {
    (first.isDigits(TOTPFactor.digits) ? [] : [.firstCodeMalformed])
      + (second.isDigits(TOTPFactor.digits) ? [] : [.secondCodeMalformed])
  }
}
