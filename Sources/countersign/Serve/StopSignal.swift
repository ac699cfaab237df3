import Dispatch
import Glibc

/// SIGTERM or SIGINT, to be waited for.
struct StopSignal: Sendable {
  private let signals: AsyncStream<Void>

  init() {
    // A client that goes away while it is answered is no reason to end.
    signal(SIGPIPE, SIG_IGN)
    signals = .signals([SIGTERM, SIGINT])
  }

  func wait() async {
    for await _ in signals { return }
  }
}

extension AsyncStream<Void> {
  /// An element for each of some signals that arrives, or for several that arrive together.
  static func signals(_ numbers: [Int32]) -> AsyncStream {
    // The default would end the process before the sources are asked.
    for number in numbers { signal(number, SIG_IGN) }
    return AsyncStream(bufferingPolicy: .bufferingNewest(1)) { continuation in
      let sources = numbers.map { number in
        DispatchSource.makeSignalSource(signal: number, queue: .global())
      }
      for source in sources {
        source.setEventHandler {
          continuation.yield()
          // Named here, so that the sources live as long as they are listened to.
          _ = sources.count
        }
        source.resume()
      }
    }
  }
}
