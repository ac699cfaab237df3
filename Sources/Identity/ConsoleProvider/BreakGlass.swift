import Database

/// A sign-in of the break-glass account while password sign-in is off.
public struct BreakGlassMail: Sendable {
  public let name: String
  public let email: String
  public let origin: RequestOrigin
  public let at: Instant
  /// The URL of the audit log in the console.
  public let link: String
}

/// Sign-ins of the break-glass account that owners should look at.
public struct BreakGlassAlert: Sendable {
  public let startedAt: Instant
  public let lastSeenAt: Instant
  public let count: Int

  static let kind = "break-glass"
  /// The maximum number of owners who are emailed about a sign-in.
  public static let mostEmailed = 20
  /// How long an alert is shown after the last sign-in, in seconds (seven days).
  static let shown: Int64 = 7 * 86_400
}

extension ConsoleSessions {
  /// Raises the alert, writes the audit row, and emails the other owners if the break-glass account
  /// signed in without the provider while password sign-in is off.
  func reportBreakGlass(
    _ new: NewConsoleSession, from origin: RequestOrigin, requestID: String,
    _ connection: borrowing Connection
  ) throws {
    let (administrator, now) = (new.session.administrator, new.session.startedAt)
    guard !new.session.provider.isOrigin,
      try PasswordSignIn.find(connection) == administrator.id
    else { return }
    let entry = AuditEntry(.administratorBreakGlass, of: administrator)
    try entry.record(
      by: administrator.author(address: origin.address, requestID: requestID), at: now, connection)
    let continued = try connection.run(
      """
      UPDATE alert SET last_seen_at = \(now), count = count + 1
      WHERE scope_key = 0 AND kind = \(BreakGlassAlert.kind) AND ended_at IS NULL
      """)
    if continued == 0 {
      try connection.run(
        """
        INSERT INTO alert (alert_id, scope_key, kind, started_at, last_seen_at, count)
        VALUES (\(SQL.nextNumber("alert_id", of: "alert")), 0, \(BreakGlassAlert.kind),
          \(now), \(now), 1)
        """)
    }
    let mail = BreakGlassMail(
      name: administrator.displayName, email: administrator.email, origin: origin, at: now,
      link: store.links.instanceAudit)
    try store.outbox.notify(mail, except: administrator.id, at: now, connection)
  }
}

extension Alerts {
  public func breakGlass() async throws -> BreakGlassAlert? {
    try await store.read { connection in
      try connection.first(
        """
        SELECT started_at, last_seen_at, count FROM alert
        WHERE scope_key = 0 AND kind = \(BreakGlassAlert.kind) AND ended_at IS NULL
        """
      ) { row in
        BreakGlassAlert(
          startedAt: try row.next(), lastSeenAt: try row.next(), count: try row.next())
      }
    }
  }

  /// Ends the alert about the break-glass account a week after the last sign-in.
  static func endBreakGlass(at now: Instant, _ connection: borrowing Connection) throws {
    let oldest = now.advanced(bySeconds: -BreakGlassAlert.shown)
    try connection.run(
      """
      UPDATE alert SET ended_at = \(now)
      WHERE scope_key = 0 AND kind = \(BreakGlassAlert.kind) AND ended_at IS NULL
        AND last_seen_at <= \(oldest)
      """)
  }
}

extension Outbox {
  /// Emails the owners, except one, about a sign-in of the break-glass account.
  ///
  /// Does nothing without a mail server; the console shows the alert anyway.
  func notify(
    _ mail: BreakGlassMail, except id: ID<Administrator>, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    guard carriesMail else { return }
    let owners = try Administrators.recipients(
      with: .manageAdministrators, around: nil, atMost: BreakGlassAlert.mostEmailed, at: now,
      connection)
    for owner in owners where owner.id != id {
      guard let owner = try Administrators.present(owner.id, at: now, connection) else { continue }
      try add(
        .breakGlass, .breakGlass(mail), to: owner, with: .manageAdministrators, at: now,
        connection)
    }
  }
}

extension ActionLinks {
  var instanceAudit: String { "\(origin)/audit" }
}
