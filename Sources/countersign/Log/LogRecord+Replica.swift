import Database
import JSON
import Localization

extension ReplicaStatus {
  /// The status in a form that can be written to the log.
  var record: LogRecord {
    switch self {
    case .inUse: LogRecord("replica.used", .info, Message("cli.replica-used"))
    case .behind(let seconds):
      LogRecord(
        "replica.behind", .warning, Message("cli.replica-behind"),
        seconds.map { [("seconds", .number(JSON.Number($0)))] } ?? [])
    case .unreachable(let reason):
      LogRecord(
        "replica.unreachable", .warning,
        Message("cli.replica-unreachable", ["reason": .text(reason)]),
        [("reason", .string(reason))])
    case .notReplica:
      LogRecord("replica.not_a_replica", .warning, Message("cli.replica-accepts-writes"))
    case .otherDatabase:
      LogRecord("replica.other_database", .error, Message("cli.replica-of-another-database"))
    }
  }
}
