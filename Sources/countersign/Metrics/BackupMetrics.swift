import Identity
import Metrics

struct BackupMetrics: Sendable {
  let watch: BackupWatch

  func write(to exposition: inout Exposition) {
    let newest = watch.folder.newest()
    exposition.gauge(
      "countersign_backup_newest_timestamp_seconds",
      help: "When the newest backup was created, since 1970; 0 if there's none.",
      Sample(Double(newest?.seconds ?? 0)))
    exposition.gauge(
      "countersign_backup_age_limit_seconds",
      help: "Age from which the newest backup is too old.",
      Sample(Double(watch.limit * 3_600)))
    exposition.gauge(
      "countersign_backup_due_timestamp_seconds",
      help: "When the newest backup is too old, or must be there if there's none, since 1970.",
      Sample(Double(watch.due(after: newest).seconds)))
  }
}
