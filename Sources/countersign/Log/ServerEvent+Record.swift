import Database
import Identity
import JSON
import Localization
import MailText

extension ServerEvent {
  var record: LogRecord {
    switch self {
    case .preparing(let step): LogRecord("server.preparing", .info, step).unlimited
    case .upgraded(let upgrade): Self.upgraded(upgrade)
    case .failed(let problem): LogRecord("server.failed", .error, problem).unlimited
    case .started(let version, let profile, let url):
      LogRecord(
        "server.started", .info,
        Message(
          "Countersign {version} ({profile}) serves {url}",
          ["version": .text(version), "profile": .text(profile.rawValue), "url": .text(url)]),
        [
          ("version", .string(version)), ("profile", .string(profile.rawValue)),
          ("url", .string(url)),
        ])
    case .dataFolder(let folder):
      LogRecord(
        "server.data_folder", .info,
        Message(
          """
          Data folder: {folder}. Keep a copy of its master.key somewhere else: without it, second \
          factors can't be read.
          """, ["folder": .text(folder)]),
        [("folder", .string(folder))])
    case .emulator(let project, let host):
      LogRecord(
        "server.emulator", .info,
        Message(
          "Emulator for project {defaultProject}: FIREBASE_AUTH_EMULATOR_HOST={host}",
          ["defaultProject": .text(project), "host": .text(host)]),
        [("project", .string(project)), ("host", .string(host))])
    case .setupCode(let url, let code):
      LogRecord(
        "server.setup_code", .warning,
        Message(
          "No owner yet. Open {url}/setup and enter this code: {code}",
          ["url": .text(url), "code": .text(code)]),
        [("url", .string("\(url)/setup")), ("code", .string(code))])
    case .metrics(let url):
      LogRecord(
        "server.metrics", .info, Message("Metrics: {url}", ["url": .text(url)]),
        [("url", .string(url))])
    case .connectionsLimited(let warning):
      LogRecord("server.connections_limited", .warning, warning)
    case .draining(let seconds):
      LogRecord(
        "server.draining", .info,
        Message(
          one: "Stopping in {count} second: requests are still answered, and /readyz reports 503.",
          other: """
            Stopping in {count} seconds: requests are still answered, and /readyz reports 503.
            """, ["count": .number(seconds)]),
        [("seconds", .number(JSON.Number(seconds)))])
    case .stopped(let statistics):
      LogRecord(
        "server.stopped", .info,
        Message(
          "Stopped. {reads} reads, {writes} writes in {commits} commits.",
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

extension LogEvent {
  static func clockJumped(_ change: Duration) -> LogRecord {
    let seconds = Message.Value.text(seconds(change < .zero ? .zero - change : change))
    return LogRecord(
      "clock.jumped", .warning,
      change < .zero
        ? Message("The system clock jumped back by {seconds} seconds.", ["seconds": seconds])
        : Message("The system clock jumped ahead by {seconds} seconds.", ["seconds": seconds]),
      [("ms", milliseconds(change))])
  }

  static func auditNotSealed(_ delay: AuditChain.Delay) -> LogRecord {
    LogRecord(
      "audit.not_sealed", .error, delay.message,
      [
        ("since", .string(delay.since.rfc3339Milliseconds)),
        ("blockers", .array(delay.holders.map(\.json))),
      ])
  }
}

extension ProjectConnection {
  var record: LogRecord {
    let name = Message.Value.text(project.text)
    let fields: [(String, JSON)] = [
      ("project", .string(project.text)), ("detail", detail.map { .string($0) } ?? .null),
    ]
    guard let causeText else {
      return LogRecord(
        "connection.restored", .info,
        Message("The project {project} is read again.", ["project": name]), fields)
    }
    let cause = Message.Value.message(causeText)
    return state == .paused
      ? LogRecord(
        "connection.paused", .warning,
        Message("The project {project} is paused: {cause}", ["project": name, "cause": cause]),
        fields)
      : LogRecord(
        "connection.failed", .warning,
        // The details are the remote's own words.
        Message(
          "The project {project} can't be read: {cause} Details: {detail}",
          ["project": name, "cause": cause, "detail": .text(detail ?? "-")]), fields)
  }
}

extension AuditChain.Delay {
  var message: Message {
    let since = Message.Value.text(since.rfc3339)
    return holders.isEmpty
      ? Message(
        "Entries of the audit log since {time} aren't sealed, and not in audit files.",
        ["time": since])
      : Message(
        """
        Entries of the audit log since {time} aren't sealed, and not in audit files, because these \
        sessions of the database's server changed the log in transactions that haven't ended: \
        {sessions}
        """, ["time": since, "sessions": .text(LockHolder.text(holders))])
  }
}

extension LockHolder {
  /// The session, as in `process 4711 (psql)`.
  var text: String {
    application.isEmpty ? "process \(process)" : "process \(process) (\(application))"
  }

  var json: JSON {
    ["pid": .number(JSON.Number(process)), "application": .string(application)]
  }

  static func text(_ holders: [LockHolder]) -> String {
    holders.map(\.text).joined(separator: ", ")
  }
}

extension ServerEvent {
  private static func upgraded(_ upgrade: UpgradeReport) -> LogRecord {
    let dropped = DroppedSetting.Kind.allCases.compactMap { kind in
      upgrade.dropped[kind].map { (kind: kind, count: $0) }
    }
    return LogRecord(
      "server.upgraded", dropped.isEmpty ? .info : .warning,
      dropped.isEmpty
        ? Message(
          one: "Upgraded the database by {count} migration.",
          other: "Upgraded the database by {count} migrations.",
          ["count": .number(upgrade.migrations)])
        : Message(
          one: "Upgraded the database; {count} setting was dropped, as the lines above say.",
          other: "Upgraded the database; {count} settings were dropped, as the lines above say.",
          ["count": .number(dropped.reduce(0) { $0 + $1.count })]),
      [("migrations", .number(JSON.Number(upgrade.migrations)))]
        + dropped.map { ($0.kind.rawValue, .number(JSON.Number($0.count))) })
  }
}

extension Readiness.Check {
  var cause: Message {
    switch self {
    case .database:
      Message("database (it can't be written within 10 seconds, or its file isn't where it was)")
    case .version:
      Message(
        "version (another server has migrated the database to what only newer versions can use)")
    case .integrity:
      Message("integrity (the database file is damaged, or wasn't checked for three days)")
    case .clock:
      Message("clock (it differs from the stored times, or from that of the database's server)")
    case .keys:
      Message(
        """
        keys (the master key file is missing or isn't the database's, another server uses a newer \
        one, or there's no signing key)
        """)
    case .disk:
      Message("disk (less than 64 MiB are free, or the disk of the database's server is full)")
    case .certificate: Message("certificate (it has expired, or expires soon)")
    case .mail:
      Message("mail (the mail server can't be reached, or an email has waited for 15 minutes)")
    case .auditFile:
      Message("audit-file (it can't be written, or an entry has waited for 10 minutes)")
    }
  }
}
