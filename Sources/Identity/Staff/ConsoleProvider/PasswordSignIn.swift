import Database

/// Whether administrators can sign in without the provider.
enum PasswordSignIn {
  static let setting = InstanceValue("break_glass_account")

  /// Returns the break-glass account if password sign-in is off; nil if it's on.
  static func find(_ connection: borrowing Connection) throws -> ID<Administrator>? {
    try setting.read(connection).map { ID($0) }
  }

  static func admits(
    _ id: ID<Administrator>?, _ connection: borrowing Connection
  ) throws -> Bool {
    admits(id, breakGlass: try find(connection))
  }

  /// Returns whether an administrator can sign in with a password or passkey, given the break-glass
  /// account, which is nil if password sign-in is on.
  static func admits(_ id: ID<Administrator>?, breakGlass: ID<Administrator>?) -> Bool {
    breakGlass == nil || breakGlass == id
  }

  /// Returns whether an administrator can be the break-glass account: they manage administrators on the
  /// instance, without an end date and not only because of a group, and have a password or a passkey.
  static func suits(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> Bool {
    let isOwner = try connection.first(
      """
      SELECT 1 FROM administrator_grant
      WHERE administrator_id = \(id) AND \(Administrators.isLastingOwner)
        AND is_from_provider = 0
      """
    ) { _ in true }
    return try isOwner == true && SignInWays.find(id, connection)?.hasOwn == true
  }

  /// Turns password sign-in off for everyone except an owner, or on; returns false if nothing changes.
  @discardableResult
  static func set(
    _ owner: ID<Administrator>?, _ context: ActionContext, _ connection: borrowing Connection
  ) throws -> Bool {
    let old = try find(connection)
    guard old != owner else { return false }
    try setting.store(owner?.text, connection)
    func name(_ id: ID<Administrator>?) throws -> AuditValue {
      guard let id else { return .absent }
      return .text(
        try Administrators.present(id, at: context.now, connection)?.email ?? id.text)
    }
    var entry = AuditEntry(.instancePasswordSignIn, of: nil)
    entry.add(.administratorPasswordSignIn, from: .flag(old == nil), to: .flag(owner == nil))
    entry.add(.breakGlassAccount, from: try name(old), to: try name(owner))
    try context.record(entry, connection)
    return true
  }
}

extension ConsoleProviders {
  public func breakGlassAccount() async throws -> ID<Administrator>? {
    try await store.read { try PasswordSignIn.find($0) }
  }

  /// Turns password sign-in on, for operators with access to the data folder.
  ///
  /// - Returns: False if it was on.
  public func turnOnPasswordSignIn(by author: Author) async throws -> Bool {
    try await store.run(.changeSignInProvider, by: .program(author), in: .instance) {
      context, connection in try PasswordSignIn.set(nil, context, connection)
    }.value
  }
}

extension Administrators {
  /// Checks that an owner without an end date can sign in, and that the break-glass account can if
  /// password sign-in is off, after an administrator lost roles or a way to sign in.
  ///
  /// Without a role of theirs that the check is about, it's omitted: the change couldn't make a
  /// difference, and has to be possible when no owner can sign in, too. The record has the ends
  /// that the roles had before the change. After the loss of a way to sign in, `grants` are all of
  /// the administrator's roles. Throws ``ManagementError/lastOwner``,
  /// ``ManagementError/breakGlassAccount``, or database errors.
  static func requireOwners(
    after record: AdministratorRecord, losing grants: [Grant], _ connection: borrowing Connection
  ) throws {
    let isOwner = grants.contains { $0.managesAdministrators && record.grantEnds[$0] == nil }
    guard isOwner else { return }
    guard try lastingOwners(connection).contains(where: { try canSignIn($0.id, connection) }) else {
      throw ManagementError.lastOwner
    }
    if let account = try PasswordSignIn.find(connection),
      try !PasswordSignIn.suits(account, connection)
    {
      throw ManagementError.breakGlassAccount
    }
  }

  /// Returns whether an owner without an end date, whose role isn't only from a group, can sign in
  /// without the provider.
  ///
  /// A role that's from a group would go with the provider, or at the next sign-in with another one.
  static func hasOwnerWithOwnSignIn(_ connection: borrowing Connection) throws -> Bool {
    try lastingOwners(connection).contains { try PasswordSignIn.suits($0.id, connection) }
  }

  static func canSignIn(
    _ id: ID<Administrator>, _ connection: borrowing Connection
  ) throws -> Bool {
    try SignInWays.find(id, connection)?.admit(id, breakGlass: PasswordSignIn.find(connection))
      ?? false
  }
}

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
