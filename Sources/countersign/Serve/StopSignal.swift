import Dispatch
import Glibc

/// Waits for SIGTERM or SIGINT.
struct StopSignal: Sendable {
  private let signals: AsyncStream<Void>

  init() {
    // A client that disconnects mid-response must not end the process.
    signal(SIGPIPE, SIG_IGN)
    signals = .signals([SIGTERM, SIGINT])
  }

  func wait() async {
    for await _ in signals { return }
  }
}

extension AsyncStream<Void> {
  /// Returns a stream with an element per signal; signals that arrive together are coalesced.
  static func signals(_ numbers: [Int32]) -> AsyncStream {
    // The default action would end the process before the dispatch sources run.
    for number in numbers { signal(number, SIG_IGN) }
    return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let sources = numbers.map { number in
        DispatchSource.makeSignalSource(signal: number, queue: .global())
      }
      for source in sources {
        source.setEventHandler {
          continuation.yield()
          // Captured, so that the sources live as long as their handlers.
          _ = sources.count
        }
        source.resume()
      }
    }
  }
}
