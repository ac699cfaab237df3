import Database

/// A version of a policy: the policy after one of its changes.
public struct PolicyVersion: Sendable {
  public let number: Int
  public let row: AuditRow
  public let edit: PolicyEdit
}

extension Policies {
  public static let mostVersions = 100

  /// Returns the newest versions of a policy that can be restored, newest first.
  ///
  /// They're calculated from the current policy and the changes in the audit log. The list ends
  /// where the two don't match, such as after a restored backup.
  public func restorable(_ pool: Pool) async throws -> [PolicyVersion] {
    try await store.read { connection in
      try restorable(pool, connection)
    }
  }

  /// Returns a version by its audit log entry; nil if it can't be restored.
  public func version(
    _ row: Int64, of pool: Pool
  ) async throws -> PolicyVersion? {
    try await store.read { connection in
      let versions = try restorable(pool, connection) { $0.row.id == row }
      return versions.last.flatMap { $0.row.id == row ? $0 : nil }
    }
  }

  /// Returns a pool's policy as of a version, the first one included; nil if it can't be calculated.
  public func edit(
    ofVersion number: Int, of pool: Pool
  ) async throws -> PolicyEdit? {
    try await store.read { connection in
      let policy = try Self.stored(pool.key, connection)
      guard number < policy.version else { return number == policy.version ? policy.edit : nil }
      let versions = try restorable(pool, connection) { $0.number <= number + 1 }
      return versions.first { $0.number == number + 1 }.flatMap { $0.edit.before($0.row.changes) }
    }
  }

  private func restorable(
    _ pool: Pool, _ connection: borrowing Connection,
    through isLast: (PolicyVersion) -> Bool = { _ in false }
  ) throws -> [PolicyVersion] {
    let policy = try Self.find(pool.key, connection)
    var versions: [PolicyVersion] = []
    try audit.undoChanges(of: policy.edit, in: pool, connection) { change in
      let version = PolicyVersion(
        number: policy.version - versions.count, row: change.row, edit: change.after)
      versions.append(version)
      return !isLast(version) && versions.count < Self.mostVersions
    }
    return versions
  }
}
