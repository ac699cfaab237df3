import Crypto
public import Database

/// Why an instance can't start with its data folder.
public enum StartError: Error, Sendable {
  /// The schema doesn't match this version.
  case migration(MigrationError)
  /// The database can only be used by this version of the program or a newer one.
  case newerProgramRequired(ProgramVersion)
  /// The data folder belongs to the other profile.
  case wrongProfile(Profile)
  /// The data was sealed with another master key.
  case wrongKey
  /// The database is empty, but an existing instance is expected.
  case empty
  /// The database lacks migrations and is used by a server of an older version.
  case olderServer([String])
  /// The database is unavailable.
  case unavailable(Failure)
}

extension StartError: UseCaseError {}

extension Identity {
  /// The schema migrations for SQLite.
  public static var migrations: [Migration] {
    [
      migration("m0001_foundation", PackageResources.m0001_foundation_sqlite_sql),
      migration("m0002_users", PackageResources.m0002_users_sqlite_sql),
      migration("m0003_administrators", PackageResources.m0003_administrators_sqlite_sql),
      migration("m0004_policy", PackageResources.m0004_policy_sqlite_sql),
      migration("m0005_settings", PackageResources.m0005_settings_sqlite_sql),
      migration("m0006_guidance", PackageResources.m0006_guidance_sqlite_sql),
      migration("m0007_policy_stamp", PackageResources.m0007_policy_stamp_sqlite_sql),
      migration("m0008_token_makers", PackageResources.m0008_token_makers_sqlite_sql),
      migration("m0009_places", PackageResources.m0009_places_sqlite_sql),
      migration("m0010_outbox", PackageResources.m0010_outbox_sqlite_sql),
      migration("m0011_audit_filing", PackageResources.m0011_audit_filing_sqlite_sql),
      migration("m0012_oob_codes", PackageResources.m0012_oob_codes_sqlite_sql),
      migration("m0013_delivery", PackageResources.m0013_delivery_sqlite_sql),
      migration("m0014_phones", PackageResources.m0014_phones_sqlite_sql),
      migration("m0015_federation", PackageResources.m0015_federation_sqlite_sql),
      migration("m0016_keys", PackageResources.m0016_keys_sqlite_sql),
      migration("m0017_import", PackageResources.m0017_import_sqlite_sql),
      migration("m0018_desk", PackageResources.m0018_desk_sqlite_sql),
      migration("m0019_desk_actions", PackageResources.m0019_desk_actions_sqlite_sql),
      migration("m0020_verdicts", PackageResources.m0020_verdicts_sqlite_sql),
      migration("m0021_stand_ins", PackageResources.m0021_stand_ins_sqlite_sql),
      migration("m0022_bulk", PackageResources.m0022_bulk_sqlite_sql),
      migration("m0023_policy_pages", PackageResources.m0023_policy_pages_sqlite_sql),
      migration("m0024_generations", PackageResources.m0024_generations_sqlite_sql),
      migration("m0025_policy_widening", PackageResources.m0025_policy_widening_sqlite_sql),
      migration(
        "m0026_former_addresses", PackageResources.m0026_former_addresses_sqlite_sql),
      migration("m0027_unreadable_secrets", PackageResources.m0027_unreadable_secrets_sqlite_sql),
      migration("m0028_token_rules", PackageResources.m0028_token_rules_sqlite_sql),
      migration("m0029_given_fields", PackageResources.m0029_given_fields_sqlite_sql),
      migration("m0030_policy_approval", PackageResources.m0030_policy_approval_sqlite_sql),
      migration("m0031_standard_terms", PackageResources.m0031_standard_terms_sqlite_sql),
      migration("m0032_audit_changes", PackageResources.m0032_audit_changes_sqlite_sql),
      migration("m0034_unused_indexes", PackageResources.m0034_unused_indexes_sqlite_sql),
      migration("m0035_filed_scopes", PackageResources.m0035_filed_scopes_sqlite_sql),
      migration("m0036_activity", PackageResources.m0036_activity_sqlite_sql),
      migration("m0037_reviews", PackageResources.m0037_reviews_sqlite_sql),
      migration("m0038_scheduled_changes", PackageResources.m0038_scheduled_changes_sqlite_sql),
      migration("m0039_policy_templates", PackageResources.m0039_policy_templates_sqlite_sql),
      migration("m0040_enforcement", PackageResources.m0040_enforcement_sqlite_sql),
      migration("m0041_caller_codes", PackageResources.m0041_caller_codes_sqlite_sql),
      migration("m0042_alerts", PackageResources.m0042_alerts_sqlite_sql),
      migration(
        "m0043_report_subscriptions", PackageResources.m0043_report_subscriptions_sqlite_sql),
      migration("m0044_bulk_groups", PackageResources.m0044_bulk_groups_sqlite_sql),
      migration("m0045_instance_reports", PackageResources.m0045_instance_reports_sqlite_sql),
      migration("m0046_upgrades", PackageResources.m0046_upgrades_sqlite_sql),
      migration("m0048_audit_chain", PackageResources.m0048_audit_chain_sqlite_sql),
      migration("m0050_text_messages", PackageResources.m0050_text_messages_sqlite_sql),
      migration("m0051_event_streams", PackageResources.m0051_event_streams_sqlite_sql),
      migration("m0052_sign_in_provider", PackageResources.m0052_sign_in_provider_sqlite_sql),
      migration("m0053_passkeys", PackageResources.m0053_passkeys_sqlite_sql),
      migration(
        "m0054_administrator_access", PackageResources.m0054_administrator_access_sqlite_sql),
      migration("m0055_email_templates", PackageResources.m0055_email_templates_sqlite_sql),
      migration("m0057_user_erasures", PackageResources.m0057_user_erasures_sqlite_sql),
      migration("m0058_policy_stamps", PackageResources.m0058_policy_stamps_sqlite_sql),
      migration("m0059_unused_steps", PackageResources.m0059_unused_steps_sqlite_sql),
      migration("m0060_console_storage", PackageResources.m0060_console_storage_sqlite_sql),
      migration("m0061_count_changes", PackageResources.m0061_count_changes_sqlite_sql),
      migration("m0062_room_for_changes", PackageResources.m0062_room_for_changes_sqlite_sql),
      migration("m0063_pool_keys", PackageResources.m0063_pool_keys_sqlite_sql),
    ]
  }

  static func migration(_ name: String, _ text: [UInt8]) -> Migration {
    Migration(
      name: name, text: String(decoding: text, as: UTF8.self),
      digest: Hex.encode(HashFunction.sha256.digest(text)))
  }

  /// Prepares the database: the schema, the stored profile and key, the first signing key, and, in
  /// the emulator profile, the default project.
  ///
  /// - Parameters:
  ///   - creates: Whether an empty database becomes a new instance; otherwise it's an error.
  ///   - migrates: Whether to apply migrations; false if a server is using the database.
  ///   - progress: Called before each migration, with its name, its number from 1, and how many
  ///     there are.
  /// - Throws: ``StartError``.
  public func prepare(
    creates: Bool = true, migrates: Bool = true,
    progress: (_ name: String, _ number: Int, _ count: Int) -> Void = { _, _, _ in }
  ) async throws(StartError) {
    let now = clock.now()
    do {
      let pending = try await SchemaCompatibility.pending(store.database)
      let migrations = Self.migrations(for: store.database.dialect)
      guard creates || pending.count < migrations.count else { throw StartError.empty }
      if migrates {
        try await store.database.migrate(
          migrations, at: now.milliseconds,
          toleratesNewer: try await SchemaCompatibility.toleratesNewer(store.database),
          progress: progress)
      } else {
        guard pending.isEmpty else { throw StartError.olderServer(pending) }
      }
    } catch {
      throw StartError(error)
    }
    try await stamp()
    try await beginMasterKey()
    try await SearchIndex.complete(store)
    do { try await signingKeys.prepare() } catch {
      switch error {
      case .unavailable(let failure): throw .unavailable(failure)
      }
    }
    guard let defaultProject else { return }
    do { _ = try await scopes.find(project: defaultProject) } catch {
      throw .unavailable(Failure(error))
    }
  }

  private func stamp() async throws(StartError) {
    let marks: [String]
    do { marks = try keys.mark() } catch { throw .unavailable(Failure(error)) }
    let profile = profile
    try await store.write(StartError.self) { connection in
      let kept = try Self.stamped("profile", profile.rawValue, connection)
      guard let known = Profile(rawValue: kept) else { throw Failure("unknown profile") }
      guard known == profile else { throw StartError.wrongProfile(known) }
      guard marks.contains(try Self.stamped("key_mark", marks[0], connection)) else {
        throw StartError.wrongKey
      }
    }
  }

  /// Returns the stored value of the data folder, which is `value` if there was none.
  private static func stamped(
    _ name: String, _ value: String, _ connection: borrowing Connection
  ) throws -> String {
    try connection.run(
      """
      INSERT INTO instance (name, value) VALUES (\(name), \(value)) ON CONFLICT (name) DO NOTHING
      """)
    return try InstanceValue(name).read(connection) ?? value
  }

  /// Deletes expired data, such as tickets, guesses, invitations, and console sessions, and records
  /// when keys and tokens were used.
  ///
  /// Call it about every minute. It does nothing while the clock isn't trusted.
  ///
  /// - Throws: ``StartError/unavailable(_:)``.
  public func purgeExpired() async throws(StartError) {
    guard clockGuard.doubt == nil else { return }
    let now = clock.now()
    try await store.write(StartError.self) { [reviews, store] connection in
      try Ticket.deleteExpired(at: now, connection)
      try AccountRecord.expireLocks(at: now, connection)
      try PhoneCodes.deleteExpired(at: now, connection)
      try OutOfBandRecord.deleteExpired(at: now, connection)
      try UserLink.deleteExpired(at: now, connection)
      try CallerCode.deleteExpired(at: now, connection)
      try BackupCodeStore.deleteExpired(at: now, connection)
      try connection.run("DELETE FROM throttle WHERE expires_at < \(now.microseconds)")
      try connection.run("DELETE FROM invitation WHERE expires_at < \(now.microseconds)")
      try Outbox.purgeExpired(at: now, connection)
      try SMSLimits.purgeExpired(at: now, connection)
      try UnreadableSecrets.purgeExpired(at: now, connection)
      try Support.purgeExpired(at: now, connection)
      try Audit.forgetReadings(at: now, connection)
      try Approvals.purgeExpired(at: now, connection)
      try reviews.remind(at: now, connection)
      try Administrators.endGrants(store.outbox, at: now, connection)
      try Administrators.remindOfGrants(store.outbox, at: now, connection)
      try BulkRemovals.purgeExpired(at: now, connection)
      try ConsoleSessions.purgeExpired(at: now, connection)
      try ConsoleStorage.purgeExpired(at: now, connection)
      try Alerts.endBreakGlass(at: now, connection)
    }
    do throws(KeyError) { try await signingKeys.retireExpired() } catch {
      switch error {
      case .unavailable(let failure): throw .unavailable(failure)
      }
    }
    while try await purgeRemovedFactors(at: now) {}
    try await expireAnonymousAccounts(at: now)
    try await recordUses()
  }

  /// Records when keys and tokens were last used, as noted since the last call.
  ///
  /// - Throws: ``StartError/unavailable(_:)``; the next call tries again.
  public func recordUses() async throws(StartError) {
    let most = 500
    let (keys, tokens) = (apiKeys.uses.take(most), serviceTokens.uses.take(most))
    let signers = signers.uses.take(most)
    guard !keys.isEmpty || !tokens.isEmpty || !signers.isEmpty else { return }
    do {
      try await store.write(StartError.self) { connection in
        for (key, at) in keys {
          try connection.run(
            """
            UPDATE api_key SET last_used_at = \(at.microseconds)
            WHERE api_key = \(key) AND coalesce(last_used_at, 0) < \(at.microseconds)
            """)
        }
        for (token, at) in tokens {
          try connection.run(
            """
            UPDATE service_token SET last_used_at = \(at.microseconds)
            WHERE token_id = \(token) AND coalesce(last_used_at, 0) < \(at.microseconds)
            """)
        }
        for (signer, at) in signers {
          try connection.run(
            """
            UPDATE trusted_token_key SET last_used_at = \(at.microseconds)
            WHERE trusted_token_key_id = \(signer)
              AND coalesce(last_used_at, 0) < \(at.microseconds)
            """)
        }
      }
    } catch {
      apiKeys.uses.putBack(keys)
      serviceTokens.uses.putBack(tokens)
      self.signers.uses.putBack(signers)
      throw error
    }
  }
}
