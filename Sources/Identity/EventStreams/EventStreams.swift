public import Crypto
import Database
import Text

/// Why an event stream can't be added or changed.
public enum EventStreamError: Error, Sendable {
  /// The name is empty or longer than 100 characters.
  case invalidName
  /// The address isn't one of the destination's kind.
  case invalidTarget
  /// Another stream has the same destination.
  case exists
  /// Another stream has the same name.
  case nameTaken
  /// Someone else changed the stream after the form was opened; this is the present one.
  case changedMeanwhile(EventStream)
  /// There are ``EventStreams/most`` already.
  case tooMany
  /// The stream doesn't exist.
  case notFound
  /// No such entry was refused.
  case letterNotFound
  /// The database is unavailable.
  case unavailable(Failure)
}

extension EventStreamError: UseCaseError {}

/// Adds, lists, pauses, and deletes the destinations that audit entries are copied to.
///
/// Entries are delivered at least once and in order, each stream at its own pace: the audit log is
/// the queue, and a stream only stores its position. One server delivers, the one that holds the
/// ``TaskLease``.
public struct EventStreams: Sendable {
  let store: Store
  let sealer: Sealer

  /// The maximum number of streams.
  public static let most = 20

  /// A stream with what it still has to deliver.
  public struct State: Sendable {
    /// The stream.
    public let stream: EventStream
    /// The number of sealed entries that weren't delivered yet, without removed ones.
    public let lag: Int64
    /// The time of the oldest of them; nil if there are none.
    public let oldest: Instant?
    /// The number of refused entries that weren't discarded.
    public let deadLetters: Int
  }

  /// Lists all streams.
  ///
  /// - Throws: ``EventStreamError/unavailable(_:)``.
  public func list() async throws(EventStreamError) -> [State] {
    try await store.read(EventStreamError.self) { connection in
      let log = try Self.log(connection)
      return try EventStream.all(connection).map { try Self.state($0, log, connection) }
    }
  }

  /// Finds a stream.
  ///
  /// - Throws: ``EventStreamError/notFound``, ``EventStreamError/unavailable(_:)``.
  public func find(_ id: ID<EventStream>) async throws(EventStreamError) -> State {
    try await store.read(EventStreamError.self) { connection in
      let log = try Self.log(connection)
      return try Self.state(Self.existing(id, connection), log, connection)
    }
  }

  /// The number of the last entry that retention removed from the audit log, and its last entry.
  private static func log(
    _ connection: borrowing Connection
  ) throws -> (removed: Int64, last: ChainLink?) {
    (try AuditTombstone.latest(connection)?.last ?? 0, try ChainLink.last(connection))
  }

  /// Returns a stream's state.
  private static func state(
    _ stream: EventStream, _ log: (removed: Int64, last: ChainLink?),
    _ connection: borrowing Connection
  ) throws -> State {
    // Entries that retention removed are one gap event.
    let lag = max(0, (log.last?.sequence ?? 0) - max(stream.position, log.removed))
    let oldest: Instant? =
      lag == 0
      ? nil
      : try connection.first(
        """
        SELECT a.at FROM audit_link l \(SQL.orderedJoin) audit a ON a.audit_id = l.audit_id
        WHERE l.sequence > \(stream.position) ORDER BY l.sequence LIMIT 1
        """
      ) { Instant(microseconds: try $0.value(0)) }
    let letters: Int? = try connection.first(
      """
      SELECT count(*) FROM dead_letter
      WHERE stream_id = \(stream.id.text) AND discarded_at IS NULL
      """
    ) { try $0.value(0) }
    return State(stream: stream, lag: lag, oldest: oldest, deadLetters: letters ?? 0)
  }

  static func existing(
    _ id: ID<EventStream>, _ connection: borrowing Connection
  ) throws -> EventStream {
    guard let stream = try EventStream.find(id, connection) else {
      throw EventStreamError.notFound
    }
    return stream
  }

  /// Adds a stream.
  ///
  /// - Parameters:
  ///   - destination: The destination.
  ///   - name: The display name, 1 to 100 characters.
  ///   - fromStart: Whether it begins with the first entry, rather than with the next one.
  ///   - request: The administrator and their input.
  /// - Returns: The stream, and for a webhook the secret that signs requests, which is shown once.
  /// - Throws: ``ActionError`` with ``EventStreamError``.
  public func add(
    _ destination: EventDestination, name: String, fromStart: Bool, _ request: ActionRequest
  ) async throws(ActionError<EventStreamError>) -> ActionOutcome<
    (stream: EventStream, secret: Secret?)
  > {
    guard UserPoolRules.isDisplayName(name) else { throw .failed(.invalidName) }
    let id = ID<EventStream>(store.random.uuid())
    let secret = destination.kind == .webhook ? newSecret() : nil
    let sealed = try sealed(secret, of: id)
    return try await store.perform(.addEventStream, request, in: .instance, EventStreamError.self) {
      context, connection in
      let others = try EventStream.all(connection)
      guard others.count < Self.most else { throw EventStreamError.tooMany }
      try Self.check(name, destination, among: others)
      let start = fromStart ? 0 : try ChainLink.last(connection)?.sequence ?? 0
      try connection.run(
        """
        INSERT INTO event_stream (stream_id, kind, name, target, sealed_secret, created_at,
          created_by, sequence, head_sequence)
        VALUES (\(id.text), \(destination.kind.rawValue), \(name), \(destination.target), \(sealed),
          \(context.now.microseconds), \(context.author.actor.name), \(start), \(start))
        """)
      var entry = AuditEntry(.eventStreamAdd, .eventStream, id.text, name: name)
      entry.add(.streamKind, .code(destination.kind.rawValue))
      entry.add(.destination, .text(destination.target))
      entry.add(.streamStart, .number(Int(start)))
      try context.record(entry, connection)
      return (try Self.existing(id, connection), secret)
    }
  }

  /// Returns what's invalid about the input for a stream, whatever other streams there are.
  ///
  /// - Parameters:
  ///   - kind: The kind of the destination; nil if none was chosen.
  ///   - target: The name of a file, a host and port, or a URL.
  ///   - name: The display name.
  /// - Returns: The errors, in the order of the form; without a kind, the target is an error if it's
  ///   one for every kind.
  public static func faults(
    kind: EventStream.Kind?, target: String, name: String
  ) -> [EventStreamError] {
    let kinds = kind.map { [$0] } ?? EventStream.Kind.allCases
    var faults: [EventStreamError] = []
    if kinds.allSatisfy({ EventDestination($0, target) == nil }) { faults.append(.invalidTarget) }
    if !UserPoolRules.isDisplayName(name) { faults.append(.invalidName) }
    return faults
  }

  /// Checks that no other stream has the name or the destination.
  static func check(
    _ name: String, _ destination: EventDestination, among others: [EventStream]
  ) throws(EventStreamError) {
    guard !destination.isTaken(by: others) else { throw .exists }
    guard !others.contains(where: { $0.name.isSameToken(as: name) }) else { throw .nameTaken }
  }

  func newSecret() -> Secret { Secret("whsec_" + store.random.token(bytes: 32)) }

  func sealed(
    _ secret: Secret?, of id: ID<EventStream>
  ) throws(ActionError<EventStreamError>) -> [UInt8]? {
    do {
      return try secret.map { try sealer.seal($0.revealedBytes, with: Array(id.text.utf8)) }
    } catch { throw .failed(.unavailable(Failure(error))) }
  }

  /// Deletes a stream; its refused entries are forgotten.
  ///
  /// - Throws: ``ActionError`` with ``EventStreamError``.
  public func delete(
    _ id: ID<EventStream>, _ request: ActionRequest
  ) async throws(ActionError<EventStreamError>) -> ActionOutcome<Void> {
    try await store.perform(.deleteEventStream, request, in: .instance, EventStreamError.self) {
      context, connection in
      let stream = try Self.existing(id, connection)
      try connection.run("DELETE FROM dead_letter WHERE stream_id = \(id.text)")
      try connection.run("DELETE FROM event_stream WHERE stream_id = \(id.text)")
      var entry = Self.entry(.eventStreamDelete, stream)
      entry.add(.streamKind, lost: .code(stream.kind.rawValue))
      entry.add(.destination, lost: .text(stream.target))
      try context.record(entry, connection)
    }
  }

  /// Pauses a stream; entries wait in the audit log.
  ///
  /// - Returns: False if it's paused already.
  /// - Throws: ``ActionError`` with ``EventStreamError``.
  public func pause(
    _ id: ID<EventStream>, _ request: ActionRequest
  ) async throws(ActionError<EventStreamError>) -> ActionOutcome<Bool> {
    try await store.perform(.pauseEventStream, request, in: .instance, EventStreamError.self) {
      context, connection in
      let stream = try Self.existing(id, connection)
      guard stream.pausedAt == nil else { return false }
      try connection.run(
        """
        UPDATE event_stream SET paused_at = \(context.now.microseconds)
        WHERE stream_id = \(id.text)
        """)
      try context.record(Self.entry(.eventStreamPause, stream), connection)
      return true
    }
  }

  /// Resumes a stream where it was paused.
  ///
  /// - Returns: False if it isn't paused.
  /// - Throws: ``ActionError`` with ``EventStreamError``.
  public func resume(
    _ id: ID<EventStream>, _ request: ActionRequest
  ) async throws(ActionError<EventStreamError>) -> ActionOutcome<Bool> {
    try await store.perform(.resumeEventStream, request, in: .instance, EventStreamError.self) {
      context, connection in
      let stream = try Self.existing(id, connection)
      guard stream.pausedAt != nil else { return false }
      try connection.run(
        """
        UPDATE event_stream SET paused_at = NULL, next_try_at = NULL WHERE stream_id = \(id.text)
        """)
      try context.record(Self.entry(.eventStreamResume, stream), connection)
      return true
    }
  }

  /// Has a test event sent shortly, even while the stream is paused.
  ///
  /// - Throws: ``ActionError`` with ``EventStreamError``.
  public func test(
    _ id: ID<EventStream>, _ request: ActionRequest
  ) async throws(ActionError<EventStreamError>) -> ActionOutcome<Void> {
    try await store.perform(.testEventStream, request, in: .instance, EventStreamError.self) {
      context, connection in
      let stream = try Self.existing(id, connection)
      guard stream.testAskedAt == nil else { return }
      try connection.run(
        """
        UPDATE event_stream SET test_asked_at = \(context.now.microseconds)
        WHERE stream_id = \(id.text)
        """)
      try context.record(Self.entry(.eventStreamTest, stream), connection)
    }
  }

  /// Pauses all streams; returns how many weren't paused before.
  static func pauseAll(at now: Instant, _ connection: borrowing Connection) throws -> Int {
    try connection.run(
      """
      UPDATE event_stream SET paused_at = \(now.microseconds)
      WHERE stream_id > '' AND paused_at IS NULL
      """)
  }

  static func entry(_ action: AuditAction, _ stream: EventStream) -> AuditEntry {
    AuditEntry(action, .eventStream, stream.id.text, name: stream.name)
  }
}

extension EventStreams: ReencryptableStore {
  static let name = "event_stream"

  func reseal(
    after position: String, limit: Int, _ connection: borrowing Connection
  ) throws -> ResealedPart {
    try ResealedPart(
      of: "event_stream", by: "stream_id", "sealed_secret", after: position, limit: limit,
      connection
    ) { id, sealed in
      try StoredSecret.webhookSecret(id).opening {
        try sealer.resealed(sealed, with: Array(id.utf8))
      }
    }
  }
}
