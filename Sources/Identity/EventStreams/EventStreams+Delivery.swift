import Crypto
import Database
import JSON
import Text

extension EventStreams {
  /// The number of refusals after which an entry is left out.
  public static let mostAttempts = 5
  /// The number of refusals, in about an hour, after which the stream continues without a gap event.
  ///
  /// After fewer, a receiver that refuses everything for a while would lose an entry each minute.
  static let mostGapAttempts = 60
  /// The longest wait between attempts, in seconds.
  public static let longestWait: Int64 = 60
  /// The maximum size of the events of a batch in bytes.
  private static let mostBytes = 524_288

  /// The wait after a number of failed attempts, in seconds.
  static func wait(after failures: Int) -> Int64 {
    min(1 << Int64(min(max(failures, 1) - 1, 10)), longestWait)
  }

  /// Finds the streams that have something to deliver now.
  ///
  /// - Throws: ``EventStreamError/unavailable(_:)``.
  public func due() async throws(EventStreamError) -> EventWork {
    let now = store.clock.now()
    return try await store.read(EventStreamError.self) { connection in
      let streams = try EventStream.all(connection)
      guard !streams.isEmpty else { return EventWork(streams: [], due: []) }
      let end = try ChainLink.last(connection)?.sequence ?? 0
      let head = try AuditHead.last(connection)?.sequence ?? 0
      let due = try streams.filter { stream in
        if stream.testAskedAt != nil { return true }
        guard stream.mayDeliver(at: now) else { return false }
        if stream.position < end || stream.headPosition < head { return true }
        return try Self.hasLetters(stream, connection)
      }
      return EventWork(streams: Set(streams.map(\.id)), due: due)
    }
  }

  private static func hasLetters(
    _ stream: EventStream, _ connection: borrowing Connection
  ) throws -> Bool {
    try connection.first(
      """
      SELECT 1 FROM dead_letter
      WHERE stream_id = \(stream.id.text) AND (is_marked = 0 OR retry_asked_at IS NOT NULL) LIMIT 1
      """
    ) { _ in true } ?? false
  }

  /// Reads the next batch of a stream.
  ///
  /// - Parameters:
  ///   - id: The stream.
  ///   - limit: The maximum number of events.
  /// - Returns: The batch; nil if there's nothing to deliver now.
  /// - Throws: ``EventStreamError/unavailable(_:)``.
  public func next(
    _ id: ID<EventStream>, limit: Int
  ) async throws(EventStreamError) -> EventBatch? {
    let now = store.clock.now()
    let found = try await store.read(EventStreamError.self) {
      connection -> (EventStream, EventBatch.Content, [StreamEvent])? in
      guard let stream = try EventStream.find(id, connection) else { return nil }
      if stream.testAskedAt != nil {
        return (stream, .test, [StreamEvent(test: stream, at: now)])
      }
      guard stream.mayDeliver(at: now) else { return nil }
      let events = try Self.events(after: stream, limit, at: now, connection)
      if !events.isEmpty { return (stream, .next, events) }
      guard let retried = try Self.retried(stream, at: now, connection) else { return nil }
      return (stream, .retry(retried.sequence), [retried])
    }
    guard let (stream, content, events) = found else { return nil }
    do {
      let secret = try stream.sealedSecret.map { sealed in
        try StoredSecret.webhookSecret(id.text).opening {
          try sealer.open(sealed, with: Array(id.text.utf8))
        }
      }
      return EventBatch(stream: stream, secret: secret, events: events, content: content)
    } catch {
      let batch = EventBatch(stream: stream, secret: nil, events: events, content: content)
      let unreadable = error as? UnreadableSecret
      try await store.write(EventStreamError.self) { connection in
        if let unreadable { try UnreadableSecrets.record(unreadable, at: now, connection) }
        try Self.postpone(batch, .undecryptable, at: now, connection)
      }
      return nil
    }
  }

  /// The next events: marks of refused entries, then entries and heads in order.
  private static func events(
    after stream: EventStream, _ limit: Int, at now: Instant, _ connection: borrowing Connection
  ) throws -> [StreamEvent] {
    let marks: [Int64] = try connection.all(
      """
      SELECT sequence FROM dead_letter WHERE stream_id = \(stream.id.text) AND is_marked = 0
      ORDER BY sequence LIMIT \(limit)
      """
    ) { try $0.value(0) }
    if !marks.isEmpty {
      return marks.map { StreamEvent(gapFrom: $0, through: $0, isRefused: true, at: now) }
    }
    let links = try connection.all(
      """
      SELECT \(ChainLink.columns) FROM audit_link WHERE sequence > \(stream.position)
      ORDER BY sequence LIMIT \(limit)
      """
    ) { try ChainLink($0) }
    let end = links.last?.sequence ?? stream.position
    let heads = try connection.all(
      """
      SELECT \(AuditHead.columns) FROM audit_head
      WHERE sequence > \(stream.headPosition) AND sequence <= \(end)
      ORDER BY sequence LIMIT \(limit)
      """
    ) { try AuditHead($0) }
    var events: [StreamEvent] = []
    var (rest, position) = (heads[...], stream.position)
    func addHeads(through end: Int64) {
      while events.count < limit, let head = rest.first, head.sequence <= end {
        events.append(StreamEvent(head: head))
        rest.removeFirst()
      }
    }
    addHeads(through: position)
    var size = 0
    for link in links {
      guard events.count < limit, size < mostBytes else { break }
      if link.sequence > position + 1 {
        // Retention removed entries before they were delivered.
        events.append(
          StreamEvent(
            gapFrom: position + 1, through: link.sequence - 1, isRefused: false, at: now))
        guard events.count < limit else { break }
      }
      position = link.sequence
      guard let row = try Audit.find(link.entry, connection) else {
        events.append(
          StreamEvent(gapFrom: position, through: position, isRefused: false, at: now))
        continue
      }
      let event = StreamEvent(row, link)
      size += event.json.serialized().count
      events.append(event)
      addHeads(through: position)
    }
    return events
  }

  private static func retried(
    _ stream: EventStream, at now: Instant, _ connection: borrowing Connection
  ) throws -> StreamEvent? {
    let sequence: Int64? = try connection.first(
      """
      SELECT sequence FROM dead_letter
      WHERE stream_id = \(stream.id.text) AND retry_asked_at IS NOT NULL ORDER BY sequence LIMIT 1
      """
    ) { try $0.value(0) }
    guard let sequence else { return nil }
    guard let link = try ChainLink.find(sequence, connection),
      let row = try Audit.find(link.entry, connection)
    else {
      return StreamEvent(gapFrom: sequence, through: sequence, isRefused: false, at: now)
    }
    return StreamEvent(row, link, isLate: true)
  }

  /// Records what the destination did with a batch.
  ///
  /// - Throws: ``EventStreamError/unavailable(_:)``.
  @discardableResult
  public func record(
    _ result: EventDelivery, of batch: EventBatch
  ) async throws(EventStreamError) -> RecordedDelivery {
    let now = store.clock.now()
    return try await store.write(EventStreamError.self) { connection in
      guard try Self.isCurrent(batch, connection) else { return .stale }
      switch result {
      case .delivered: try Self.advance(batch, at: now, connection)
      case .refused(let reason, let attempts):
        let isLeftOut = try Self.refuse(batch, reason, attempts, at: now, connection)
        if isLeftOut, let event = batch.events.first { return .leftOut(event.sequence) }
      case .postponed(let reason):
        try Self.postpone(batch, .reported(reason), at: now, connection)
      }
      return .result
    }
  }

  /// Whether the stream still has the destination of a batch, and is where the batch began.
  private static func isCurrent(
    _ batch: EventBatch, _ connection: borrowing Connection
  ) throws -> Bool {
    guard let present = try EventStream.find(batch.stream.id, connection),
      present.target.isSameBytes(as: batch.stream.target)
    else { return false }
    return batch.content != .next
      || (present.position == batch.stream.position
        && present.headPosition == batch.stream.headPosition)
  }

  private static func advance(
    _ batch: EventBatch, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let id = batch.stream.id
    // Sending a refused entry again doesn't move the stream, whose position may have changed since it
    // was read.
    var moved: SQL = ""
    switch batch.content {
    case .test:
      try connection.run(
        """
        UPDATE event_stream SET test_asked_at = NULL, tested_at = \(now.microseconds),
          test_failure = NULL
        WHERE stream_id = \(id.text)
        """)
      return
    case .retry(let sequence):
      try connection.run(
        "DELETE FROM dead_letter WHERE stream_id = \(id.text) AND sequence = \(sequence)")
    case .next:
      for event in batch.events where event.content.isMark {
        try setMarked(event.sequence, of: id, connection)
      }
      let (position, head) = batch.end
      moved = "sequence = \(position), head_sequence = \(head), "
    }
    try connection.run(
      """
      UPDATE event_stream SET \(moved)delivered_at = \(now.microseconds), failures = 0,
        failed_at = NULL, failure = NULL, next_try_at = NULL
      WHERE stream_id = \(id.text)
      """)
  }

  /// Ends the attempts to mark the gap of a refused entry.
  private static func setMarked(
    _ sequence: Int64, of id: ID<EventStream>, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      UPDATE dead_letter SET is_marked = 1
      WHERE stream_id = \(id.text) AND sequence = \(sequence)
      """)
    try forgetDiscarded(id, connection)
  }

  /// Tries again later, or leaves an event out that was refused too often; returns whether it left
  /// an entry out.
  private static func refuse(
    _ batch: EventBatch, _ reason: String, _ attempts: Int, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Bool {
    let (id, failure) = (batch.stream.id, EventFailure.reported(reason))
    if case .retry(let sequence) = batch.content {
      try connection.run(
        """
        UPDATE dead_letter SET attempts = attempts + 1, refused_at = \(now.microseconds),
          failure = \(failure.stored), retry_asked_at = NULL
        WHERE stream_id = \(id.text) AND sequence = \(sequence)
        """)
      return false
    }
    guard batch.content == .next, batch.events.count == 1, let event = batch.events.first,
      attempts >= (event.content.isGap ? mostGapAttempts : mostAttempts)
    else {
      try postpone(batch, failure, at: now, connection)
      return false
    }
    let (position, head) = batch.end
    if event.content == .entry {
      try connection.run(
        """
        INSERT INTO dead_letter (stream_id, sequence, attempts, refused_at, failure)
        VALUES (\(id.text), \(event.sequence), \(attempts), \(now.microseconds), \(failure.stored))
        ON CONFLICT (stream_id, sequence) DO UPDATE SET attempts = excluded.attempts,
          refused_at = excluded.refused_at, failure = excluded.failure, is_marked = 0
        """)
    }
    if event.content.isMark { try setMarked(event.sequence, of: id, connection) }
    // A later head covers the entries of one that was left out.
    try connection.run(
      """
      UPDATE event_stream SET sequence = \(position), head_sequence = \(head), failures = 0,
        failed_at = \(now.microseconds), failure = \(failure.stored), next_try_at = NULL
      WHERE stream_id = \(id.text)
      """)
    return event.content == .entry
  }

  private static func postpone(
    _ batch: EventBatch, _ failure: EventFailure, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let id = batch.stream.id
    if batch.content == .test {
      try connection.run(
        """
        UPDATE event_stream SET test_asked_at = NULL, tested_at = \(now.microseconds),
          test_failure = \(failure.stored)
        WHERE stream_id = \(id.text)
        """)
      return
    }
    let next = now.advanced(bySeconds: wait(after: batch.stream.failures + 1))
    try connection.run(
      """
      UPDATE event_stream SET failures = failures + 1, failed_at = \(now.microseconds),
        failure = \(failure.stored), next_try_at = \(next.microseconds)
      WHERE stream_id = \(id.text)
      """)
  }

  /// Goes back to an earlier position, because what followed may not have arrived, and waits before
  /// the next attempt.
  ///
  /// - Parameters:
  ///   - batch: The batch whose delivery was interrupted.
  ///   - position: The position.
  ///   - reason: Why it may not have arrived.
  ///   - interruptions: How often that happened in a row, at least once.
  /// - Returns: What was recorded: the result, or nothing.
  /// - Throws: ``EventStreamError/unavailable(_:)``.
  @discardableResult
  public func rewind(
    _ batch: EventBatch, to position: StreamPosition, _ reason: String, interruptions: Int
  ) async throws(EventStreamError) -> RecordedDelivery {
    let now = store.clock.now()
    let next = now.advanced(bySeconds: Self.wait(after: interruptions))
    return try await store.write(EventStreamError.self) { connection in
      guard try Self.isCurrent(batch, connection) else { return .stale }
      try connection.run(
        """
        UPDATE event_stream SET sequence = \(SQL.least)(sequence, \(position.sequence)),
          head_sequence = \(SQL.least)(head_sequence, \(position.head)),
          failures = \(interruptions), failed_at = \(now.microseconds),
          failure = \(EventFailure.reported(reason).stored), next_try_at = \(next.microseconds)
        WHERE stream_id = \(batch.stream.id.text)
        """)
      return .result
    }
  }

  /// Makes all streams due immediately: the restart of a server may have fixed the cause of failed
  /// attempts.
  ///
  /// - Throws: ``EventStreamError/unavailable(_:)``.
  public func begin() async throws(EventStreamError) {
    try await store.write(EventStreamError.self) { connection in
      _ = try connection.run("UPDATE event_stream SET next_try_at = NULL WHERE stream_id > ''")
    }
  }
}

extension EventBatch {
  /// The positions of the stream after the batch.
  fileprivate var end: (position: Int64, head: Int64) {
    var (position, head) = (stream.position, stream.headPosition)
    for event in events {
      switch event.content {
      case .entry: position = max(position, event.sequence)
      case .gap(let through, _): position = max(position, through)
      case .head: head = max(head, event.sequence)
      case .test: break
      }
    }
    return (position, head)
  }
}

extension StreamEvent.Content {
  /// Whether it marks the gap of a refused entry.
  fileprivate var isMark: Bool {
    if case .gap(_, isRefused: true) = self { true } else { false }
  }
  fileprivate var isGap: Bool { if case .gap = self { true } else { false } }
}

extension EventStream {
  /// Whether the stream may deliver entries now.
  fileprivate func mayDeliver(at now: Instant) -> Bool {
    guard pausedAt == nil else { return false }
    guard let nextTryAt else { return true }
    // A clock that was set back doesn't keep a stream waiting for longer than it ever has to.
    return nextTryAt <= now || nextTryAt > now.advanced(bySeconds: EventStreams.longestWait)
  }
}
