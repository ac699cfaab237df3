import Crypto
import Database

/// An API key, which identifies the project of an application's call.
///
/// It isn't secret.
public struct APIKey: Sendable {
  public let text: String
  public let createdAt: Instant
  /// When the key was last used, to the hour; nil if never.
  public let lastUsedAt: Instant?

  /// A short ID for URLs and the audit log, from which the key can't be derived.
  public var id: ID<APIKey> { ID(String(Hex.encode(Store.digest(text)).prefix(12))) }

  /// The first and last characters of the key, by which people recognize it.
  public var label: String { "\(text.prefix(4))…\(text.suffix(4))" }
}

public struct APIKeys: Sendable {
  let store: Store
  let uses = LastUses()

  public func project(for key: String) async throws -> ID<Project>? {
    let project: ID<Project>? = try await store.read { connection in
      try connection.first("SELECT project_id FROM api_key WHERE api_key = \(key)") {
        try $0.next()
      }
    }
    if project != nil { uses.note(key, at: store.clock.now()) }
    return project
  }

  /// Lists the keys of a project, oldest first.
  public func list(_ project: ID<Project>) async throws -> [APIKey] {
    try await store.read { connection in try list(project, connection) }
  }

  private func list(_ project: ID<Project>, _ connection: borrowing Connection) throws -> [APIKey] {
    try connection.all(
      """
      SELECT api_key, created_at, last_used_at FROM api_key WHERE project_id = \(project)
      ORDER BY created_at, api_key
      """
    ) { row in
      let text: String = try row.next()
      return APIKey(
        text: text, createdAt: try row.next(), lastUsedAt: uses.latest(text, try row.next()))
    }
  }

  public func create(
    for project: ID<Project>, by caller: Caller
  ) async throws -> ActionOutcome<APIKey> {
    try await store.run(
      .createAPIKey, by: caller, in: ActionTarget(project: project)
    ) { context, connection in
      let now = context.now
      let pool = try Pools.find(project: project, tenant: nil, connection)
      try pool.check(.hosting)
      let text = try Self.insert(for: project, random: store.random, at: now, connection)
      let key = APIKey(text: text, createdAt: now, lastUsedAt: nil)
      var entry = AuditEntry(.apiKeyCreate, .apiKey, key.id.text, name: key.label, in: pool)
      entry.add(.keyLabel, .text(key.label))
      try context.record(entry, connection)
      return key
    }
  }

  /// Revokes a key; calls with it are rejected from now on.
  @discardableResult
  public func revoke(
    _ id: ID<APIKey>, of project: ID<Project>, by caller: Caller
  ) async throws -> ActionOutcome<Void> {
    try await store.run(
      .revokeAPIKey, by: caller, in: ActionTarget(project: project)
    ) { context, connection in
      let pool = try Pools.find(project: project, tenant: nil, connection)
      try pool.check(.hosting)
      let keys = try list(project, connection)
      guard let key = keys.first(where: { $0.id == id }) else { throw CallError.notFound }
      try connection.run("DELETE FROM api_key WHERE api_key = \(key.text)")
      var entry = AuditEntry(.apiKeyRevoke, .apiKey, id.text, name: key.label, in: pool)
      entry.add(.keyLabel, lost: .text(key.label))
      try context.record(entry, connection)
    }
  }

  @discardableResult
  static func insert(
    for project: ID<Project>, random: RandomSource, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> String {
    // 39 characters with the prefix that applications expect.
    let key = "AIza" + random.token(bytes: 27).prefix(35)
    try connection.run(
      """
      INSERT INTO api_key (api_key, project_id, created_at)
      VALUES (\(key), \(project), \(now))
      """)
    return key
  }
}
