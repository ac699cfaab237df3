public import HTTP

/// Limits on the size and duration of requests and connections.
public struct Limits: Sendable {
  /// The maximum length of a request target, in bytes; longer ones get 414.
  public var target = 16 << 10
  /// The maximum size of the request line and header, 4 to 64 KiB; larger ones get 431.
  ///
  /// Each open connection uses twice as much memory, even when it's idle.
  public var headers = 16 << 10
  /// The maximum size of a body, in bytes, by target; larger ones get 413.
  public var body: @Sendable (Target) -> Int = { _ in 1 << 20 }
  /// The maximum size of a body, in bytes, of a request whose header nobody vouches for.
  public var unverifiedBody = 64 << 10
  /// The maximum size of all bodies held at once, in bytes; requests above it get 503.
  ///
  /// One network's have at most an eighth of it, and a quarter is reserved for bodies of at most
  /// `unverifiedBody`, which have an eighth for each network of their own.
  public var bodiesTogether = 256 << 20
  /// How long a new connection can take to send its first header, including the TLS handshake.
  public var headerDeadline: Duration = .seconds(10)
  /// How long a body can take from the end of its header, in addition to the time that
  /// `minimumBodyRate` allows for what has arrived, and how long the rest of a refused one is
  /// discarded.
  public var bodyDeadline: Duration = .seconds(10)
  /// How long a handler can take; then the request gets 503, whatever the handler waits for.
  ///
  /// Proxies usually give up after 30 seconds, and would answer with 504.
  public var handlerDeadline: Duration = .seconds(24)
  /// How long a connection can take from a response to the end of the next request's header.
  public var idle: Duration = .seconds(60)
  /// How long a server that stops waits for the first request of a new connection.
  public var firstRequest: Duration = .seconds(1)
  /// How long a client can take to read a response, in addition to what `minimumRate` allows.
  public var writeDeadline: Duration = .seconds(30)
  /// The transfer rate, in bytes per second, below which a body is cut off.
  public var minimumBodyRate = 64 << 10
  /// The transfer rate, in bytes per second, below which a response is cut off.
  public var minimumRate = 32 << 10
  /// The maximum number of connections.
  ///
  /// Above it, a new connection replaces the oldest one without a complete request, from the network
  /// that has the most of these, or waits when every request is complete. Each of a trusted proxy's
  /// connections counts as a network.
  public var connections = 12_000
  /// The maximum number of connections from one IPv4 address or IPv6 /64, except trusted proxies;
  /// more are closed.
  public var connectionsPerNetwork = 1024

  /// Creates limits suitable for a server on the internet.
  public init() {}

  /// Returns the time that `minimumRate` allows for a response's bytes, in milliseconds.
  func grant(forBytes count: Int) -> UInt64 {
    UInt64(count) * 1000 / UInt64(max(minimumRate, 1))
  }

  /// Returns how long a body can take of which a number of bytes has arrived, in milliseconds.
  func time(forBody count: Int) -> UInt64 {
    bodyDeadline.milliseconds + UInt64(count) * 1000 / UInt64(max(minimumBodyRate, 1))
  }

  /// The shortest deadline, in milliseconds.
  var shortestDeadline: UInt64 {
    [headerDeadline, bodyDeadline, handlerDeadline, idle, writeDeadline].map(\.milliseconds).min()
      ?? 0
  }
}

extension Duration {
  /// The duration in whole milliseconds; zero when it's negative.
  var milliseconds: UInt64 {
    let (seconds, attoseconds) = components
    return UInt64(max(seconds, 0)) * 1000 + UInt64(max(attoseconds, 0) / 1_000_000_000_000_000)
  }
}
