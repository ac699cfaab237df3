import Database
import HTTP
import Identity
import JSON
import Localization

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
        "server.reloaded", .info, Message("SIGHUP: {done}.", ["done": .sequence(done)]))
    case .accessLogNotReopened(let reason):
      LogRecord(
        "server.access_log_not_reopened", .error,
        Message(
          """
          SIGHUP: the access log couldn't be reopened, so the previous file stays in use. \
          {reason}
          """, ["reason": .text(reason)]),
        [("reason", .string(reason))])
    case .certificateNotReloaded(let reason):
      LogRecord(
        "certificate.not_reloaded", .error,
        Message(
          """
          SIGHUP: the TLS certificate couldn't be reloaded, so the previous one stays in use. \
          {reason}
          """, ["reason": .text(reason)]),
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
      LogRecord("clock.trusted", .info, Message("The clock is trusted again."))
    case .clockJumped(let change): Self.clockJumped(change)
    case .databaseClockDiffers(let seconds):
      LogRecord(
        "clock.differs", .warning,
        seconds > 0
          ? Message(
            one: """
              The clock is {count} second behind the database server's. Nodes need clocks that \
              differ by less than 5 seconds.
              """,
            other: """
              The clock is {count} seconds behind the database server's. Nodes need clocks that \
              differ by less than 5 seconds.
              """, ["count": .number(Int(seconds.magnitude))])
          : Message(
            one: """
              The clock is {count} second ahead of the database server's. Nodes need clocks that \
              differ by less than 5 seconds.
              """,
            other: """
              The clock is {count} seconds ahead of the database server's. Nodes need clocks that \
              differ by less than 5 seconds.
              """, ["count": .number(Int(seconds.magnitude))]),
        [("seconds", .number(JSON.Number(seconds)))])
    case .searchIndexMissing:
      LogRecord(
        "search.slow", .warning,
        Message(
          """
          Each search reads all users, because the index that needs PostgreSQL's pg_trgm extension \
          is missing.
          """))
    case .databaseClockAgrees:
      LogRecord(
        "clock.agrees", .info, Message("The clock agrees with the database server's again."))
    case .masterKeyRotated:
      LogRecord(
        "master_key.rotated", .info,
        Message("The master key was rotated. Re-encrypting all secrets with the new one."))
    case .masterKeyRefused(let path):
      LogRecord(
        "master_key.refused", .error,
        Message(
          """
          {path} isn't the current master key of this database. The server keeps using its own, \
          which is only in its memory: don't stop it before the right copy is in place.
          """, ["path": .text(path)]),
        [("path", .string(path))])
    case .previousMasterKeyRemovable(let variable):
      LogRecord(
        "master_key.previous_removable", .warning,
        Message(
          "All secrets are encrypted with the first key of {variable}. You can remove the others.",
          ["variable": .text(variable)]),
        [("variable", .string(variable))])
    case .previousMasterKeyRemoved:
      LogRecord(
        "master_key.previous_removed", .info, Message("Removed the previous master key."))
    case .deliveryFailed(let channel, let reason): Self.deliveryFailed(channel, reason)
    case .deliveryPaused(let channel, let server, let reason):
      Self.deliveryPaused(channel, server, reason)
    case .deliveryResumed(let channel):
      LogRecord(
        "\(channel.rawValue).resumed", .info,
        channel == .mail
          ? Message("Email delivery resumed.") : Message("Delivery of text messages resumed."))
    case .connection(let connection): connection.record
    case .auditFault(let fault): LogRecord("audit.fault", .error, fault)
    case .auditNotSealed(let delay): Self.auditNotSealed(delay)
    case .auditSealed:
      LogRecord("audit.sealed", .info, Message("The audit log is sealed again."))
    case .auditFileNotWritten(let path, let reason):
      LogRecord(
        "audit_file.not_written", .error,
        Message(
          """
          The audit log isn't written to its file: {reason}. The server tries again every second, \
          and leaves no entry out.
          """, ["reason": .text(reason)]),
        [("path", .string(path)), ("reason", .string(reason))])
    case .auditFileWritten(let path):
      LogRecord(
        "audit_file.written", .info,
        Message("The audit log is written to {path} again.", ["path": .text(path)]),
        [("path", .string(path))])
    case .backup(let warning): LogRecord("backup.warning", .warning, warning)
    case .integrityCheckTooLong:
      LogRecord(
        "integrity.too_long", .warning,
        Message("The integrity check of the database took too long and was abandoned."))
    case .databaseDamaged(let faults):
      LogRecord(
        "integrity.damaged", .error,
        Message(
          """
          The database is damaged: {faults}. Stop the server, keep a copy of the data folder, and \
          restore the newest backup that countersign backup --check finds intact
          """, ["faults": .text(faults.joined(separator: "; "))]),
        [("faults", .array(faults.map { .string($0) }))])
    case .databaseFileLost(let path):
      LogRecord(
        "database.file_lost", .error,
        Message(
          """
          {path} was deleted, moved, or replaced while in use. Don't stop the server: changes \
          would be lost. Move the file back, or copy it from the process.
          """, ["path": .text(path)]),
        [("path", .string(path))])
    case .databaseFileFound(let path):
      LogRecord(
        "database.file_found", .info,
        Message("{path} is again the database that the server uses.", ["path": .text(path)]),
        [("path", .string(path))])
    case .databaseSlow(let use): Self.slow(use)
    case .tasksTaken:
      LogRecord(
        "tasks.taken", .info,
        Message("This server does the tasks that one of several does."))
    case .tasksLost:
      LogRecord(
        "tasks.lost", .warning,
        Message("This server no longer does the tasks that one of several does."))
    case .request(let id, let event): Self.request(id, event)
    case .pageViolation(let report): Self.pageViolation(report)
    case .taskFailed(let task, let reason): Self.taskFailed(task, reason)
    case .suppressed(let event, let count):
      LogRecord(
        "log.suppressed", .warning,
        Message(
          one: "{count} more line about {event} was left out.",
          other: "{count} more lines about {event} were left out.",
          ["event": .text(event), "count": .number(count)]),
        [("suppressed", .string(event)), ("count", .number(JSON.Number(count)))])
    }
  }

  /// A lock stops all that use a table, so each kind has one line in a period.
  private static func slow(_ use: SlowUse) -> LogRecord {
    var record: LogRecord
    switch use {
    case .statement(let text, let duration, let blockers):
      let (seconds, statement) = (
        Message.Value.text(Self.seconds(duration)), Message.Value.text(text)
      )
      record = LogRecord(
        "database.slow", .warning,
        blockers.isEmpty
          ? Message(
            "The database took {seconds} seconds or longer for: {statement}",
            ["seconds": seconds, "statement": statement])
          : Message(
            """
            The database took {seconds} seconds or longer for: {statement}. It waits for: {sessions}
            """,
            [
              "seconds": seconds, "statement": statement,
              "sessions": .text(LockHolder.text(blockers)),
            ]),
        [
          ("ms", milliseconds(duration)), ("statement", .string(text)),
          ("blockers", .array(blockers.map(\.json))),
        ])
      record.subject = text
    case .wait(let kind, let duration):
      let seconds = Message.Value.text(seconds(duration))
      record = LogRecord(
        "database.waited", .warning,
        kind == .read
          ? Message(
            "A read waited {seconds} seconds for a connection to the database.",
            ["seconds": seconds])
          : Message(
            "A write waited {seconds} seconds for a connection to the database.",
            ["seconds": seconds]),
        [("ms", milliseconds(duration)), ("kind", .string(kind.rawValue))])
      record.subject = kind.rawValue
    }
    record.mostLines = 1
    return record
  }

  static func milliseconds(_ duration: Duration) -> JSON {
    .number(JSON.Number(Int(duration / .milliseconds(1))))
  }

  /// Returns a number of seconds with one decimal.
  static func seconds(_ duration: Duration) -> String {
    "\((duration / .milliseconds(100)).rounded() / 10)"
  }

  private static func readiness(_ state: Readiness.State) -> LogRecord {
    func causes(_ checks: [Readiness.Check]) -> Message.Value {
      .sequence(checks.map(\.cause))
    }
    let (level, message): (LogLevel, Message) =
      if !state.failed.isEmpty {
        (.error, Message("Not ready: {causes}", ["causes": causes(state.failed)]))
      } else if !state.warnings.isEmpty {
        (.warning, Message("Ready, with warnings: {causes}", ["causes": causes(state.warnings)]))
      } else {
        (.info, Message("Ready."))
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
        ? Message("Email: {reason}", ["reason": .text(reason)])
        : Message("Text messages: {reason}", ["reason": .text(reason)]),
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
          "Email delivery paused: {server} isn't accepting mail. {trouble}",
          ["server": host, "trouble": trouble])
        : Message(
          "Delivery of text messages paused: {server} can't be reached. {trouble}",
          ["server": host, "trouble": trouble]),
      [("server", .string(server)), ("reason", .string(reason))])
  }

  private static func request(_ id: RequestID, _ event: RequestEvent) -> LogRecord {
    var record =
      switch event {
      case .failed(let cause):
        LogRecord(
          "request.failed", .error,
          Message("request {id}: {cause}", ["id": .text(id.text), "cause": .text(cause)]),
          [("cause", .string(cause))])
      case .denied(let actor, let permission): denied(id, actor, lacking: permission)
      case .providerFailed(let diagnosis):
        LogRecord(
          "provider.failed", .warning,
          Message(
            "request {id}: sign-in with the provider failed: {diagnosis}",
            ["id": .text(id.text), "diagnosis": .text(diagnosis)]),
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
        "request {id}: {kind} {actor} lacks the permission {permission}",
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
        """
        Browser reported a violation of the content security policy: {directive} on {page} \
        blocked {blocked}
        """,
        [
          "directive": .text(report.directive), "page": .text(report.page),
          "blocked": .text(report.blocked),
        ]), fields)
  }

  private static func taskFailed(_ task: BackgroundTask, _ reason: String) -> LogRecord {
    var record = LogRecord(
      "task.failed", .error,
      Message("{task}: {reason}", ["task": .text(task.rawValue), "reason": .text(reason)]),
      [("task", .string(task.rawValue)), ("reason", .string(reason))])
    record.subject = task.rawValue
    return record
  }
}
