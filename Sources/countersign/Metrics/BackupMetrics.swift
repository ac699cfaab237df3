import Identity
import Metrics

/// The age of the newest backup.
struct BackupMetrics: Sendable {
  let folder: BackupFolder

  func write(to exposition: inout Exposition) {
    exposition.gauge(
      "countersign_backup_newest_timestamp_seconds",
      help: "When the newest backup was created, since 1970; 0 if there's none.",
      Sample(Double(folder.newest()?.seconds ?? 0)))
  }
}
