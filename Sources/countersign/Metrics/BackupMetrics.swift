import Identity
import Metrics

/// The time of the newest backup, and the age from which it's too old.
struct BackupMetrics: Sendable {
  let watch: BackupWatch

  func write(to exposition: inout Exposition) {
    exposition.gauge(
      "countersign_backup_newest_timestamp_seconds",
      help: "When the newest backup was created, since 1970; 0 if there's none.",
      Sample(Double(watch.folder.newest()?.seconds ?? 0)))
    exposition.gauge(
      "countersign_backup_age_limit_seconds",
      help: "Age from which the newest backup is too old.",
      Sample(Double(watch.limit * 3_600)))
  }
}
