import Dispatch
import Synchronization

/// Computes and verifies password hashes off the threads that serve requests.
///
/// At most `width` hashes run at once, one per core, and at most `waiting` wait; further ones fail
/// with ``CryptoError/busy`` immediately, so that a flood of sign-ins uses bounded memory and time.
///
/// The queue is fair between user pools: they take turns, one hash each, and a pool can use at most
/// three quarters of the places. When all places are taken, a pool with fewer waiting hashes
/// replaces the last one of the pool with the most. Under attack, only the attacked pool is
/// therefore busy.
public final class PasswordHasher: Sendable {
  /// A group of hashes that share a queue: one user pool, or the administrators.
  public struct Pool: Hashable, Sendable {
    let number: Int64

    /// Creates a pool; equal numbers are the same pool.
    public init(_ number: Int64) { self.number = number }
  }

  /// The state of the queue.
  public struct Load: Sendable, Equatable {
    /// The number of hashes that are being computed.
    public let running: Int
    /// The number of hashes that wait.
    public let waiting: Int
    /// The number of hashes rejected since the start because the queue was full.
    public let rejections: Int
  }

  private let queue: Mutex<FairQueue<Job>>
  private let width: Int
  private let cost: PasswordHash.Cost
  private let random: RandomSource
  private let threads = DispatchQueue(label: "password hashes", attributes: .concurrent)

  /// Creates a hasher that runs `width` hashes at once, with room for `waiting` more.
  public init(
    width: Int, waiting: Int = 64, cost: PasswordHash.Cost = .current,
    random: RandomSource = .system
  ) {
    self.width = max(1, width)
    queue = Mutex(FairQueue(width: max(1, width), places: waiting))
    self.cost = cost
    self.random = random
  }

  /// Hashes a password when it's its pool's turn.
  ///
  /// - Throws: ``CryptoError/busy``, or ``CryptoError/failed(_:)`` when out of memory.
  public func hash(
    _ password: Secret, for pool: Pool
  ) async throws(CryptoError) -> PasswordHash {
    let (cost, random) = (cost, random)
    return try await run(pool) { () throws(CryptoError) in
      try PasswordHash.make(password, cost: cost, random: random)
    }
  }

  /// Verifies `password` against `hash` when it's its pool's turn.
  ///
  /// Without a hash, it does the same work and returns false, so that timing doesn't reveal whether
  /// an account exists. A hash of another algorithm or cost that doesn't match costs that work too,
  /// so that a cheap one isn't faster than no account.
  ///
  /// - Throws: ``CryptoError/busy``, or ``CryptoError/failed(_:)`` when out of memory.
  public func matches(
    _ password: Secret, _ hash: PasswordHash?, for pool: Pool
  ) async throws(CryptoError) -> Bool {
    let (cost, random) = (cost, random)
    return try await run(pool) { () throws(CryptoError) in
      if let hash, hash.matches(password) { return true }
      if let hash, !hash.needsUpgrade(to: cost) { return false }
      _ = try PasswordHash.make(password, cost: cost, random: random)
      return false
    }
  }

  /// The current state of the queue.
  public var load: Load {
    queue.withLock {
      Load(running: $0.running, waiting: $0.count, rejections: $0.rejections)
    }
  }

  /// Returns whether `hash` should be replaced at the next sign-in because its cost is outdated.
  public func needsUpgrade(_ hash: PasswordHash) -> Bool { hash.needsUpgrade(to: cost) }

  /// A hash to compute or reject.
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
