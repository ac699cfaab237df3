import Identity

/// Delivers the events of one stream, in order.
actor EventCourier {
  private let streams: EventStreams
  private let lease: TaskLease
  private let id: ID<EventStream>
  private let name: String
  private let target: String
  private let carrier: any EventCarrier
  private let log: Log
  /// The number of events in the next batch: fewer after a refusal, to find the cause.
  private var limit = mostEvents
  private var isFailing = false
  /// The event that was refused last, and how often.
  ///
  /// It isn't stored: a restart may have fixed the cause.
  private var refusals: (sequence: Int64, name: String, count: Int)?

  /// When the connection broke last, and how often in a row.
  ///
  /// Deliveries in between don't end the row: a destination may accept events and then break the
  /// connection, each time.
  private var interruptions: (at: ContinuousClock.Instant, count: Int)?

  private static let mostEvents = 100
  /// The time without an interruption after which waits begin anew.
  private static let steady = Duration.seconds(2 * EventStreams.longestWait)

  init(
    _ streams: EventStreams, _ lease: TaskLease, _ stream: EventStream, _ carrier: any EventCarrier,
    log: Log
  ) {
    (self.streams, self.lease) = (streams, lease)
    (id, name, target) = (stream.id, stream.name, stream.target)
    self.carrier = carrier
    self.log = log
  }

  /// Whether it delivers to the destination that the stream has now.
  nonisolated func serves(_ stream: EventStream) -> Bool {
    (name, target) == (stream.name, stream.target)
  }

  /// Ends a delivery that takes too long, and those that follow.
  nonisolated func cancel() { carrier.cancel() }

  /// Delivers events until there are no more, or the destination accepts none.
  func deliver() async {
    do {
      while !Task.isCancelled, lease.isHeld, let batch = try await streams.next(id, limit: limit) {
        // The destination may have been changed since the last batch.
        guard serves(batch.stream) else { return }
        let attempt = await carrier.deliver(batch)
        guard !Task.isCancelled || attempt.isDelivered else { return }
        if case .refused = attempt, batch.isDivisible {
          limit = max(1, batch.events.count / 2)
          continue
        }
        // Even while the server stops, so that the events aren't sent twice.
        guard try await Task(operation: { try await self.record(attempt, of: batch) }).value
        else { return }
      }
    } catch {
      log.add(.taskFailed(.eventStreams, reason: "\(error)"))
    }
  }

  /// Records an attempt; returns false if there's nothing to deliver for now.
  private func record(_ attempt: EventAttempt, of batch: EventBatch) async throws -> Bool {
    switch attempt {
    case .delivered:
      limit = min(limit * 2, Self.mostEvents)
      if batch.isNext { refusals = nil }
      guard try await streams.record(.delivered, of: batch) != .stale else { return false }
      if isFailing, batch.isNext {
        isFailing = false
        log.add(.stream(.resumed(name)))
      }
    case .refused(let reason):
      let attempts = refused(batch)
      switch try await streams.record(.refused(reason, attempts: attempts), of: batch) {
      case .stale: return false
      case .leftOut(let entry):
        log.add(.stream(.refused(name, entry: entry, attempts: attempts, reason: reason)))
      case .result: fail(reason, batch)
      }
    case .postponed(let reason):
      fail(reason, batch)
      return try await streams.record(.postponed(reason), of: batch) != .stale
    case .interrupted(let reason, let position):
      fail(reason, batch)
      let interruptions = interrupted()
      return try await streams.rewind(
        batch, to: position, reason, interruptions: interruptions) != .stale
    }
    return true
  }

  /// Counts a refusal; returns how often the destination has refused the event.
  private func refused(_ batch: EventBatch) -> Int {
    guard batch.isNext, let event = batch.events.first else { return 1 }
    let isSame = refusals.map { ($0.sequence, $0.name) == (event.sequence, event.name) } ?? false
    let count = isSame ? (refusals?.count ?? 0) + 1 : 1
    refusals = (event.sequence, event.name, count)
    return count
  }

  /// Counts an interruption; returns how many followed one another closely.
  private func interrupted() -> Int {
    let isSoon = interruptions.map { ContinuousClock.now - $0.at < Self.steady } ?? false
    let count = isSoon ? (interruptions?.count ?? 0) + 1 : 1
    interruptions = (.now, count)
    return count
  }

  private func fail(_ reason: String, _ batch: EventBatch) {
    guard batch.isNext, !isFailing else { return }
    isFailing = true
    log.add(.stream(.failing(name, reason: reason)))
  }
}

extension EventAttempt {
  fileprivate var isDelivered: Bool { if case .delivered = self { true } else { false } }
}
