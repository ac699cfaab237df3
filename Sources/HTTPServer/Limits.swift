public import HTTP

/// What a client may send, and how long it may take.
public struct Limits: Sendable {
  /// The most bytes of the request line's target; a longer one is answered with 414.
  public var target = 16 << 10
  /// The most bytes of request line and header together, 4 to 64 KiB; more is answered with 431.
  ///
  /// Each open connection takes twice as much memory, waiting ones too.
  public var headers = 16 << 10
  /// The most bytes of a body, by target; a longer one is answered with 413.
  public var body: @Sendable (Target) -> Int = { _ in 1 << 20 }
  /// The most bytes of all bodies that are held at once; who sends more is answered with 503.
  public var bodiesTogether = 256 << 20
  /// How long a new connection may take to send its first header, the handshake of TLS included.
  public var headerDeadline: Duration = .seconds(10)
  /// How long a body may take, plus the time that `minimumRate` grants for what has come of it.
  public var bodyDeadline: Duration = .seconds(30)
  /// How long a kept connection may take from an answer to the end of its next header.
  public var idle: Duration = .seconds(60)
  /// How long a client may take to fetch an answer, plus what `minimumRate` grants for its size.
  public var writeDeadline: Duration = .seconds(30)
  /// The bytes a second below which a long body or answer is cut off.
  public var minimumRate = 32 << 10
  /// The most connections at once.
  ///
  /// A further one takes the place of the one that has waited longest for a request; where none
  /// waits, it has to.
  public var connections = 12_000
  /// The most connections at once from one IPv4 address or one /64 of IPv6, trusted proxies apart;
  /// further ones are closed.
  public var connectionsPerNetwork = 1024

  /// Makes the limits that suit a server on the open network.
  public init() {}

  /// The time that `minimumRate` grants for a number of bytes, in milliseconds.
  func grant(forBytes count: Int) -> UInt64 {
    UInt64(count) * 1000 / UInt64(max(minimumRate, 1))
  }

  /// The shortest of the deadlines, in milliseconds.
  var shortestDeadline: UInt64 {
    [headerDeadline, bodyDeadline, idle, writeDeadline].map(\.milliseconds).min() ?? 0
  }
}

extension Duration {
  /// The duration in whole milliseconds, zero when it is negative.
  var milliseconds: UInt64 {
    let (seconds, attoseconds) = components
    return UInt64(max(seconds, 0)) * 1000 + UInt64(max(attoseconds, 0) / 1_000_000_000_000_000)
  }
}
