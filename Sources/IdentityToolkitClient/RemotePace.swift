import Synchronization

/// The clocks of a client, and how it waits; tests pass their own.
public struct RemoteClock: Sendable {
  let now: @Sendable () -> Int64
  let steady: @Sendable () -> Duration
  let sleep: @Sendable (Duration) async -> Void

  /// Creates a clock; `now` is in seconds since 1970, nothing adjusts `steady`, and `sleep` ends early
  /// if the task is canceled.
  public init(
    now: @escaping @Sendable () -> Int64, steady: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (Duration) async -> Void = { _ = try? await Task.sleep(for: $0) }
  ) {
    (self.now, self.steady, self.sleep) = (now, steady, sleep)
  }
}

/// Who a call is for.
public enum RemotePurpose: Sendable {
  /// A walk over all users, which waits.
  case walk
  /// Someone who waits for the answer.
  case person
  /// A change of a user or of a policy, which is sent once.
  case userChange, policyChange
}

/// How often a client calls the remote: five times a second for walks and for people each, twice for
/// changes of users, once for those of policies, and not before the remote said.
final class RemotePace: Sendable {
  private struct State {
    /// When the next call of a walk, or of people, has its turn.
    var walks = Duration.zero
    var people = Duration.zero
    /// The same of changes.
    var changes: [RemotePurpose: Duration] = [:]
    var notBefore = Duration.zero
    /// How long calls were kept back last; zero after one that succeeded.
    var pause = Duration.zero
  }

  private static let interval = Duration.milliseconds(200)
  /// How much earlier than their turn people's calls may be sent, of which there are several at once.
  private static let advance = interval * 4
  private static let shortest = Duration.seconds(5)
  private static let longest = Duration.seconds(300)
  /// How long the remote may have itself left alone, in seconds.
  private static let longestTold: Int64 = 3_600

  private let clock: RemoteClock
  private let state = Mutex(State())

  init(_ clock: RemoteClock) { self.clock = clock }

  /// Waits for the turn of a call.
  ///
  /// - Throws: ``RemoteFault/Cause/quota(seconds:)`` for people and changes while the remote wants no
  ///   calls.
  func wait(for purpose: RemotePurpose) async throws(RemoteFault) {
    let now = clock.steady()
    let start: Duration = try state.withLock { state throws(RemoteFault) in
      switch purpose {
      case .walk:
        let start = max(state.walks, state.notBefore, now)
        state.walks = start + Self.interval
        return start
      case .person, .userChange, .policyChange:
        guard state.notBefore <= now else {
          throw RemoteFault(.quota(seconds: Self.seconds(state.notBefore - now)))
        }
        guard purpose == .person else {
          let start = max(state.changes[purpose] ?? .zero, now)
          state.changes[purpose] = start + .milliseconds(purpose == .userChange ? 500 : 1_000)
          return start
        }
        let start = max(state.people - Self.advance, now)
        state.people = max(state.people, now) + Self.interval
        return start
      }
    }
    if start > now { await clock.sleep(start - now) }
  }

  /// Keeps calls back after a response that wants it, and returns for how many seconds.
  @discardableResult
  func hold(_ retryAfter: String?) -> Int {
    let told = retryAfter.flatMap { text in
      Int64(text) ?? RemoteResponse.seconds(of: text).map { $0 - clock.now() }
    }
    let now = clock.steady()
    return state.withLock { state in
      // Several calls may have been on their way.
      if state.notBefore <= now {
        state.pause = min(max(state.pause * 2, Self.shortest), Self.longest)
      }
      let wait = max(.seconds(min(told ?? 0, Self.longestTold)), state.pause)
      state.notBefore = max(state.notBefore, now + wait)
      return Self.seconds(state.notBefore - now)
    }
  }

  func succeed() { state.withLock { $0.pause = .zero } }

  /// Returns the whole seconds that a time takes.
  private static func seconds(_ time: Duration) -> Int {
    let (seconds, rest) = time.components
    return Int(seconds) + (rest > 0 ? 1 : 0)
  }
}
