import Database

public struct SessionLimits: Sendable, Hashable {
  /// The time without use after which a session ends, in minutes.
  public let idleMinutes: Int
  /// The time after which a session ends in any case, in hours.
  public let hours: Int
  /// Whether every administrator needs a second factor, whatever their role, from the first sign-in
  /// on; otherwise those whose role requires one do, from the second on.
  public let requiresSecondFactor: Bool

  /// The range of ``idleMinutes`` (at most an hour: NIST SP 800-63B-4, section 2.2.3).
  public static let idleRange = 5...60
  /// The range of ``hours`` (at most a day: NIST SP 800-63B-4, section 2.2.3).
  public static let hourRange = 1...24
  /// The maximum number of hours of a session that began with the sign-in provider, where its
  /// administrator may have lost a group since.
  static let mostProviderHours = 8
  public static let standard = SessionLimits(idleMinutes: 60, hours: 12)

  public init(idleMinutes: Int, hours: Int, requiresSecondFactor: Bool = false) {
    (self.idleMinutes, self.hours) = (idleMinutes, hours)
    self.requiresSecondFactor = requiresSecondFactor
  }

  public var version: SettingsVersion { SettingsVersion(auditFields) }

  var auditFields: [AuditField] {
    [
      AuditField(.sessionIdleLimit, .duration(Int(idle))),
      AuditField(.sessionLifetime, .duration(Int(lifetime))),
      AuditField(.secondFactorRequired, .flag(requiresSecondFactor)),
    ]
  }

  /// The time without use after which a session ends, in seconds.
  public var idle: Int64 { Int64(idleMinutes) * 60 }
  /// The time after which a session ends in any case, in seconds.
  public var lifetime: Int64 { Int64(hours) * 3_600 }

  func of(sessionFromProvider isFromProvider: Bool) -> SessionLimits {
    SessionLimits(
      idleMinutes: idleMinutes, hours: isFromProvider ? min(hours, Self.mostProviderHours) : hours,
      requiresSecondFactor: requiresSecondFactor)
  }

  func allow(since start: Instant, lastSeenAt: Instant, at now: Instant) -> Bool {
    start.isRecent(within: lifetime, at: now) && lastSeenAt.isRecent(within: idle, at: now)
  }
}

// MARK: - Storage

extension SessionLimits {
  private static let idle = InstanceValue("session_idle_minutes")
  private static let lifetime = InstanceValue("session_hours")
  private static let secondFactor = InstanceValue("second_factor_required")

  /// The stored values as three columns, which are null without a choice.
  static let columns: SQL = """
    (SELECT value FROM instance WHERE name = \(idle.name)),
    (SELECT value FROM instance WHERE name = \(lifetime.name)),
    (SELECT value FROM instance WHERE name = \(secondFactor.name))
    """

  init(idle: String?, lifetime: String?, secondFactor: String?) {
    self.init(
      idleMinutes: idle.flatMap(Int.init) ?? Self.standard.idleMinutes,
      hours: lifetime.flatMap(Int.init) ?? Self.standard.hours,
      requiresSecondFactor: secondFactor != nil)
  }

  static func find(_ connection: borrowing Connection) throws -> SessionLimits {
    try connection.first("SELECT \(columns)") { row in
      SessionLimits(
        idle: try row.next(), lifetime: try row.next(), secondFactor: try row.next())
    } ?? standard
  }

  func store(_ connection: borrowing Connection) throws {
    try Self.idle.store(String(idleMinutes), connection)
    try Self.lifetime.store(String(hours), connection)
    try Self.secondFactor.store(requiresSecondFactor ? "1" : nil, connection)
  }
}

/// Why a setting of the instance isn't changed.
public enum InstanceSettingError: Error, Sendable {
  case idleOutOfRange
  case hoursOutOfRange
  /// Someone else changed the limits in the meantime; the current ones.
  case changedMeanwhile(SessionLimits)
  /// The audit log must be kept for longer.
  case retentionOutOfRange
  /// Passkeys can be required only by someone who has used theirs.
  case passkeyNotUsed
}

extension ConsoleSessions {
  public func limits() async throws -> SessionLimits {
    try await store.read { try SessionLimits.find($0) }
  }

  /// Changes the limits of sessions, which apply to open sessions immediately.
  ///
  /// - Returns: False if nothing changes.
  public func setLimits(
    _ limits: SessionLimits, expecting version: SettingsVersion, _ request: ActionRequest
  ) async throws -> ActionOutcome<Bool> {
    guard SessionLimits.idleRange.contains(limits.idleMinutes) else {
      throw InstanceSettingError.idleOutOfRange
    }
    guard SessionLimits.hourRange.contains(limits.hours) else {
      throw InstanceSettingError.hoursOutOfRange
    }
    return try await store.run(.changeSessionLimits, by: .console(request), in: .instance) {
      context, connection in
      let old = try SessionLimits.find(connection)
      guard old != limits else { return false }
      guard old.version == version else { throw InstanceSettingError.changedMeanwhile(old) }
      // Longer limits must not reopen sessions that have ended.
      try Self.deleteEnded(old, at: context.now, connection)
      try limits.store(connection)
      var entry = AuditEntry(.instanceChangeSessionLimits, of: nil)
      entry.compare(old.auditFields, limits.auditFields)
      try context.record(entry, connection)
      return true
    }
  }

  private static func deleteEnded(
    _ limits: SessionLimits, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let oldestStart = now.advanced(bySeconds: -limits.lifetime)
    let oldestUse = now.advanced(bySeconds: -limits.idle)
    try connection.run(
      "DELETE FROM console_session WHERE created_at <= \(oldestStart)")
    try connection.run(
      """
      DELETE FROM console_session
      WHERE created_at > \(oldestStart) AND last_seen_at <= \(oldestUse)
      """)
  }

  /// Deletes sessions ``remembered`` seconds after their lifetime.
  static func purgeExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let lifetime = try SessionLimits.find(connection).lifetime
    let oldest = now.advanced(bySeconds: -lifetime - remembered)
    return try connection.deletePart(
      "FROM console_session WHERE created_at < \(oldest)", of: "console_session",
      by: "token_digest")
  }

  /// Ends one session, or all of them without a name.
  ///
  /// - Returns: The number of sessions ended.
  public func end(
    _ name: String?, of id: ID<Administrator>, _ request: ActionRequest
  ) async throws -> ActionOutcome<Int> {
    try await store.run(.endAdministratorSessions, by: .console(request), in: .instance) {
      context, connection in
      let record = try Administrators.manage(
        id, by: context.author, at: context.now, connection)
      let ended = try Self.end(of: id, at: context.now, connection) {
        name == nil || $0.name == name
      }
      guard ended > 0 else { return 0 }
      var entry = Administrators.entry(.administratorEndSessions, record)
      entry.add(.sessionsEnded, .number(ended))
      try context.record(entry, connection)
      return ended
    }
  }
}
