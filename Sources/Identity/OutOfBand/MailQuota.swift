import Database

/// How many mails may be asked for within an hour.
///
/// They are counted by the name of what is bounded, whether anything is sent or not, so that an
/// address without an account meets the same bound.
enum MailQuota {
  /// To one address.
  static let perAddress = 10
  /// From one network: many people may share an address.
  static let perNetwork = 300
  private static let window: Int64 = 3_600

  static func name(to email: String, in scope: Scope) -> String {
    "mail to \(scope.key) \(TypedEmail(email).digest)"
  }

  /// Mails that undo a change are bounded apart: by asking for others nobody can keep the warning of
  /// a change from the user.
  static func name(warning email: String, in scope: Scope) -> String {
    "warning to \(scope.key) \(TypedEmail(email).digest)"
  }

  static func name(from address: String) -> String { "mail from \(Network.name(of: address))" }

  /// Counts a mail.
  ///
  /// - Returns: Nil when it may be sent; when it may not, from when on one may ask again.
  static func take(
    _ name: String, limit: Int, at now: Instant, _ connection: borrowing Connection
  ) throws -> Instant? {
    let row = try connection.first(
      "SELECT failures, expires_at FROM throttle WHERE name = \(name)"
    ) { row in (count: try row.value(0) as Int, end: Instant(microseconds: try row.value(1))) }
    let current = row.flatMap { $0.end > now ? $0 : nil }
    if let current, current.count >= limit { return current.end }
    let end = current?.end ?? now.advanced(bySeconds: window)
    let count = (current?.count ?? 0) + 1
    try connection.run(
      """
      INSERT INTO throttle (name, failures, blocked_until, expires_at)
      VALUES (\(name), \(count), 0, \(end.microseconds))
      ON CONFLICT (name) DO UPDATE SET failures = excluded.failures,
        blocked_until = 0, expires_at = excluded.expires_at
      """)
    return nil
  }
}
