import Dispatch
import Glibc

/// SIGTERM or SIGINT, to be waited for.
struct StopSignal: Sendable {
  private let signals: AsyncStream<Void>

  init() {
    // A client that goes away while it is answered is no reason to end.
    signal(SIGPIPE, SIG_IGN)
    // The default would end the process before the sources are asked.
    for number in [SIGTERM, SIGINT] { signal(number, SIG_IGN) }
    signals = AsyncStream { continuation in
      let sources = [SIGTERM, SIGINT].map { number in
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

  func wait() async {
    for await _ in signals { return }
  }
}
