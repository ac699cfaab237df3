import Dispatch
import Foundation
import Synchronization

/// Computes and verifies password hashes off the threads that serve requests.
///
/// At most `width` hashes run at once, one per core, and at most `waiting` wait; further ones fail
/// with ``CryptoError/busy`` immediately, so that a flood of sign-ins uses bounded memory and time.
///
/// The queue is fair between user pools by the cost of their hashes: the pool that was served least
/// is next, and a pool can use at most three quarters of the places. When all places are taken, a
/// pool with less waiting work replaces the last hash of the pool with the most. Imported hashes
/// that cost more than ``PasswordHash/ordinaryWork`` have their own queue, with half the threads
/// and a quarter of the places, because one that runs can't be interrupted. Under attack, only the
/// attacked pool is therefore busy.
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

  /// The queue of hashes of ordinary cost, and that of costly ones.
  private struct Queues {
    var ordinary: FairQueue<Job>
    var costly: FairQueue<Job>

    subscript(costly isCostly: Bool) -> FairQueue<Job> {
      get { isCostly ? costly : ordinary }
      set { if isCostly { costly = newValue } else { ordinary = newValue } }
    }
  }

  private let queues: Mutex<Queues>
  private let cost: PasswordHash.Cost
  private let random: RandomSource
  private let threads = DispatchQueue(label: "password hashes", attributes: .concurrent)

  /// Creates a hasher that runs `width` hashes of ordinary cost at once, with room for `waiting`
  /// more.
  public init(
    width: Int, waiting: Int = 64, cost: PasswordHash.Cost = .current,
    random: RandomSource = .system
  ) {
    queues = Mutex(
      Queues(
        ordinary: FairQueue(width: max(1, width), places: waiting),
        costly: FairQueue(width: max(1, width / 2), places: waiting / 4)))
    self.cost = cost
    self.random = random
  }

  /// Hashes a password when it's its pool's turn.
  ///
  /// The hash is of the password in normalization form C (RFC 8265 section 4.2.2), which is the same
  /// from every keyboard.
  ///
  /// - Throws: ``CryptoError/busy``, or ``CryptoError/failed(_:)`` when out of memory.
  public func hash(
    _ password: Secret, for pool: Pool
  ) async throws(CryptoError) -> PasswordHash {
    let (cost, random) = (cost, random)
    return try await run(pool, work: cost.work) { () throws(CryptoError) in
      try PasswordHash.make(Self.spellings(of: password)[0], cost: cost, random: random)
    }
  }

  /// Returns a password in normalization form C, then as typed if that differs: hashes of imported
  /// users, and those of earlier versions, may be of it.
  private static func spellings(of password: Secret) -> [Secret] {
    guard !password.revealedBytes.allSatisfy({ $0 < 0x80 }) else { return [password] }
    let composed = Secret(password.revealedText.precomposedStringWithCanonicalMapping)
    return composed == password ? [password] : [composed, password]
  }

  /// Verifies `password` against `hash` when it's its pool's turn, in normalization form C and, if
  /// it's in another form, as typed, which costs twice the work.
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
    let spellings = Self.spellings(of: password)
    let work =
      hash.map { $0.work + ($0.needsUpgrade(to: cost) ? cost.work : 0) } ?? cost.work
    return try await run(pool, work: work * spellings.count) { () throws(CryptoError) in
      if let hash, spellings.contains(where: hash.matches) { return true }
      if let hash, !hash.needsUpgrade(to: cost) { return false }
      for spelling in spellings {
        _ = try PasswordHash.make(spelling, cost: cost, random: random)
      }
      return false
    }
  }

  /// The current state of the queue.
  public var load: Load {
    queues.withLock {
      Load(
        running: $0.ordinary.running + $0.costly.running,
        waiting: $0.ordinary.count + $0.costly.count,
        rejections: $0.ordinary.rejections + $0.costly.rejections)
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
    _ pool: Pool, work: Int, _ compute: @escaping @Sendable () throws(CryptoError) -> T
  ) async throws(CryptoError) -> T {
    let result: Result<T, CryptoError> = await withCheckedContinuation { continuation in
      let job = Job(
        run: {
          let result: Result<T, CryptoError>
          do throws(CryptoError) { result = .success(try compute()) } catch {
            result = .failure(error)
          }
          continuation.resume(returning: result)
        },
        refuse: { continuation.resume(returning: .failure(.busy)) })
      let costly = work > PasswordHash.ordinaryWork
      switch queues.withLock({ $0[costly: costly].add(job, of: pool.number, cost: work) }) {
      case .start: threads.async { self.runAll(first: job, costly: costly) }
      case .wait(let displaced): displaced?.refuse()
      case .refuse: job.refuse()
      }
    }
    return try result.get()
  }

  private func runAll(first: Job, costly: Bool) {
    var next: Job? = first
    while let job = next {
      job.run()
      next = queues.withLock { $0[costly: costly].next() }
    }
  }
}
