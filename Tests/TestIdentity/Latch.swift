import Crypto
import Dispatch

/// Pauses password hashing until a test resumes it.
///
/// Hashing waits for the random bytes of the salt, which the latch provides when it's opened.
final class Latch: Sendable {
  private let reached = AsyncStream<Void>.makeStream()
  private let door = DispatchSemaphore(value: 0)

  /// Returns a hasher that waits at the latch, with a cost that no other test hasher has.
  func hasher(width: Int = 2, waiting: Int = 64) -> PasswordHasher {
    PasswordHasher(
      width: width, waiting: waiting, cost: PasswordHash.Cost(memory: 128, passes: 1),
      random: RandomSource { count in
        self.reached.continuation.yield()
        self.door.wait()
        return RandomSource.system.bytes(count)
      })
  }

  /// Waits until a password is about to be hashed.
  func isReached() async {
    var iterator = reached.stream.makeAsyncIterator()
    _ = await iterator.next()
  }

  /// Resumes one hash.
  func open() { door.signal() }
}
