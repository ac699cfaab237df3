public import Crypto
public import Database

public enum PasswordChangeError: Error, Sendable {
  case wrongPassword
  case throttled(until: Instant)
  /// The session was ended or expired while the passwords were hashed.
  case sessionEnded
}

public struct OwnAccount: Sendable {
  let store: Store
  let administrators: Administrators

  /// Changes the administrator's own password, ends all other sessions, and notifies them.
  ///
  /// Incorrect current passwords are counted separately from those at sign-in.
  ///
  /// - Returns: The number of other sessions ended.
  @discardableResult
  public func changePassword(
    of session: ConsoleSession, old: Secret, new: Secret, by author: Author
  ) async throws -> Int {
    let administrator = session.administrator
    let hash = try await administrators.verifyPassword(old, of: administrator, by: author)
    let fresh = try await administrators.check(new, of: administrator.email)
    let now = store.clock.now()
    return try await store.write(by: author) { connection in
      guard try ConsoleSessions.isOpen(session, at: now, connection) else {
        throw PasswordChangeError.sessionEnded
      }
      let changed = try connection.run(
        """
        UPDATE administrator SET password_hash = \(fresh.encoded)
        WHERE administrator_id = \(administrator.id) AND password_hash = \(hash.encoded)
        """)
      // Another request changed it while this one was being hashed.
      guard changed == 1 else { throw PasswordChangeError.wrongPassword }
      let ended = try ConsoleSessions.endAll(
        of: administrator.id, but: session.id, at: now, connection)
      var entry = AuditEntry(.administratorPassword, of: administrator)
      entry.addEnded(ended)
      try entry.record(by: author, at: now, connection)
      try store.outbox.notify(administrator, .passwordChanged, at: now, connection)
      return ended
    }
  }

  /// Sets a new password, ends all of an administrator's sessions, and notifies them; for operators
  /// with access to the data folder.
  public func resetPassword(
    of administrator: Administrator, new: Secret, by author: Author
  ) async throws {
    let fresh = try await administrators.check(new, of: administrator.email)
    let now = store.clock.now()
    try await store.write(by: author) { connection in
      let changed = try connection.run(
        """
        UPDATE administrator SET password_hash = \(fresh.encoded)
        WHERE administrator_id = \(administrator.id)
        """)
      guard changed == 1 else { throw CallError.notFound }
      try ThrottleCharge.reset(
        .consolePasswords(of: TypedEmail(administrator.email)), connection)
      try ThrottleCharge.reset(.passwords(of: administrator.id), connection)
      let ended = try ConsoleSessions.endAll(of: administrator.id, but: nil, at: now, connection)
      var entry = AuditEntry(.administratorResetPassword, of: administrator)
      entry.addEnded(ended)
      try entry.record(by: author, at: now, connection)
      try store.outbox.notify(
        administrator, .passwordReset, by: author.actor, at: now, connection)
    }
  }

  /// Saves an administrator's display preferences; a malformed time zone is ignored.
  public func change(
    _ preferences: Preferences, of administrator: Administrator, from old: Preferences,
    by author: Author
  ) async throws {
    guard preferences.isPlausible, preferences != old else { return }
    let now = store.clock.now()
    try await store.write(by: author) { connection in
      let changed = try connection.run(
        """
        UPDATE administrator SET time_zone = \(preferences.timeZone), theme = \(preferences.theme)
        WHERE administrator_id = \(administrator.id)
        """)
      guard changed == 1 else { throw CallError.notFound }
      var entry = AuditEntry(.administratorPreferences, of: administrator)
      entry.compare(old.auditFields, preferences.auditFields)
      try entry.record(by: author, at: now, connection)
    }
  }

  public func recoveryCodesLeft(_ id: ID<Administrator>) async throws -> Int {
    try await store.read { try RecoveryCodes.left(of: id, $0) }
  }
}

public struct Preferences: Hashable, Sendable {
  public enum Theme: String, CaseIterable, Sendable, SQLConvertible {
    case system
    case light
    case dark
  }

  /// The time zone, as an IANA name such as `Europe/Berlin`.
  public var timeZone: String
  public var theme: Theme

  public init(timeZone: String = "UTC", theme: Theme = .system) {
    self.timeZone = timeZone
    self.theme = theme
  }

  /// True if the time zone is well-formed.
  ///
  /// Whether it exists is checked by the interface that offers it.
  var isPlausible: Bool {
    (1...64).contains(timeZone.utf8.count)
      && timeZone.unicodeScalars.allSatisfy { scalar in
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "/", "_", "+", "-": true
        default: false
        }
      }
  }

  var auditFields: [AuditField] {
    [
      AuditField(.timeZone, .text(timeZone)), AuditField(.theme, .code(theme.rawValue)),
    ]
  }
}
