import Network
import Synchronization

/// The memory that request bodies hold, with a share for each network, and a reserve for small ones.
///
/// A body counts with its announced size from its header on, and an unannounced one as it arrives.
/// Large bodies and small ones of a network have separate shares, so that uploads don't keep out
/// the sign-ins from the same network.
final class BodyMemory: Sendable {
  private struct Held {
    var (small, large) = (0, 0)
    var isNothing: Bool { small == 0 && large == 0 }
  }

  private struct State {
    var all = Held()
    var ofNetwork: [NetworkAddress: Held] = [:]
  }

  private let state = Mutex(State())
  private let most: Int
  private let longestSmall: Int

  /// Creates an account of a number of bytes; bodies of at most `longestSmall` bytes are small.
  init(atMost most: Int, longestSmall: Int) {
    self.most = most
    self.longestSmall = longestSmall
  }

  /// Changes how many bytes one body holds.
  ///
  /// - Returns: Whether there's room; if not, it holds as many as before.
  func change(from old: Int, to new: Int, of network: NetworkAddress) -> Bool {
    state.withLock { state in
      var (all, own) = (state.all, state.ofNetwork[network] ?? Held())
      let (before, after) = (kind(old), kind(new))
      all[keyPath: before] -= old
      own[keyPath: before] -= old
      all[keyPath: after] += new
      own[keyPath: after] += new
      let hasRoom =
        all.small + all.large <= most && all.large <= most / 4 * 3
        && own[keyPath: after] <= most / 8
      guard hasRoom || new <= old else { return false }
      state.all = all
      state.ofNetwork[network] = own.isNothing ? nil : own
      return true
    }
  }

  private func kind(_ size: Int) -> WritableKeyPath<Held, Int> {
    size <= longestSmall ? \.small : \.large
  }
}
