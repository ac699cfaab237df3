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
