import Database
import HTTP
import Identity
import JSON
import Localization

/// An event in a form that can be written.
struct LogRecord: Sendable {
  /// The name, such as `request.failed`.
  let name: String
  let level: LogLevel
  let message: Message
  /// What distinguishes lines that are limited separately; nil if the name does.
  var subject: String?
  var mostLines = Log.mostLines
  var request: RequestID?
  var fields: [(String, JSON)] = []

  init(_ name: String, _ level: LogLevel, _ message: Message, _ fields: [(String, JSON)] = []) {
    self.name = name
    self.level = level
    self.message = message
    self.fields = fields
  }

  /// The same, for events of which none must be left out.
  var unlimited: LogRecord {
    var copy = self
    copy.mostLines = .max
    return copy
  }
}

extension LogEvent {
  var record: LogRecord {
    switch self {
    case .server(let event): event.record
    case .reloaded(let done):
      LogRecord(
        "server.reloaded", .info, Message("cli.sighup-done", ["done": .sequence(done)]))
    case .accessLogNotReopened(let reason):
      LogRecord(
        "server.access_log_not_reopened", .error,
        Message("cli.sighup-the-access-log-couldnt-be", ["reason": .text(reason)]),
        [("reason", .string(reason))])
    case .certificateNotReloaded(let reason):
      LogRecord(
        "certificate.not_reloaded", .error,
        Message("cli.sighup-the-tls-certificate-couldnt-be", ["reason": .text(reason)]),
        [("reason", .string(reason))])
    case .certificate(let warning): LogRecord("certificate.warning", .warning, warning)
    case .policyFile(let finding): LogRecord("policy_file.read", .info, finding)
    case .policyFileUnusable(let problem): LogRecord("policy_file.unusable", .error, problem)
    case .readiness(let state): Self.readiness(state)
    case .clockDoubted(let doubt):
      LogRecord(
        "clock.doubted", .error, doubt.message,
        [
          ("shown", .string(doubt.shown.rfc3339Milliseconds)),
          ("expected", .string(doubt.expected.rfc3339Milliseconds)),
        ])
    case .clockTrusted:
      LogRecord("clock.trusted", .info, Message("cli.the-clock-is-trusted-again"))
    case .databaseClockDiffers(let seconds):
      LogRecord(
        "clock.differs", .warning,
        seconds > 0
          ? Message("cli.clock-behind-database", ["count": .number(Int(seconds.magnitude))])
          : Message("cli.clock-ahead-of-database", ["count": .number(Int(seconds.magnitude))]),
        [("seconds", .number(JSON.Number(seconds)))])
    case .searchIndexMissing:
      LogRecord("search.slow", .warning, Message("cli.search-index-missing"))
    case .databaseClockAgrees:
      LogRecord("clock.agrees", .info, Message("cli.clock-agrees-with-database"))
    case .masterKeyRotated:
      LogRecord("master_key.rotated", .info, Message("cli.the-master-key-was-rotated-re"))
    case .masterKeyRefused(let path):
      LogRecord(
        "master_key.refused", .error,
        Message("cli.master-key-of-another-database", ["path": .text(path)]),
        [("path", .string(path))])
    case .previousMasterKeyRemovable(let variable):
      LogRecord(
        "master_key.previous_removable", .warning,
        Message("cli.keys-in-variable-removable", ["variable": .text(variable)]),
        [("variable", .string(variable))])
    case .previousMasterKeyRemoved:
      LogRecord(
        "master_key.previous_removed", .info, Message("cli.removed-the-previous-master-key"))
    case .deliveryFailed(let channel, let reason): Self.deliveryFailed(channel, reason)
    case .deliveryPaused(let channel, let server, let reason):
      Self.deliveryPaused(channel, server, reason)
    case .deliveryResumed(let channel):
      LogRecord(
        "\(channel.rawValue).resumed", .info,
        channel == .mail
          ? Message("cli.email-delivery-resumed") : Message("cli.sms-delivery-resumed"))
    case .auditFault(let fault): LogRecord("audit.fault", .error, fault)
    case .auditFileNotWritten(let path, let reason):
      LogRecord(
        "audit_file.not_written", .error,
        Message("cli.audit-file-not-written", ["reason": .text(reason)]),
        [("path", .string(path)), ("reason", .string(reason))])
    case .auditFileWritten(let path):
      LogRecord(
        "audit_file.written", .info, Message("cli.audit-file-written", ["path": .text(path)]),
        [("path", .string(path))])
    case .backup(let warning): LogRecord("backup.warning", .warning, warning)
    case .integrityCheckTooLong:
      LogRecord(
        "integrity.too_long", .warning, Message("cli.the-integrity-check-took-too-long"))
    case .databaseDamaged(let faults):
      LogRecord(
        "integrity.damaged", .error,
        Message(
          "cli.the-database-is-damaged-restore", ["faults": .text(faults.joined(separator: "; "))]),
        [("faults", .array(faults.map { .string($0) }))])
    case .databaseFileLost(let path):
      LogRecord(
        "database.file_lost", .error, Message("cli.database-file-lost", ["path": .text(path)]),
        [("path", .string(path))])
    case .databaseFileFound(let path):
      LogRecord(
        "database.file_found", .info, Message("cli.database-file-found", ["path": .text(path)]),
        [("path", .string(path))])
    case .databaseSlow(let use): Self.slow(use)
    case .tasksTaken: LogRecord("tasks.taken", .info, Message("cli.tasks-taken"))
    case .tasksLost: LogRecord("tasks.lost", .warning, Message("cli.tasks-lost"))
    case .request(let id, let event): Self.request(id, event)
    case .pageViolation(let report): Self.pageViolation(report)
    case .taskFailed(let task, let reason): Self.taskFailed(task, reason)
    case .suppressed(let event, let count):
      LogRecord(
        "log.suppressed", .warning,
        Message(
          "cli.log-suppressed", ["event": .text(event), "count": .number(count)]),
        [("suppressed", .string(event)), ("count", .number(JSON.Number(count)))])
    }
  }

  /// A lock stops all that use a table, so each kind has one line in a period.
  private static func slow(_ use: SlowUse) -> LogRecord {
    var record: LogRecord
    switch use {
    case .statement(let text, let duration):
      record = LogRecord(
        "database.slow", .warning,
        Message(
          "cli.database-slow", ["seconds": .text(seconds(duration)), "statement": .text(text)]),
        [("ms", milliseconds(duration)), ("statement", .string(text))])
      record.subject = text
    case .wait(let kind, let duration):
      let seconds = Message.Value.text(seconds(duration))
      record = LogRecord(
        "database.waited", .warning,
        kind == .read
          ? Message("cli.database-read-waited", ["seconds": seconds])
          : Message("cli.database-write-waited", ["seconds": seconds]),
        [("ms", milliseconds(duration)), ("kind", .string(kind.rawValue))])
      record.subject = kind.rawValue
    }
    record.mostLines = 1
    return record
  }

  private static func milliseconds(_ duration: Duration) -> JSON {
    .number(JSON.Number(Int(duration / .milliseconds(1))))
  }

  /// Returns a number of seconds with one decimal.
  private static func seconds(_ duration: Duration) -> String {
    "\((duration / .milliseconds(100)).rounded() / 10)"
  }

  private static func readiness(_ state: Readiness.State) -> LogRecord {
    func causes(_ checks: [Readiness.Check]) -> Message.Value {
      .sequence(checks.map(\.cause))
    }
    let (level, message): (LogLevel, Message) =
      if !state.failed.isEmpty {
        (.error, Message("cli.not-ready", ["causes": causes(state.failed)]))
      } else if !state.warnings.isEmpty {
        (.warning, Message("cli.ready-with-warnings", ["causes": causes(state.warnings)]))
      } else {
        (.info, Message("cli.ready"))
      }
    func names(_ checks: [Readiness.Check]) -> JSON {
      .array(checks.map { .string($0.rawValue) })
    }
    return LogRecord(
      "readiness.changed", level, message,
      [("failed", names(state.failed)), ("warnings", names(state.warnings))])
  }

  private static func deliveryFailed(
    _ channel: OutboxEntry.Channel, _ reason: String
  ) -> LogRecord {
    LogRecord(
      "\(channel.rawValue).failed", .error,
      channel == .mail
        ? Message("cli.email-failed", ["reason": .text(reason)])
        : Message("cli.sms-failed", ["reason": .text(reason)]),
      [("reason", .string(reason))])
  }

  private static func deliveryPaused(
    _ channel: OutboxEntry.Channel, _ server: String, _ reason: String
  ) -> LogRecord {
    let (host, trouble) = (Message.Value.text(server), Message.Value.text(reason))
    return LogRecord(
      "\(channel.rawValue).paused", .warning,
      channel == .mail
        ? Message(
          "cli.email-delivery-paused-isnt-accepting", ["server": host, "trouble": trouble])
        : Message("cli.sms-delivery-paused", ["server": host, "trouble": trouble]),
      [("server", .string(server)), ("reason", .string(reason))])
  }

  private static func request(_ id: RequestID, _ event: RequestEvent) -> LogRecord {
    var record =
      switch event {
      case .failed(let cause):
        LogRecord(
          "request.failed", .error,
          Message("cli.log-request-failed", ["id": .text(id.text), "cause": .text(cause)]),
          [("cause", .string(cause))])
      case .denied(let actor, let permission): denied(id, actor, lacking: permission)
      case .providerFailed(let diagnosis):
        LogRecord(
          "provider.failed", .warning,
          Message(
            "cli.log-provider-failed", ["id": .text(id.text), "diagnosis": .text(diagnosis)]),
          [("diagnosis", .string(diagnosis))])
      }
    record.request = id
    return record
  }

  private static func denied(
    _ id: RequestID, _ actor: Actor, lacking permission: Permission
  ) -> LogRecord {
    var record = LogRecord(
      "request.denied", .warning,
      Message(
        "cli.log-request-denied",
        [
          "id": .text(id.text), "kind": .text(actor.kind.rawValue), "actor": .text(actor.id),
          "permission": .text(permission.rawValue),
        ]),
      [
        ("actor", .string(actor.kind.rawValue)), ("actor_id", .string(actor.id)),
        ("permission", .string(permission.rawValue)),
      ])
    record.subject = actor.id
    return record
  }

  private static func pageViolation(_ report: ViolationReport) -> LogRecord {
    var fields: [(String, JSON)] = [
      ("directive", .string(report.directive)), ("page", .string(report.page)),
      ("blocked", .string(report.blocked)),
    ]
    if let source = report.source { fields.append(("source", .string(source))) }
    return LogRecord(
      "page.violation", .info,
      Message(
        "cli.log-page-violation",
        [
          "directive": .text(report.directive), "page": .text(report.page),
          "blocked": .text(report.blocked),
        ]), fields)
  }

  private static func taskFailed(_ task: BackgroundTask, _ reason: String) -> LogRecord {
    var record = LogRecord(
      "task.failed", .error,
      Message("cli.log-task-failed", ["task": .text(task.rawValue), "reason": .text(reason)]),
      [("task", .string(task.rawValue)), ("reason", .string(reason))])
    record.subject = task.rawValue
    return record
  }
}

extension ServerEvent {
  fileprivate var record: LogRecord {
    switch self {
    case .preparing(let step): LogRecord("server.preparing", .info, step).unlimited
    case .failed(let problem): LogRecord("server.failed", .error, problem).unlimited
    case .started(let version, let profile, let url):
      LogRecord(
        "server.started", .info,
        Message(
          "cli.countersign-serves",
          ["version": .text(version), "profile": .text(profile.rawValue), "url": .text(url)]),
        [
          ("version", .string(version)), ("profile", .string(profile.rawValue)),
          ("url", .string(url)),
        ])
    case .dataFolder(let folder):
      LogRecord(
        "server.data_folder", .info,
        Message("cli.data-folder-keep-a-copy-of", ["folder": .text(folder)]),
        [("folder", .string(folder))])
    case .emulator(let project, let host):
      LogRecord(
        "server.emulator", .info,
        Message(
          "cli.emulator-for-project-firebase-auth",
          ["defaultProject": .text(project), "host": .text(host)]),
        [("project", .string(project)), ("host", .string(host))])
    case .setupCode(let url, let code):
      LogRecord(
        "server.setup_code", .warning,
        Message(
          "cli.no-owner-yet-open-setup-and", ["url": .text(url), "code": .text(code)]),
        [("url", .string("\(url)/setup")), ("code", .string(code))])
    case .metrics(let url):
      LogRecord(
        "server.metrics", .info, Message("cli.metrics-at", ["url": .text(url)]),
        [("url", .string(url))])
    case .connectionsLimited(let warning):
      LogRecord("server.connections_limited", .warning, warning)
    case .draining(let seconds):
      LogRecord(
        "server.draining", .info, Message("cli.draining", ["count": .number(seconds)]),
        [("seconds", .number(JSON.Number(seconds)))])
    case .stopped(let statistics):
      LogRecord(
        "server.stopped", .info,
        Message(
          "cli.stopped-reads-writes-in-commits",
          [
            "reads": .text("\(statistics.reads)"), "writes": .text("\(statistics.writes)"),
            "commits": .text("\(statistics.commits)"),
          ]),
        [
          ("reads", .number(JSON.Number(statistics.reads))),
          ("writes", .number(JSON.Number(statistics.writes))),
          ("commits", .number(JSON.Number(statistics.commits))),
        ])
    }
  }
}
