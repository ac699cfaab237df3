public import Crypto
import Database
import Text

extension EventStreams {
  /// Changes a stream's name or destination, or replaces the secret that signs a webhook's requests.
  ///
  /// A new destination of the same kind gets what the earlier one didn't get yet. A batch that's being
  /// sent meanwhile is sent again, to the new destination.
  ///
  /// - Parameters:
  ///   - id: The stream.
  ///   - name: The display name, 1 to 100 characters.
  ///   - target: The name of a file, a host and port, or a URL.
  ///   - renewsSecret: Whether a webhook gets a new secret.
  ///   - version: The version of the stream's settings when editing began.
  ///   - request: The administrator and their input.
  /// - Returns: The stream, and the new secret, which is shown once; nil if nothing differs.
  /// - Throws: ``ActionError`` with ``EventStreamError``.
  public func change(
    _ id: ID<EventStream>, name: String, target: String, renewsSecret: Bool,
    expecting version: SettingsVersion, _ request: ActionRequest
  ) async throws(ActionError<EventStreamError>) -> ActionOutcome<
    (stream: EventStream, secret: Secret?)?
  > {
    guard UserPoolRules.isDisplayName(name) else { throw .failed(.invalidName) }
    let secret = renewsSecret ? newSecret() : nil
    let sealed = try sealed(secret, of: id)
    return try await store.perform(
      .changeEventStream, request, in: .instance, EventStreamError.self
    ) { context, connection in
      let stream = try Self.existing(id, connection)
      guard let destination = EventDestination(stream.kind, target) else {
        throw EventStreamError.invalidTarget
      }
      let others = try EventStream.all(connection).filter { $0.id != id }
      try Self.check(name, destination, among: others)
      let isMoved = !stream.target.isSameBytes(as: target)
      let isRenewed = sealed != nil && stream.kind == .webhook
      guard isMoved || isRenewed || !stream.name.isSameBytes(as: name) else { return nil }
      guard stream.version == version else { throw EventStreamError.changedMeanwhile(stream) }
      try connection.run(
        """
        UPDATE event_stream SET name = \(name), target = \(target),
          sealed_secret = \(isRenewed ? sealed : stream.sealedSecret)
        WHERE stream_id = \(id.text)
        """)
      if isMoved || isRenewed {
        // What failed before may succeed now, and a test showed nothing about the new destination.
        try connection.run(
          """
          UPDATE event_stream SET failures = 0, failed_at = NULL, failure = NULL,
            next_try_at = NULL, test_asked_at = NULL, tested_at = NULL, test_failure = NULL
          WHERE stream_id = \(id.text)
          """)
      }
      var entry = AuditEntry(.eventStreamChange, .eventStream, id.text, name: name)
      entry.compare(
        EventStream.auditFields(name: stream.name, target: stream.target),
        EventStream.auditFields(name: name, target: target))
      if isRenewed { entry.add(.signingSecret, .secret) }
      try context.record(entry, connection)
      return (try Self.existing(id, connection), isRenewed ? secret : nil)
    }
  }
}

extension EventStream {
  /// The version of the name and destination, to notice changes while someone edits them.
  public var version: SettingsVersion {
    SettingsVersion(Self.auditFields(name: name, target: target))
  }

  /// The name and destination, for comparison in the audit log.
  fileprivate static func auditFields(name: String, target: String) -> [AuditField] {
    [AuditField(.displayName, .text(name)), AuditField(.destination, .text(target))]
  }
}

extension EventDestination {
  /// Whether one of the streams has this destination: a server is the same with and without encryption.
  func isTaken(by streams: [EventStream]) -> Bool {
    streams.contains { stream in
      stream.target.isSameBytes(as: target) && (stream.kind == .file) == (kind == .file)
    }
  }
}
