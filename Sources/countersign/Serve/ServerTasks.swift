import Identity

/// The tasks that use the database: housekeeping, deliveries of messages, and the audit file.
struct ServerTasks: Sendable {
  private let housekeeping: Housekeeping
  private let deliveries: [Delivery]
  private let auditFile: AuditFileWriter?
  private let readiness: Task<Void, Never>

  /// Starts the tasks, after finding out whether this server does those that one of several does.
  init(_ parts: ServerParts) async throws {
    let identity = parts.instance.identity
    try await identity.taskLease.renew()
    housekeeping = Housekeeping(
      identity,
      keeper: KeyRotationTask(
        parts.instance, parts.folder, environment: parts.environment, log: parts.log),
      integrity: IntegrityWatch(parts.instance, log: parts.log), file: parts.databaseFile,
      place: parts.folder.keyPlace(environment: parts.environment), log: parts.log)
    deliveries = Delivery.all(
      of: parts.configuration, identity, mail: parts.mail, sms: parts.sms, log: parts.log)
    auditFile = parts.auditFile
    await auditFile?.start()
    readiness = Task { [readiness = parts.readiness] in await readiness.watch() }
  }

  /// Stops the tasks, and then lets another server do those of one.
  ///
  /// The audit file ends last, since the others add entries.
  func stop() async {
    readiness.cancel()
    await readiness.value
    await Delivery.stop(deliveries)
    await housekeeping.stop()
    await auditFile?.finish()
    await housekeeping.release()
  }
}
