import Dispatch
import Synchronization

/// Makes and checks password hashes away from the threads that answer requests.
///
/// At most `width` hashes run at once (one a core); at most `waiting` wait; who comes then is told
/// ``CryptoError/busy`` at once, so that a flood of sign-ins costs bounded memory and time.
public final class PasswordHasher: Sendable {
  private struct State {
    var running = 0
    var waiting: [@Sendable () -> Void] = []
  }

  private let state = Mutex(State())
  private let width: Int
  private let limit: Int
  private let cost: PasswordHash.Cost
  private let random: RandomSource
  private let queue = DispatchQueue(label: "password hashes", attributes: .concurrent)

  /// Makes a hasher of `width` hashes at once with room for `waiting` more.
  public init(
    width: Int, waiting: Int = 64, cost: PasswordHash.Cost = .current,
    random: RandomSource = .system
  ) {
    self.width = max(1, width)
    self.limit = waiting
    self.cost = cost
    self.random = random
  }

  /// Hashes a password.
  ///
  /// - Throws: ``CryptoError/busy``, or ``CryptoError/failed(_:)`` without memory.
  public func hash(_ password: Secret) async throws(CryptoError) -> PasswordHash {
    let (cost, random) = (cost, random)
    return try await run { () throws(CryptoError) in
      try PasswordHash.make(password, cost: cost, random: random)
    }
  }

  /// Tells whether `password` is the one of `hash`.
  ///
  /// Without a hash it does the same work and says no, so that the time does not tell whether an
  /// account exists. A hash from elsewhere that does not match costs that work as well.
  ///
  /// - Throws: ``CryptoError/busy``, or ``CryptoError/failed(_:)`` without memory.
  public func matches(_ password: Secret, _ hash: PasswordHash?) async throws(CryptoError) -> Bool {
    let (cost, random) = (cost, random)
    return try await run { () throws(CryptoError) in
      if let hash, hash.matches(password) { return true }
      if let hash, hash.isOwn { return false }
      _ = try PasswordHash.make(password, cost: cost, random: random)
      return false
    }
  }

  /// True when `hash` should be replaced at the next chance because its cost is not today's.
  public func needsUpgrade(_ hash: PasswordHash) -> Bool { hash.needsUpgrade(to: cost) }

  private func run<T: Sendable>(
    _ work: @escaping @Sendable () throws(CryptoError) -> T
  ) async throws(CryptoError) -> T {
    let result: Result<T, CryptoError> = await withCheckedContinuation { continuation in
      let job: @Sendable () -> Void = {
        let result: Result<T, CryptoError>
        do throws(CryptoError) { result = .success(try work()) } catch { result = .failure(error) }
        continuation.resume(returning: result)
      }
      let admitted = state.withLock { state in
        if state.running < width {
          state.running += 1
          return Admission.start
        }
        guard state.waiting.count < limit else { return .refuse }
        state.waiting.append(job)
        return .wait
      }
      switch admitted {
      case .start: queue.async { self.runAll(first: job) }
      case .wait: break
      case .refuse: continuation.resume(returning: .failure(.busy))
      }
    }
    return try result.get()
  }

  private enum Admission { case start, wait, refuse }

  private func runAll(first: @escaping @Sendable () -> Void) {
    var next: (@Sendable () -> Void)? = first
    while let job = next {
      job()
      next = state.withLock { state in
        guard state.waiting.isEmpty else { return state.waiting.removeFirst() }
        state.running -= 1
        return nil
      }
    }
  }
}
