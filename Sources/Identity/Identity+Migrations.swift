import Crypto
public import Database

extension Identity {
  /// The migrations have the same names in both dialects, and leave the same tables and columns.
  public static func migrations(for dialect: Dialect) -> Migrations {
    switch dialect {
    case .sqlite: migrationsOfSQLite
    case .postgreSQL: migrationsOfPostgreSQL
    }
  }

  private static var migrationsOfPostgreSQL: Migrations {
    Migrations(
      baseline: migration("m0069_baseline", PackageResources.m0069_baseline_postgresql_sql),
      upgrade: migration(
        "m0069_upgrade_of_0_2_0", PackageResources.m0069_upgrade_of_0_2_0_postgresql_sql),
      from: "m0068_suspended_users",
      later: [
        migration("m0070_one_method", PackageResources.m0070_one_method_postgresql_sql),
        migration(
          "m0071_factor_for_changes", PackageResources.m0071_factor_for_changes_postgresql_sql),
        migration("m0072_account_lock", PackageResources.m0072_account_lock_postgresql_sql),
        migration("m0073_outside_users", PackageResources.m0073_outside_users_postgresql_sql),
        migration("m0074_common_passwords", PackageResources.m0074_common_passwords_postgresql_sql),
        migration("m0075_approval_change", PackageResources.m0075_approval_change_postgresql_sql),
        migration("m0076_clock_off", PackageResources.m0076_clock_off_postgresql_sql),
        migration("m0077_bulk_kinds", PackageResources.m0077_bulk_kinds_postgresql_sql),
        migration(
          "m0078_dismissed_attention", PackageResources.m0078_dismissed_attention_postgresql_sql),
        migration("m0079_campaigns", PackageResources.m0079_campaigns_postgresql_sql),
        migration(
          "m0080_connected_projects", PackageResources.m0080_connected_projects_postgresql_sql),
        migration("m0081_intents", PackageResources.m0081_intents_postgresql_sql),
      ])
  }

  private static var migrationsOfSQLite: Migrations {
    Migrations(
      baseline: migration("m0069_baseline", PackageResources.m0069_baseline_sqlite_sql),
      upgrade: migration(
        "m0069_upgrade_of_0_2_0", PackageResources.m0069_upgrade_of_0_2_0_sqlite_sql),
      from: "m0068_suspended_users",
      later: [
        migration("m0070_one_method", PackageResources.m0070_one_method_sqlite_sql),
        migration(
          "m0071_factor_for_changes", PackageResources.m0071_factor_for_changes_sqlite_sql),
        migration("m0072_account_lock", PackageResources.m0072_account_lock_sqlite_sql),
        migration("m0073_outside_users", PackageResources.m0073_outside_users_sqlite_sql),
        migration("m0074_common_passwords", PackageResources.m0074_common_passwords_sqlite_sql),
        migration("m0075_approval_change", PackageResources.m0075_approval_change_sqlite_sql),
        migration("m0076_clock_off", PackageResources.m0076_clock_off_sqlite_sql),
        migration("m0077_bulk_kinds", PackageResources.m0077_bulk_kinds_sqlite_sql),
        migration(
          "m0078_dismissed_attention", PackageResources.m0078_dismissed_attention_sqlite_sql),
        migration("m0079_campaigns", PackageResources.m0079_campaigns_sqlite_sql),
        migration(
          "m0080_connected_projects", PackageResources.m0080_connected_projects_sqlite_sql),
        migration("m0081_intents", PackageResources.m0081_intents_sqlite_sql),
      ])
  }

  private static func migration(_ name: String, _ text: [UInt8]) -> Migration {
    Migration(
      name: name, text: String(decoding: text, as: UTF8.self),
      digest: Hex.encode(HashFunction.sha256.digest(text)))
  }
}
