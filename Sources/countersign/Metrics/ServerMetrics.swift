import Crypto
import Foundation
import HTTP
import HTTPServer
import Host
import Identity
import IdentityToolkitAPI
import Metrics

struct ServerMetrics: Sendable {
  let instance: Instance
  let folder: DataFolder
  let server: HTTPServer
  let requests: RequestMetrics
  let violations: ViolationReports
  /// Nil without a limit of requests per pool.
  let limit: PoolRequestLimit?
  let readiness: Readiness
  let certificate: ServedCertificate?
  /// Nil when this server sends no email.
  let mail: MailHealth?
  /// Nil when this server sends no text messages.
  let sms: MailHealth?
  let remoteCalls: RemoteCalls
  /// Nil when no backups are watched.
  let backups: BackupWatch?
  let accessLog: AccessLog?
  /// Nil without an audit file.
  let auditFile: AuditFileWriter?
  let log: Log
  let measurements: LastKnown<Measurements?>
  var kernelClock: @Sendable () -> KernelClock? = { KernelClock.current() }

  func text() async -> String {
    let (state, waiting) = await readiness.stateAndWait()
    // While the database can't be read, its metrics are the last known ones, and readiness shows why.
    let measurements = await measurements.answer().value ?? nil
    let lag = await auditFile?.lag
    var exposition = Exposition()
    writeBuild(to: &exposition)
    write(state, waiting, to: &exposition)
    requests.write(to: &exposition)
    violations.write(to: &exposition)
    if let limit {
      exposition.counter(
        "countersign_pool_limit_rejections_total",
        help: "Requests to the API rejected because of the limit per user pool.",
        [Sample(limit.rejections)])
    }
    exposition.gauge(
      "countersign_http_connections", help: "Open connections.",
      Sample(Double(server.connectionCount)))
    DatabaseMetrics(instance).write(to: &exposition)
    writeFiles(to: &exposition)
    write(instance.hasher.load, to: &exposition)
    writePasswordAttempts(to: &exposition)
    writeCodeAttempts(to: &exposition)
    if let measurements { write(measurements, to: &exposition) }
    writeMail(to: &exposition)
    writeTextMessages(measurements, to: &exposition)
    writeConnections(measurements, to: &exposition)
    if let lag {
      exposition.gauge(
        "countersign_audit_file_lag_seconds",
        help: "Age of the oldest entry that isn't in the audit file; 0 if there's none.",
        Sample(lag))
    }
    writeClockAndCertificate(to: &exposition)
    ClockMetrics(kernelClock())?.write(to: &exposition)
    backups.map(BackupMetrics.init)?.write(to: &exposition)
    writePolicyFile(to: &exposition)
    writeLog(to: &exposition)
    ProcessMetrics()?.write(to: &exposition)
    return exposition.text
  }

  private func writePolicyFile(to exposition: inout Exposition) {
    let status = instance.identity.policies.fileStatus
    guard status != .none else { return }
    exposition.gauge(
      "countersign_policy_file_readable", help: "1 if the policy file can be read, else 0.",
      Sample(status == .unreadable ? 0 : 1))
  }

  private func writeBuild(to exposition: inout Exposition) {
    exposition.gauge(
      "countersign_build_info", help: "The version of the program; always 1.",
      Sample(
        1,
        ["version": Countersign.version, "profile": instance.identity.profile.rawValue]))
  }

  private func write(
    _ state: Readiness.State, _ waiting: Duration, to exposition: inout Exposition
  ) {
    exposition.gauge(
      "countersign_ready", help: "1 if the server is ready for requests, else 0.",
      Sample(state.failed.isEmpty && !state.isDraining ? 1 : 0))
    exposition.gauge(
      "countersign_check_waiting_seconds",
      help: "How long the checks in progress have been waiting for the database; 0 if they aren't.",
      Sample(waiting.inSeconds))
    exposition.gauges(
      "countersign_check_failed", help: "1 if a check of readiness fails, else 0.",
      Readiness.Check.allCases.map {
        Sample(state.failed.contains($0) ? 1 : 0, ["check": $0.rawValue])
      })
    exposition.gauges(
      "countersign_check_warning", help: "1 if a check of readiness warns, else 0.",
      Readiness.Check.allCases.map {
        Sample(state.warnings.contains($0) ? 1 : 0, ["check": $0.rawValue])
      })
  }

  private func writeFiles(to exposition: inout Exposition) {
    func size(_ path: String) -> Double {
      let size = try? FileManager.default.attributesOfItem(atPath: path)[.size]
      return (size as? NSNumber)?.doubleValue ?? 0
    }
    if !folder.isOnServer {
      let database = DataFolder.resolved(folder.database)
      exposition.gauge(
        "countersign_database_size_bytes", help: "Size of the database file.",
        Sample(size(database)))
      exposition.gauge(
        "countersign_wal_size_bytes", help: "Size of the write-ahead log.",
        Sample(size("\(database)-wal")))
    }
    if let free = folder.freeSpace {
      exposition.gauge(
        "countersign_disk_free_bytes", help: "Free disk space of the data folder.",
        Sample(Double(free)))
    }
  }

  private func write(_ load: PasswordHasher.Load, to exposition: inout Exposition) {
    exposition.gauge(
      "countersign_hashing_running", help: "Password hashes that are being computed.",
      Sample(Double(load.running)))
    exposition.gauge(
      "countersign_hashing_queue_length", help: "Password hashes that wait.",
      Sample(Double(load.waiting)))
    exposition.counter(
      "countersign_hashing_rejections_total",
      help: "Password hashes rejected because the queue was full.", [Sample(load.rejections)])
  }

  private func writePasswordAttempts(to exposition: inout Exposition) {
    let attempts = instance.identity.passwordAttempts
    exposition.counter(
      "countersign_password_attempts_total", help: "Passwords of sign-ins by result.",
      PasswordAttempts.Kind.allCases.flatMap { kind in
        PasswordAttempts.Result.allCases.map { result in
          Sample(
            attempts.count(kind, result), ["kind": kind.rawValue, "result": result.rawValue])
        }
      })
  }

  private func writeCodeAttempts(to exposition: inout Exposition) {
    exposition.counter(
      "countersign_code_attempts_total",
      help: "Code attempts of users by result, at most 15 seconds behind.",
      CodeAttempt.Outcome.allCases.map {
        Sample(instance.identity.activity.folded($0), ["result": $0.rawValue])
      })
  }

  private func write(_ measurements: Measurements, to exposition: inout Exposition) {
    let now = instance.identity.clock.now()
    // Without a mail server, emails wait for an administrator to open them.
    if mail != nil {
      exposition.gauge(
        "countersign_mail_queued", help: "Emails that wait to be sent.",
        Sample(Double(measurements.queuedMail)))
      exposition.gauge(
        "countersign_mail_oldest_queued_seconds",
        help: "Age of the oldest email that waits to be sent; 0 if there's none.",
        Sample(Self.age(of: measurements.oldestMail, at: now)))
    }
    exposition.gauge(
      "countersign_audit_unsealed_seconds",
      help: "Age of the oldest entry of the audit log that isn't sealed; 0 if there's none.",
      Sample(Self.age(of: measurements.unsealedSince, at: now)))
    exposition.gauge(
      "countersign_audit_fault",
      help: "1 if the latest check of the audit log found a fault, else 0.",
      Sample(measurements.hasAuditFault ? 1 : 0))
    exposition.gauge(
      "countersign_tasks_unheld_seconds",
      help: "How long no server has done the tasks that one of several does; 0 if one does.",
      Sample(Self.age(of: measurements.tasksUnheldSince, at: now)))
    // Counting the sessions of millions of users takes seconds.
    exposition.gauge(
      "countersign_sessions", help: "Sessions of administrators that haven't expired.",
      Sample(Double(measurements.consoleSessions), ["kind": "console"]))
  }

  private func writeMail(to exposition: inout Exposition) {
    guard let mail else { return }
    exposition.counter(
      "countersign_mail_attempts_total", help: "Attempts to send an email, by result.",
      MailHealth.Attempt.allCases.map { Sample(mail.count($0), ["result": $0.rawValue]) })
    exposition.gauge(
      "countersign_mail_last_failure_timestamp_seconds",
      help: "When an attempt to send an email failed last, since 1970; 0 if none has.",
      Sample(mail.lastFailure.map { Double($0.seconds) } ?? 0))
  }

  private func writeTextMessages(_ measurements: Measurements?, to exposition: inout Exposition) {
    guard let sms else { return }
    if let measurements {
      exposition.gauge(
        "countersign_sms_queued", help: "Text messages that wait to be sent.",
        Sample(Double(measurements.queuedTextMessages)))
      exposition.gauge(
        "countersign_sms_oldest_queued_seconds",
        help: "Age of the oldest text message that waits to be sent; 0 if there's none.",
        Sample(Self.age(of: measurements.oldestTextMessage, at: instance.identity.clock.now())))
    }
    exposition.counter(
      "countersign_sms_attempts_total", help: "Attempts to send a text message, by result.",
      MailHealth.Attempt.allCases.map { Sample(sms.count($0), ["result": $0.rawValue]) })
    exposition.counter(
      "countersign_sms_limit_rejections_total",
      help: "Text messages refused because of a daily limit.",
      [Sample(instance.identity.textMessageRejections)])
  }

  private func writeConnections(_ measurements: Measurements?, to exposition: inout Exposition) {
    let now = instance.identity.clock.now()
    exposition.gauges(
      "countersign_mirror_age_seconds",
      help: "Age of what's known of the users of a connected project.",
      (measurements?.readAt ?? [:]).sorted { $0.key.text < $1.key.text }.map { project, time in
        Sample(Self.age(of: time, at: now), ["project": project.text])
      })
    exposition.counter(
      "countersign_remote_calls_total", help: "Calls to servers of connected projects, by result.",
      RemoteCalls.results.enumerated().map { index, name in
        Sample(remoteCalls.count(index), ["result": name])
      })
  }

  /// Returns the age of a message in seconds; 0 without one.
  private static func age(of created: Instant?, at now: Instant) -> Double {
    created.map { max(0, Double(now.microseconds - $0.microseconds) / 1e6) } ?? 0
  }

  private func writeClockAndCertificate(to exposition: inout Exposition) {
    let guardian = instance.identity.clockGuard
    exposition.gauge(
      "countersign_clock_offset_seconds",
      help: "Sum of the clock's jumps since the start; negative if it's behind.",
      Sample(guardian.offset.inSeconds))
    exposition.gauge(
      "countersign_clock_trusted", help: "1 if the clock is trusted, else 0.",
      Sample(guardian.doubt == nil ? 1 : 0))
    if let end = certificate?.notAfter {
      exposition.gauge(
        "countersign_certificate_expiry_timestamp_seconds",
        help: "When the TLS certificate in use expires, since 1970.", Sample(Double(end)))
    }
  }

  private func writeLog(to exposition: inout Exposition) {
    exposition.counter(
      "countersign_log_events_total", help: "Logged events by level, including suppressed lines.",
      LogLevel.allCases.map { Sample(log.count($0), ["level": $0.rawValue]) })
    exposition.counter(
      "countersign_log_lost_lines_total", help: "Lines of the log that couldn't be written.",
      [Sample(log.lostLines)])
    guard let accessLog else { return }
    exposition.counter(
      "countersign_access_log_dropped_lines_total", help: "Lines of the access log that were lost.",
      [Sample(accessLog.droppedLines)])
  }
}

extension Duration {
  fileprivate var inSeconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}

struct MetricsServer: Sendable {
  private let server: HTTPServer
  private let host: String

  init(host: String, port: Int, _ metrics: ServerMetrics) throws(ServerError) {
    var limits = Limits()
    limits.connections = 64
    limits.connectionsPerNetwork = 64
    self.host = host
    server = try HTTPServer(
      ServerConfiguration(host: host, port: port, threads: 1, limits: limits),
      failure: { status, _, _ in .text("\(status)\n", status: status) },
      handler: { request in
        guard request.target.rawPath == "/metrics" else {
          return .text("/metrics\n", status: .notFound)
        }
        guard request.method == .get || request.method == .head else {
          var response = Response.text("GET only\n", status: .methodNotAllowed)
          response.fields[.allow] = "GET, HEAD"
          return response
        }
        var response = Response.text(await metrics.text())
        response.fields[.contentType] = Exposition.mediaType
        return response
      })
  }

  var url: String {
    "http://\(host.contains(":") ? "[\(host)]" : host):\(server.port)/metrics"
  }

  func stop() async { await server.stop(grace: .seconds(1)) }
}

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

struct ClockMetrics: Sendable {
  private let clock: KernelClock

  /// Creates the metrics; nil where the kernel doesn't tell, so that they're left out.
  init?(_ clock: KernelClock?) {
    guard let clock else { return nil }
    self.clock = clock
  }

  func write(to exposition: inout Exposition) {
    exposition.gauge(
      "countersign_clock_synchronized",
      help: "1 if a time service keeps the clock synchronized, else 0.",
      Sample(clock.isSynchronized ? 1 : 0))
    exposition.gauge(
      "countersign_clock_error_seconds",
      help: "How far the clock may be from the true time, according to the kernel.",
      Sample(Double(clock.error) / 1e6))
  }
}
