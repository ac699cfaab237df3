import Database
import OTP

/// The time steps of a secret that a database knows as used.
struct RestoredSteps: Sendable {
  /// The secret's place: a factor of a user, or an administrator.
  enum Place: Sendable {
    case factor(account: Int64, enrollment: String)
    case removedFactor(account: Int64, enrollment: String)
    case administrator(String)
  }

  let place: Place
  let used: UsedSteps
  var clock = FactorClock.server

  private init(_ place: Place, _ row: inout Row) throws {
    (self.place, used) = (place, try UsedSteps(&row))
  }

  /// Reads the secrets with which a step after the given one was used, while the clock was ahead or
  /// by a device with a fast clock.
  static func after(_ step: Int64, _ connection: borrowing Connection) throws -> [RestoredSteps] {
    try connection.all(
      """
      SELECT account_key, enrollment_id, last_step, unused_steps FROM factor
      WHERE account_key > 0 AND last_step > \(step) AND sealed_secret IS NOT NULL
      """
    ) { try RestoredSteps(.factor(account: $0.next(), enrollment: $0.next()), &$0) }
      + connection.all(
        """
        SELECT account_key, enrollment_id, last_step, unused_steps FROM removed_factor
        WHERE account_key > 0 AND last_step > \(step) AND sealed_secret IS NOT NULL
        """
      ) { try RestoredSteps(.removedFactor(account: $0.next(), enrollment: $0.next()), &$0) }
      + connection.all(
        """
        SELECT administrator_id, totp_last_step, totp_unused_steps FROM administrator
        WHERE administrator_id > '' AND totp_last_step > \(step) AND totp_secret IS NOT NULL
        """
      ) { try RestoredSteps(.administrator($0.next()), &$0) }
  }

  /// Reads the secrets of devices with a fast clock that were resynchronized.
  ///
  /// A replaced database may be of an earlier version, which has no offsets; its used steps say enough.
  private static func ofFastClocks(_ connection: borrowing Connection) throws -> [RestoredSteps] {
    try connection.all(
      """
      SELECT account_key, enrollment_id, last_step, unused_steps, clock_offset FROM factor
      WHERE account_key > 0 AND clock_offset > 0
      """
    ) { row in
      var steps = try RestoredSteps(.factor(account: row.next(), enrollment: row.next()), &row)
      steps.clock = FactorClock(offset: try row.next())
      return steps
    }
      + connection.all(
        """
        SELECT account_key, enrollment_id, last_step, unused_steps, clock_offset
        FROM removed_factor
        WHERE account_key > 0 AND clock_offset > 0 AND sealed_secret IS NOT NULL
        """
      ) { row in
        var steps = try RestoredSteps(
          .removedFactor(account: row.next(), enrollment: row.next()), &row)
        steps.clock = FactorClock(offset: try row.next())
        return steps
      }
  }

  /// Returns the steps between the newest time in both databases and the present one; nil for few.
  ///
  /// If the clock is ahead, the steps of the correct time are among them.
  static func unused(since newest: Instant?, until present: Int64) -> ClosedRange<Int64>? {
    guard let newest else { return nil }
    let first = newest.seconds / TOTPFactor.period + UsedSteps.margin + 1
    let last = present - UsedSteps.margin - 1
    return last - first < UsedSteps.shortest ? nil : first...last
  }

  /// Marks time steps up to now as used, and later ones that were used according to the replaced
  /// database.
  ///
  /// Now is the later of the server's time and the device's: the clock may have been resynchronized
  /// after the backup.
  ///
  /// `former` also has the steps up to now that stay unused.
  static func use(
    _ former: FormerState, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let step = now.seconds / TOTPFactor.period
    let last = former.unused.map { $0.lowerBound - 1 } ?? step
    func use(_ used: inout UsedSteps, of clock: FactorClock = .server) {
      let ahead = max(clock.step(at: now) - step, 0)
      used.accept(through: last + ahead)
      if last < step {
        used.accept(step + ahead, at: step + ahead, expected: last + ahead)
      }
    }
    var all = UsedSteps()
    use(&all)
    let fast = try ofFastClocks(connection)
    for ahead in try after(last, connection) + fast {
      var used = ahead.used
      use(&used, of: ahead.clock)
      try ahead.place.store(used, connection)
    }
    try connection.run(
      """
      UPDATE factor SET last_step = \(all.last), unused_steps = \(all.unusedText)
      WHERE account_key > 0 AND sealed_secret IS NOT NULL AND coalesce(last_step, 0) <= \(last)
      """)
    try connection.run(
      """
      UPDATE removed_factor SET last_step = \(all.last), unused_steps = \(all.unusedText)
      WHERE account_key > 0 AND sealed_secret IS NOT NULL AND coalesce(last_step, 0) <= \(last)
      """)
    try connection.run(
      """
      UPDATE administrator SET totp_last_step = \(all.last), totp_unused_steps = \(all.unusedText)
      WHERE administrator_id > '' AND totp_secret IS NOT NULL
        AND coalesce(totp_last_step, 0) <= \(last)
      """)
    for ahead in former.steps {
      // A factor may be enrolled in one database and removed in the other.
      for place in ahead.place.both {
        guard var used = try place.read(connection) else { continue }
        used.formUnion(ahead.used)
        use(&used)
        try place.store(used, connection)
      }
    }
  }
}

extension RestoredSteps.Place {
  /// The places of the same secret.
  fileprivate var both: [Self] {
    switch self {
    case .factor(let account, let enrollment), .removedFactor(let account, let enrollment):
      [
        .factor(account: account, enrollment: enrollment),
        .removedFactor(account: account, enrollment: enrollment),
      ]
    case .administrator: [self]
    }
  }

  fileprivate func read(_ connection: borrowing Connection) throws -> UsedSteps? {
    switch self {
    case .factor(let account, let enrollment):
      return try connection.first(
        """
        SELECT last_step, unused_steps FROM factor
        WHERE account_key = \(account) AND enrollment_id = \(enrollment)
          AND sealed_secret IS NOT NULL
        """, UsedSteps.init)
    case .removedFactor(let account, let enrollment):
      return try connection.first(
        """
        SELECT last_step, unused_steps FROM removed_factor
        WHERE account_key = \(account) AND enrollment_id = \(enrollment)
          AND sealed_secret IS NOT NULL
        """, UsedSteps.init)
    case .administrator(let id):
      return try connection.first(
        """
        SELECT totp_last_step, totp_unused_steps FROM administrator
        WHERE administrator_id = \(id) AND totp_secret IS NOT NULL
        """, UsedSteps.init)
    }
  }

  fileprivate func store(_ used: UsedSteps, _ connection: borrowing Connection) throws {
    switch self {
    case .factor(let account, let enrollment):
      try connection.run(
        """
        UPDATE factor SET last_step = \(used.last), unused_steps = \(used.unusedText)
        WHERE account_key = \(account) AND enrollment_id = \(enrollment)
        """)
    case .removedFactor(let account, let enrollment):
      try connection.run(
        """
        UPDATE removed_factor SET last_step = \(used.last), unused_steps = \(used.unusedText)
        WHERE account_key = \(account) AND enrollment_id = \(enrollment)
        """)
    case .administrator(let id):
      try connection.run(
        """
        UPDATE administrator SET totp_last_step = \(used.last),
          totp_unused_steps = \(used.unusedText)
        WHERE administrator_id = \(id)
        """)
    }
  }
}

extension UsedSteps {
  /// Reads the last used step and those before it that are unused.
  init(_ row: inout Row) throws {
    self.init(last: try row.next(), unused: try row.next())
  }
}
