import Dispatch
import Synchronization

/// Makes and checks password hashes away from the threads that answer requests.
///
/// At most `width` hashes run at once (one a core); at most `waiting` wait; who comes then is told
/// ``CryptoError/busy`` at once, so that a flood of sign-ins costs bounded memory and time.
///
/// The queue is fair between pools of users: their turns go round, one hash each, and no pool has more
/// than three quarters of the places. When all places are taken, a pool that waits for less than
/// another one takes the last place of the pool that waits for most. So a pool that is attacked is busy
/// by itself.
public final class PasswordHasher: Sendable {
  /// Whose hashes wait for each other: one pool of users, or the administrators.
  public struct Pool: Hashable, Sendable {
    let number: Int64

    /// Makes the pool with a number; equal numbers are one pool.
    public init(_ number: Int64) { self.number = number }
  }

  private let queue: Mutex<FairQueue<Job>>
  private let width: Int
  private let cost: PasswordHash.Cost
  private let random: RandomSource
  private let threads = DispatchQueue(label: "password hashes", attributes: .concurrent)

  /// Makes a hasher of `width` hashes at once with room for `waiting` more.
  public init(
    width: Int, waiting: Int = 64, cost: PasswordHash.Cost = .current,
    random: RandomSource = .system
  ) {
    self.width = max(1, width)
    queue = Mutex(FairQueue(width: max(1, width), places: waiting))
    self.cost = cost
    self.random = random
  }

  /// Hashes a password, when it's the turn of its pool.
  ///
  /// - Throws: ``CryptoError/busy``, or ``CryptoError/failed(_:)`` without memory.
  public func hash(
    _ password: Secret, for pool: Pool
  ) async throws(CryptoError) -> PasswordHash {
    let (cost, random) = (cost, random)
    return try await run(pool) { () throws(CryptoError) in
      try PasswordHash.make(password, cost: cost, random: random)
    }
  }

  /// Tells whether `password` is the one of `hash`, when it is the turn of its pool.
  ///
  /// Without a hash it does the same work and says no, so that the time does not tell whether an
  /// account exists. A hash from elsewhere that does not match costs that work as well.
  ///
  /// - Throws: ``CryptoError/busy``, or ``CryptoError/failed(_:)`` without memory.
  public func matches(
    _ password: Secret, _ hash: PasswordHash?, for pool: Pool
  ) async throws(CryptoError) -> Bool {
    let (cost, random) = (cost, random)
    return try await run(pool) { () throws(CryptoError) in
      if let hash, hash.matches(password) { return true }
      if let hash, hash.isOwn { return false }
      _ = try PasswordHash.make(password, cost: cost, random: random)
      return false
    }
  }

  /// True when `hash` should be replaced at the next chance because its cost is not today's.
  public func needsUpgrade(_ hash: PasswordHash) -> Bool { hash.needsUpgrade(to: cost) }

  /// One hash that is to be made, or refused.
  private struct Job: Sendable {
    let run: @Sendable () -> Void
    let refuse: @Sendable () -> Void
  }

  private func run<T: Sendable>(
    _ pool: Pool, _ work: @escaping @Sendable () throws(CryptoError) -> T
  ) async throws(CryptoError) -> T {
    let result: Result<T, CryptoError> = await withCheckedContinuation { continuation in
      let job = Job(
        run: {
          let result: Result<T, CryptoError>
          do throws(CryptoError) { result = .success(try work()) } catch {
            result = .failure(error)
          }
          continuation.resume(returning: result)
        },
        refuse: { continuation.resume(returning: .failure(.busy)) })
      switch queue.withLock({ $0.add(job, of: pool.number) }) {
      case .start: threads.async { self.runAll(first: job) }
      case .wait(let displaced): displaced?.refuse()
      case .refuse: job.refuse()
      }
    }
    return try result.get()
  }

  private func runAll(first: Job) {
    var next: Job? = first
    while let job = next {
      job.run()
      next = queue.withLock { $0.next() }
    }
  }
}
