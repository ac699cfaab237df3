public import Identity
import Synchronization

/// Limits the requests to the API per pool, so that one tenant's clients can't use up the
/// server.
///
/// Each pool has a token bucket in memory. A bucket holds the requests of two seconds, for bursts.
public final class PoolRequestLimit: Sendable {
  enum Key: Hashable {
    case project(ID<Project>)
    case tenant(ID<Project>, ID<Tenant>)

    init(_ project: ID<Project>, _ tenant: ID<Tenant>?) {
      self = tenant.map { .tenant(project, $0) } ?? .project(project)
    }
  }

  private struct Bucket {
    var tokens: Double
    var filledAt: Duration
  }

  private struct State {
    var buckets: [Key: Bucket] = [:]
    var rejections = 0
  }

  /// The number of buckets above which full ones are dropped.
  static let most = 10_000

  private let perSecond: Double
  private let steady: @Sendable () -> Duration
  private let state = Mutex(State())

  /// `perSecond` is the number of requests per second and pool, at least 1; `steady` is a monotonic
  /// clock.
  public init(
    perSecond: Int, steady: @escaping @Sendable () -> Duration = WallClock.sinceBoot
  ) {
    self.perSecond = Double(max(1, perSecond))
    self.steady = steady
  }

  /// The number of rejected requests since the start.
  public var rejections: Int { state.withLock { $0.rejections } }

  private var capacity: Double { perSecond * 2 }

  /// The number of buckets, for tests.
  var count: Int { state.withLock { $0.buckets.count } }

  /// Counts a request to a pool; returns false if it has to be rejected.
  func allows(_ key: Key) -> Bool {
    let now = steady()
    return state.withLock { state in
      var bucket = state.buckets[key] ?? Bucket(tokens: capacity, filledAt: now)
      bucket.tokens = tokens(in: bucket, at: now)
      bucket.filledAt = now
      let isAllowed = bucket.tokens >= 1
      if isAllowed { bucket.tokens -= 1 } else { state.rejections += 1 }
      if state.buckets[key] == nil, state.buckets.count >= Self.most {
        state.buckets = state.buckets.filter { tokens(in: $0.value, at: now) < capacity }
        // Very many pools; one without a bucket gets a full one.
        if state.buckets.count >= Self.most { state.buckets = [:] }
      }
      state.buckets[key] = bucket
      return isAllowed
    }
  }

  private func tokens(in bucket: Bucket, at now: Duration) -> Double {
    let (seconds, attoseconds) = (now - bucket.filledAt).components
    let passed = max(0, Double(seconds) + Double(attoseconds) / 1e18)
    return min(capacity, bucket.tokens + passed * perSecond)
  }
}

struct CountedPool: Sendable {
  let limit: PoolRequestLimit
  let key: PoolRequestLimit.Key

  /// Counts the call for another pool, too, if it acts on that one: a method that can read a user's
  /// token doesn't always do so.
  func count(_ pool: Pool) throws(WireError) {
    let key = PoolRequestLimit.Key(pool.project, pool.tenant)
    guard key == self.key || limit.allows(key) else { throw .tooManyRequests }
  }
}
