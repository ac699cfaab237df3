import Identity

/// The tasks that use the database: housekeeping, deliveries of messages, and event streams.
struct ServerTasks: Sendable {
  private let housekeeping: Housekeeping
  private let deliveries: [Delivery]
  private let events: EventStreaming
  private let streaming: Task<Void, Never>

  /// Starts the tasks, after finding out whether this server does those that one of several does.
  init(_ parts: ServerParts) async throws {
    let identity = parts.instance.identity
    try await identity.taskLease.renew()
    housekeeping = Housekeeping(
      identity,
      keeper: KeyRotationTask(
        parts.instance, parts.folder, environment: parts.environment, log: parts.log),
      integrity: IntegrityWatch(parts.instance, log: parts.log), file: parts.databaseFile,
      auditHeads: parts.auditHeads, log: parts.log)
    deliveries = Delivery.all(
      of: parts.configuration, identity, mail: parts.mail, sms: parts.sms, log: parts.log)
    let events = EventStreaming(identity, parts.configuration, log: parts.log)
    self.events = events
    streaming = Task { await events.run() }
  }

  /// Stops the tasks, and then lets another server do those of one.
  ///
  /// Event streams end last, since the others add events.
  func stop() async {
    await Delivery.stop(deliveries)
    await housekeeping.stop()
    streaming.cancel()
    await streaming.value
    await events.finish()
    await housekeeping.release()
  }
}
