import Crypto
import Dispatch

/// Holds the hashing of a password until a test has done something meanwhile.
///
/// A hash takes random bytes for its salt, which come when the gate is opened.
final class Gate: Sendable {
  private let reached = AsyncStream<Void>.makeStream()
  private let door = DispatchSemaphore(value: 0)

  /// A hasher that stops at the gate, of a cost that no other hasher here has.
  func hasher(width: Int = 2, waiting: Int = 64) -> PasswordHasher {
    PasswordHasher(
      width: width, waiting: waiting, cost: PasswordHash.Cost(memory: 128, passes: 1),
      random: RandomSource { count in
        self.reached.continuation.yield()
        self.door.wait()
        return RandomSource.system.bytes(count)
      })
  }

  /// Returns when a password is about to be hashed.
  func isReached() async {
    var iterator = reached.stream.makeAsyncIterator()
    _ = await iterator.next()
  }

  /// Lets one hash go on.
  func open() { door.signal() }
}
