import Crypto
public import Database

extension Identity {
  /// Returns the schema migrations for a database.
  ///
  /// PostgreSQL's begin with a baseline, the schema that those of SQLite had ended with by then.
  /// Later ones have the same names in both dialects, and leave the same tables and columns.
  public static func migrations(for dialect: Dialect) -> [Migration] {
    switch dialect {
    case .sqlite: migrationsOfSQLite
    case .postgreSQL: migrationsOfPostgreSQL
    }
  }

  private static var migrationsOfPostgreSQL: [Migration] {
    [
      migration("m0059_baseline", PackageResources.m0059_baseline_postgresql_sql),
      migration("m0060_console_storage", PackageResources.m0060_console_storage_postgresql_sql),
      migration("m0061_count_changes", PackageResources.m0061_count_changes_postgresql_sql),
      migration("m0062_room_for_changes", PackageResources.m0062_room_for_changes_postgresql_sql),
      migration("m0063_pool_keys", PackageResources.m0063_pool_keys_postgresql_sql),
      migration("m0064_sign_in_goal", PackageResources.m0064_sign_in_goal_postgresql_sql),
      migration("m0065_outbox_readers", PackageResources.m0065_outbox_readers_postgresql_sql),
      migration(
        "m0066_backup_code_sessions", PackageResources.m0066_backup_code_sessions_postgresql_sql),
      migration("m0067_session_sign_in", PackageResources.m0067_session_sign_in_postgresql_sql),
      migration("m0068_suspended_users", PackageResources.m0068_suspended_users_postgresql_sql),
      migration("m0069_secret_digests", PackageResources.m0069_secret_digests_postgresql_sql),
      migration(
        "m0070_secret_digest_indexes", PackageResources.m0070_secret_digest_indexes_postgresql_sql),
    ]
  }

  private static var migrationsOfSQLite: [Migration] {
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
      migration("m0026_former_addresses", PackageResources.m0026_former_addresses_sqlite_sql),
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
      migration("m0064_sign_in_goal", PackageResources.m0064_sign_in_goal_sqlite_sql),
      migration("m0065_outbox_readers", PackageResources.m0065_outbox_readers_sqlite_sql),
      migration(
        "m0066_backup_code_sessions", PackageResources.m0066_backup_code_sessions_sqlite_sql),
      migration("m0067_session_sign_in", PackageResources.m0067_session_sign_in_sqlite_sql),
      migration("m0068_suspended_users", PackageResources.m0068_suspended_users_sqlite_sql),
      migration("m0069_secret_digests", PackageResources.m0069_secret_digests_sqlite_sql),
      migration(
        "m0070_secret_digest_indexes", PackageResources.m0070_secret_digest_indexes_sqlite_sql),
    ]
  }

  private static func migration(_ name: String, _ text: [UInt8]) -> Migration {
    Migration(
      name: name, text: String(decoding: text, as: UTF8.self),
      digest: Hex.encode(HashFunction.sha256.digest(text)))
  }
}
