import Database
import Synchronization

public struct ComparedPolicy: Sendable {
  public let pool: Pool
  public let edit: PolicyEdit
  /// The end of the day as of which it was in force; nil for the current policy.
  public let asOf: Day?
}

public struct PolicyComparison: Sendable {
  /// The policy of the pool.
  public let one: ComparedPolicy
  /// The policy that it's compared with.
  public let other: ComparedPolicy
}

/// What a policy is compared with.
public enum ComparisonSubject: Sendable {
  case pool(ID<Project>, ID<Tenant>?)
  /// The pool's own policy at the end of a day in UTC.
  case day(Day)
}

public enum ComparisonError: Error, Sendable {
  /// There's no such pool, or the administrator can't read its policy.
  case poolNotFound
  case futureDay
  case notYetCreated
  /// The change log of an earlier version doesn't have the values before a change.
  case notRecorded
  /// The change log of that time was removed when its retention period ended.
  case removed
}

extension Policies {
  /// Compares the current policy of a pool with that of another pool or of a past day.
  ///
  /// `administrator` must be able to read both policies.
  public func compare(
    _ pool: Pool, with subject: ComparisonSubject, visibleTo administrator: Administrator
  ) async throws -> PolicyComparison {
    try await store.read { now, connection in
      let current: PolicyEdit
      do { current = try Self.find(pool.key, connection).edit } catch PolicyError.poolNotFound {
        throw ComparisonError.poolNotFound
      }
      let other: ComparedPolicy
      switch subject {
      case .pool(let project, let tenant):
        guard administrator.may(.readPolicy, project: project, tenant: tenant) else {
          throw ComparisonError.poolNotFound
        }
        do {
          let found = try Pools.find(project: project, tenant: tenant, connection)
          other = ComparedPolicy(
            pool: found, edit: try Self.find(found.key, connection).edit, asOf: nil)
        } catch is PoolLookupError {
          throw ComparisonError.poolNotFound
        }
      case .day(let day):
        guard day <= Day(now) else { throw ComparisonError.futureDay }
        let edit = try past(current, of: pool, at: day.next.start, connection)
        other = ComparedPolicy(pool: pool, edit: edit, asOf: day)
      }
      return PolicyComparison(
        one: ComparedPolicy(pool: pool, edit: current, asOf: nil), other: other)
    }
  }

  /// Returns the policy that a pool had at a time, by undoing the later changes in the audit log.
  private func past(
    _ current: PolicyEdit, of pool: Pool, at moment: Instant,
    _ connection: borrowing Connection
  ) throws -> PolicyEdit {
    let createdAt = try connection.first(
      "SELECT created_at FROM scope WHERE scope_key = \(pool.key)"
    ) { try $0.next() as Instant }
    guard let createdAt, createdAt < moment else { throw ComparisonError.notYetCreated }
    // Removed changes can't be undone, so the policy before them isn't known.
    guard try AuditTombstone.areEntriesKept(since: moment, connection) else {
      throw ComparisonError.removed
    }
    guard let past = try audit.past(current, of: pool, before: moment, connection) else {
      throw ComparisonError.notRecorded
    }
    return past.edit
  }
}

/// The number of a project's tenants whose policy differs from the project's.
public struct DifferingTenants: Sendable {
  /// What a cached value depends on, except the project's stamp.
  struct Key: Hashable {
    let project: Int64
    let day: Day
  }

  public let project: ID<Project>
  public let projectName: String
  public let count: Int
}

extension Policies {
  /// Returns the projects with tenants that differ from them, among those whose policy an
  /// administrator can read.
  ///
  /// Projects without changes since the last call cost next to nothing.
  public func differing(
    in projects: [ProjectSummary], visibleTo administrator: Administrator
  ) async throws -> [DifferingTenants] {
    let readable = projects.filter { administrator.may(.readPolicy, project: $0.id, tenant: nil) }
    let today = Day(store.clock.now())
    return try await store.read { connection in
      var found: [DifferingTenants] = []
      for project in readable {
        let key = DifferingTenants.Key(project: project.key, day: today)
        let count = try differing.value(of: key, stamp: project.policyStamp) {
          try Self.differing(in: project.id, on: today, connection)
        }
        guard count > 0 else { continue }
        found.append(
          DifferingTenants(project: project.id, projectName: project.displayName, count: count))
      }
      return found
    }
  }

  /// Returns how many tenants of a project differ from it.
  static func differing(
    in project: ID<Project>, on today: Day, _ connection: borrowing Connection
  ) throws -> Int {
    let own = try connection.first(
      """
      SELECT s.policy_in_force, \(PolicyInForce.column(of: "s", on: today)) FROM scope s
      WHERE s.project_id = \(project) AND s.tenant_id = '' AND s.deleted_at IS NULL
      """
    ) { (key: try $0.next() as String, effective: try $0.next() as String) }
    guard let (key, effective) = own else { return 0 }
    let differs: SQL = "\(PolicyInForce.column(of: "s", on: today)) <> \(effective)"
    // The policies that sort before and after `key`, so that the index skips the equal ones.
    return try connection.first(
      """
      SELECT (SELECT count(*) FROM scope s WHERE s.project_id = \(project)
          AND s.tenant_id <> '' AND s.policy_in_force < \(key) AND \(differs))
        + (SELECT count(*) FROM scope s WHERE s.project_id = \(project)
          AND s.tenant_id <> '' AND s.policy_in_force > \(key) AND \(differs))
      """
    ) { try $0.next() as Int } ?? 0
  }
}

/// A cache of what follows from the policies of a project's pools.
///
/// A project's stamp increases in the same write as every change to them, so a value cached under
/// the stamp of a snapshot is correct for that snapshot.
final class PolicyStampCache<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry {
    let stamp: Int64
    let value: Value
  }

  /// The maximum number of cached projects; when it's exceeded, the cache is cleared.
  private let limit = 5_000
  private let entries = Mutex<[Key: Entry]>([:])

  /// Returns the value cached for a project under a stamp, or else the result of `read`.
  ///
  /// A key that was just read with the project is cheaper than its ID.
  func value(
    of project: Key, stamp: Int64, orRead read: () throws -> Value
  ) rethrows -> Value {
    if let entry = entries.withLock({ $0[project] }), entry.stamp == stamp { return entry.value }
    let value = try read()
    entries.withLock { entries in
      if entries.count >= limit { entries = [:] }
      entries[project] = Entry(stamp: stamp, value: value)
    }
    return value
  }
}
