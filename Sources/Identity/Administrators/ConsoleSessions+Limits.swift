import Database

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
    return try await store.perform(
      .changeSessionLimits, request, in: .instance
    ) { context, connection in
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
    try await store.perform(
      .endAdministratorSessions, request, in: .instance
    ) { context, connection in
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
