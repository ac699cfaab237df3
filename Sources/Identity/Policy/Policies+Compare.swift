import Database

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

  public var changes: [PolicyChange] { PolicyChange.between(other.edit, one.edit) }
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
    let now = store.clock.now()
    return try await store.read { connection in
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
