import Database
import Identity

extension Instance {
  /// Turns the project of a pool into a connected one, and returns the pool.
  func connected(_ pool: Pool, as kind: PoolKind = .identityPlatform) async throws -> Pool {
    try await database.write { connection in
      _ = try connection.run(
        "UPDATE /* test */ project SET kind = \(kind) WHERE project_id = \(pool.project)")
    }
    return try await identity.pools.existing(project: pool.project, tenant: pool.tenant)
  }
}
