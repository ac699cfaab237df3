import Database

extension Identity {
  /// Whether there's a key to sign tokens with; the emulator profile doesn't sign tokens.
  public var hasSigningKey: Bool { profile == .emulator || !signingKeys.publicKeys().isEmpty }

  /// Checks that the database is writable by writing to it.
  public func checkWritable() async throws {
    let now = String(clock.now().microseconds)
    try await store.write { connection in
      try InstanceValue("probed_at").store(now, connection)
    }
  }

  /// Deletes old code attempts of the next pools; does nothing while the clock isn't trusted.
  public func expireCodeAttempts() async throws -> Bool {
    guard clockGuard.doubt == nil else { return false }
    return try await codeAttempts.age()
  }

  /// Indexes one batch of users again whom a node of the previous version changed during an upgrade, so
  /// that searches find them; does nothing from a day after the upgrade.
  public func indexUsers() async throws -> Bool {
    try await SearchIndex.replaceNext(store)
  }

  /// Removes one batch of audit log entries that are past the retention; does nothing while the
  /// clock isn't trusted.
  public func removeExpiredAuditEntries() async throws -> Bool {
    guard clockGuard.doubt == nil else { return false }
    return try await auditChain.removeExpired()
  }
}
