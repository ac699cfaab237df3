import Crypto
import Database
import JSON

/// The policies of all pools of a project, as a sign-off refers to them.
///
/// ``json`` is canonical: the same policies always have the same bytes, and so the same digest.
struct PolicySet: Sendable {
  struct PoolPolicy: Sendable {
    let tenant: String
    let edit: PolicyEdit
    let version: Int
  }

  let project: ID<Project>
  /// The project's own pool, then its tenants by ID.
  let pools: [PoolPolicy]

  static func read(
    _ project: ID<Project>, _ connection: borrowing Connection
  ) throws -> PolicySet {
    let pools = try connection.all(
      """
      SELECT s.tenant_id, s.policy_version, \(PolicyEdit.columns("s")) FROM scope s
      WHERE s.project_id = \(project) AND s.deleted_at IS NULL ORDER BY s.tenant_id
      """
    ) { row in
      let (tenant, version): (String, Int) = (try row.next(), try row.next())
      return PoolPolicy(tenant: tenant, edit: try PolicyEdit(&row), version: version)
    }
    return PolicySet(project: project, pools: pools)
  }

  /// The canonical form: members and pools in a fixed order, null for what isn't set.
  var json: JSON {
    [
      "schema": "countersign-policy-set/1", "project": .string(project.text),
      "pools": .array(pools.map(\.json)),
    ]
  }

  /// The SHA-256 digest of the canonical form without white space.
  var digest: [UInt8] { HashFunction.sha256.digest(json.serialized()) }
}

extension PolicySet.PoolPolicy {
  var json: JSON {
    let (configuration, totp) = (edit.configuration, edit.configuration.totp)
    var object: JSON.Object = [
      "tenant": tenant.isEmpty ? nil : .string(tenant),
      "version": .number(JSON.Number(version)),
      "mfaState": configuration.state.map { .string($0.code) } ?? nil,
      "sms": .bool(configuration.smsEnabled),
      "totpState": totp.map { .string($0.state.code) } ?? nil,
      "adjacentIntervals": totp?.intervals.json ?? .null,
      "enrollmentPattern": edit.pattern.map { .string($0.rawValue) } ?? nil,
      "mandatoryFrom": edit.mandatoryFrom.map { .string($0.description) } ?? nil,
    ]
    // Left out without a value, so that the digests of earlier sign-offs stay the same.
    if let enforcement = edit.enforcement { object.append("enforcement", enforcement.json) }
    return .object(object)
  }
}

/// The policies of a project as a page showed them.
///
/// A page's link carries them, so that the next page can tell what has changed since.
public struct SeenPolicies: Sendable, Hashable {
  /// The digest in hexadecimal digits.
  public let digest: String
  public let at: Instant

  init(digest: String, at: Instant) { (self.digest, self.at) = (digest, at) }

  /// Parses the text of a link or a form; nil if it's malformed.
  public init?(_ text: String) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard parts.count == 2, Hex.decode(Array(parts[0].utf8))?.count == 32, let at = Int64(parts[1])
    else { return nil }
    self.init(digest: String(parts[0]), at: Instant(microseconds: at))
  }

  public var text: String { "\(digest).\(at.microseconds)" }
}

/// How the policies of a project differ from those of an earlier time.
public struct PolicySetChanges: Sendable, Equatable {
  public enum Kind: Sendable, Equatable {
    case created
    case deleted
    /// Its policy was changed: the fields that differ, none if every change was undone, or nil if the
    /// earlier values weren't read, or the audit log doesn't have them.
    case changed([PolicyChange]?)
  }

  public struct PoolChange: Sendable, Equatable {
    public let tenant: ID<Tenant>?
    public let name: String
    public let kind: Kind
    /// The policy in canonical form before and after the change; null if it's unknown, or the pool
    /// didn't exist.
    let before: JSON
    let after: JSON
  }

  /// The project's own pool, then tenants by ID.
  public let pools: [PoolChange]
  /// Whether these are all changes: undone, they result in exactly the earlier policies.
  public let isComplete: Bool
  /// Whether some earlier values weren't read, because more policies changed than are compared.
  public let isCut: Bool
}

/// What the review page of a project says about its sign-offs.
public struct ReviewSummary: Sendable {
  public let status: ReviewStatus
  /// What has changed since the last sign-off; nil if nothing has, or there's none.
  public let changes: PolicySetChanges?
  public let seen: SeenPolicies
  private let byTenant: [ID<Tenant>?: PolicySetChanges.PoolChange]

  init(status: ReviewStatus, changes: PolicySetChanges?, seen: SeenPolicies) {
    (self.status, self.changes, self.seen) = (status, changes, seen)
    byTenant = Dictionary(uniqueKeysWithValues: (changes?.pools ?? []).map { ($0.tenant, $0) })
  }

  /// Returns what has happened since the last sign-off to the pool of a tenant, or the project's own if
  /// it's nil; nil for nothing.
  public func change(of tenant: ID<Tenant>?) -> PolicySetChanges.PoolChange? { byTenant[tenant] }

  /// Returns whether one pool's current policy was reviewed, which a change of another pool doesn't
  /// affect if all changes are known.
  public func state(of tenant: ID<Tenant>?) -> ReviewStatus.State {
    guard case .changed(let isOverdue) = status.state, changes?.isComplete == true,
      change(of: tenant) == nil
    else { return status.state }
    return isOverdue ? .overdue : .current
  }
}

extension Reviews {
  /// Returns whether the current policies of a project were reviewed, and what has changed since.
  ///
  /// `comparesAll` says whether to read the earlier values of all changed policies, which takes
  /// long for thousands; otherwise, of at most 200.
  public func summary(
    of project: ID<Project>, comparesAll: Bool = false
  ) async throws -> ReviewSummary {
    let most = comparesAll ? nil : Self.mostPools
    return try await store.read { now, connection in
      try summary(
        of: project, stamp: Self.stamp(of: project, connection), atMost: most, at: now, connection)
    }
  }

  /// Returns the same for the projects of pools, of those whose policy the administrator can read.
  ///
  /// At most 200 earlier policies are read in all.
  public func summaries(
    of pools: [ReviewedPool], visibleTo administrator: Administrator
  ) async throws -> [ID<Project>: ReviewSummary] {
    let readable = pools.filter { administrator.may(.readPolicy, project: $0.project, tenant: nil) }
    return try await store.read { now, connection in
      var (found, left): ([ID<Project>: ReviewSummary], Int) = ([:], Self.mostPools)
      for pool in readable where found[pool.project] == nil {
        let summary = try summary(
          of: pool.project, stamp: pool.stamp, atMost: left, at: now, connection)
        left = max(left - (summary.changes?.pools.count ?? 0), 0)
        found[pool.project] = summary
      }
      return found
    }
  }

  private func summary(
    of project: ID<Project>, stamp: Int64, atMost most: Int?, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> ReviewSummary {
    let status = try status(of: project, stamp: stamp, at: now, connection)
    return ReviewSummary(
      status: status, changes: try changes(since: status, atMost: most, connection),
      seen: SeenPolicies(digest: Hex.encode(try digest(of: project, stamp, connection)), at: now))
  }

  /// Returns what has changed since the last sign-off; nil if nothing has, or there's none.
  ///
  /// `most` is the maximum number of pools whose earlier policies are read; nil for no limit, as in
  /// evidence.
  func changes(
    since status: ReviewStatus, atMost most: Int? = nil, _ connection: borrowing Connection
  ) throws -> PolicySetChanges? {
    guard case .changed = status.state, let signOff = status.signOff else { return nil }
    return try changes(
      of: signOff.project, since: SeenPolicies(digest: signOff.digest, at: signOff.signedAt),
      atMost: most, connection)
  }

  /// The maximum number of times whose policies are compared with the digest.
  private static let mostMoments = 8
  /// The maximum number of pools whose changes are read for a page that lists the pools.
  private static let mostPools = 200

  /// Returns how the current policies of a project differ from earlier ones.
  ///
  /// The earlier ones are calculated from the current ones, the changes in the audit log, and the times
  /// at which pools were created and deleted. Their digest tells whether the result is complete.
  /// Because times don't have the exact order of the changes, those around the earlier one are tried as
  /// well, the nearest first.
  func changes(
    of project: ID<Project>, since seen: SeenPolicies, atMost most: Int? = nil,
    _ connection: borrowing Connection
  ) throws -> PolicySetChanges {
    let earliest = seen.at.advanced(bySeconds: -Audit.slack)
    let latest = seen.at.advanced(bySeconds: Audit.slack)
    let pools = try TrackedPool.all(of: project, since: earliest, connection)
    let first = try changes(of: pools, since: seen.at, atMost: most, connection)
    if first.digest(of: project) == seen.digest { return first.changes(isComplete: true) }
    guard first.isKnown else { return first.changes(isComplete: false) }
    let times = try changes(of: pools, since: earliest, atMost: most, connection).times.union(
      pools.flatMap(\.times))
    let moments = times.filter { earliest < $0 && $0 <= latest }.map { time in
      // Without an earlier change, and with a later one.
      time <= seen.at ? Instant(microseconds: time.microseconds - 1) : time
    }
    let nearest = moments.sorted {
      abs($0.microseconds - seen.at.microseconds) < abs($1.microseconds - seen.at.microseconds)
    }
    for moment in nearest.prefix(Self.mostMoments) {
      let found = try changes(of: pools, since: moment, atMost: most, connection)
      if found.digest(of: project) == seen.digest { return found.changes(isComplete: true) }
    }
    return first.changes(isComplete: false)
  }

  private func changes(
    of pools: [TrackedPool], since moment: Instant, atMost most: Int?,
    _ connection: borrowing Connection
  ) throws -> FoundChanges {
    var found = FoundChanges()
    let areKept = try AuditTombstone.areEntriesKept(since: moment, connection)
    var left = areKept ? most ?? pools.count : 0
    for pool in pools {
      let isThere = pool.deletedAt == nil
      let wasThere = pool.createdAt <= moment && pool.deletedAt.map { $0 > moment } ?? true
      guard isThere || wasThere else { continue }
      guard wasThere else {
        found.add(pool, .created, from: nil)
        continue
      }
      let isChanged = (pool.policy.changedAt ?? pool.createdAt) > moment
      var past = isChanged ? nil : pool.last
      if isChanged, left == 0 { found.isCut = areKept }
      if isChanged, left > 0 {
        left -= 1
        let next = Instant(microseconds: moment.microseconds + 1)
        past = try audit.past(pool.policy.edit, of: pool.policy.pool, before: next, connection)
          .flatMap { found.undo(pool, to: $0) }
      }
      if let past { found.before.append(past) } else { found.isKnown = false }
      if !isThere {
        found.add(pool, .deleted, from: past)
      } else if isChanged {
        let fields = past.map { PolicyChange.between($0.edit, pool.last.edit) }
        found.add(pool, .changed(fields), from: past)
      }
    }
    return found
  }
}

/// A pool that exists or was deleted recently, with its last policy.
private struct TrackedPool {
  let policy: StoredPolicy
  let createdAt: Instant
  /// Nil if it exists.
  let deletedAt: Instant?

  var last: PolicySet.PoolPolicy {
    PolicySet.PoolPolicy(
      tenant: policy.pool.tenant?.text ?? "", edit: policy.edit, version: policy.version)
  }

  var times: [Instant] { [createdAt, deletedAt, policy.changedAt].compactMap { $0 } }

  /// Reads the pools of a project, by tenant, without those that were deleted before a time.
  static func all(
    of project: ID<Project>, since time: Instant, _ connection: borrowing Connection
  ) throws -> [TrackedPool] {
    try connection.all(
      """
      SELECT \(StoredPolicy.columns), s.created_at, s.deleted_at
      FROM scope s \(SQL.orderedJoin) project p USING (project_id)
      WHERE s.project_id = \(project)
        AND (s.deleted_at IS NULL OR s.deleted_at > \(time))
      ORDER BY s.tenant_id
      """
    ) { row in
      TrackedPool(
        policy: try StoredPolicy(&row), createdAt: try row.next(),
        deletedAt: try row.next())
    }
  }
}

/// The changes since a time, and the policies at that time.
private struct FoundChanges {
  var before: [PolicySet.PoolPolicy] = []
  /// Whether the policies of all pools are known.
  var isKnown = true
  /// Whether more policies were changed than are compared.
  var isCut = false
  /// When the changes were made that were undone.
  private(set) var times: Set<Instant> = []
  private var pools: [PolicySetChanges.PoolChange] = []

  /// Returns a pool's policy before changes that were undone; nil if there are none.
  mutating func undo(_ pool: TrackedPool, to past: PastPolicy) -> PolicySet.PoolPolicy? {
    guard !past.undone.isEmpty else { return nil }
    times.formUnion(past.undone)
    return PolicySet.PoolPolicy(
      tenant: pool.last.tenant, edit: past.edit, version: pool.last.version - past.undone.count)
  }

  mutating func add(
    _ pool: TrackedPool, _ kind: PolicySetChanges.Kind, from past: PolicySet.PoolPolicy?
  ) {
    pools.append(
      PolicySetChanges.PoolChange(
        tenant: pool.policy.pool.tenant, name: pool.policy.pool.name, kind: kind,
        before: past?.json ?? .null, after: pool.deletedAt == nil ? pool.last.json : .null))
  }

  func digest(of project: ID<Project>) -> String? {
    isKnown ? Hex.encode(PolicySet(project: project, pools: before).digest) : nil
  }

  func changes(isComplete: Bool) -> PolicySetChanges {
    PolicySetChanges(pools: pools, isComplete: isComplete, isCut: isCut)
  }
}
