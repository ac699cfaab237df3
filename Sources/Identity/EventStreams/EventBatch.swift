public import Crypto

/// Events to deliver together, in order.
public struct EventBatch: Sendable {
  enum Content: Sendable, Equatable {
    /// The next events of the stream.
    case next
    /// An entry that was refused before.
    case retry(Int64)
    /// A test event.
    case test
  }

  /// The destination.
  public let stream: EventStream
  /// The secret that signs requests; nil for other kinds.
  public let secret: Secret?
  /// The events, at least one.
  public let events: [StreamEvent]
  let content: Content

  /// Whether the destination refuses the batch as a whole, and smaller ones show which event is
  /// the cause.
  public var isDivisible: Bool { events.count > 1 }

  /// Whether it's the next part of the stream, rather than a test or an entry that's sent again.
  public var isNext: Bool { content == .next }
}

/// What a destination did with a batch.
public enum EventDelivery: Sendable {
  /// It has the events.
  case delivered
  /// It refused them for what they are, this many times in all.
  case refused(String, attempts: Int)
  /// It's unavailable, or accepts nothing at the moment.
  case postponed(String)
}

/// What was recorded of an attempt.
public enum RecordedDelivery: Sendable, Equatable {
  /// Nothing: the stream was deleted, has another destination, or isn't where the batch began.
  case stale
  /// The result.
  case result
  /// The entry at the position was refused too often, and the stream continues without it.
  case leftOut(Int64)
}

/// The streams, and those of them that have something to deliver now.
public struct EventWork: Sendable {
  /// The IDs of all streams.
  public let streams: Set<ID<EventStream>>
  /// The streams that have something to deliver.
  public let due: [EventStream]
}

/// A position in an event stream.
public struct StreamPosition: Sendable {
  /// The last entry that was delivered.
  package let sequence: Int64
  /// The entry of the last signed head that was delivered.
  let head: Int64

  package init(sequence: Int64, head: Int64) { (self.sequence, self.head) = (sequence, head) }

  /// Creates the position of a stream.
  public init(of stream: EventStream) {
    (sequence, head) = (stream.position, stream.headPosition)
  }
}
