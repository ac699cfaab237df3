public import Crypto
import Database
import Synchronization
import Text

/// A token with which a program calls the administration methods of a project or tenant.
public struct ServiceToken: Sendable {
  /// The ID, which isn't secret.
  public let id: ID<ServiceToken>
  public let project: ID<Project>
  /// The tenant it can access; nil for the project with all its tenants.
  public let tenant: ID<Tenant>?
  public let role: ServiceTokenRole
  public let name: String
  public let createdAt: Instant
  public let createdBy: String
  /// When the token was last used, to the hour; nil if never.
  public internal(set) var lastUsedAt: Instant?
  public let revokedAt: Instant?

  public func may(_ permission: Permission, project: ID<Project>, tenant: ID<Tenant>?) -> Bool {
    guard self.project == project, self.tenant == nil || self.tenant == tenant else {
      return false
    }
    return role.permissions.contains(permission)
  }

  public func may(_ permission: Permission, in pool: Pool) -> Bool {
    may(permission, project: pool.project, tenant: pool.tenant)
  }
}

public enum ServiceTokenError: Error, Sendable {
  /// The name is empty or longer than 100 characters.
  case invalidName
  /// The creator doesn't have every permission of the token's role, or can't create tokens.
  case exceedsMaker
}

public struct ServiceTokens: Sendable {
  let store: Store
  let uses = LastUses()

  /// The secret is returned once and stored only as a digest.
  public func create(
    project: ID<Project>, tenant: ID<Tenant>?, role: ServiceTokenRole, name: String,
    by caller: Caller
  ) async throws -> ActionOutcome<(token: ServiceToken, secret: Secret)> {
    guard PoolRules.isDisplayName(name) else { throw ServiceTokenError.invalidName }
    let text = "cst_" + store.random.token(bytes: 32)
    let id = ID<ServiceToken>(store.random.uuid())
    return try await store.run(
      .createServiceToken, by: caller, in: ActionTarget(project: project, tenant: tenant)
    ) { context, connection in
      let (author, now) = (context.author, context.now)
      let makerID: ID<Administrator>? =
        if case .administrator(let id, _) = author.actor { id } else { nil }
      let token = ServiceToken(
        id: id, project: project, tenant: tenant, role: role, name: name, createdAt: now,
        createdBy: author.actor.name, lastUsedAt: nil, revokedAt: nil)
      if let makerID {
        try Self.checkMaker(makerID, role, project: project, tenant: tenant, at: now, connection)
      }
      let pool = try Pools.find(project: project, tenant: tenant, connection)
      try pool.check(.hosting)
      try connection.run(
        """
        INSERT INTO service_token (token_id, token_digest, project_id, tenant_id, role, name,
          created_at, created_by, created_by_id)
        VALUES (\(token.id), \(Store.digest(text)), \(project), \(tenant?.text ?? ""),
          \(role), \(name), \(now), \(token.createdBy),
          \(makerID?.text ?? ""))
        """)
      var entry = AuditEntry(
        .serviceTokenCreate, .serviceToken, token.id.text, name: name, in: pool)
      entry.add(.role, .code(role.rawValue))
      try context.record(entry, connection)
      return (token, Secret(text))
    }
  }

  /// Returns the token with a secret; nil if there is none, it was revoked, or its creator no longer
  /// has every permission of its role.
  ///
  /// The creator's roles that are in force decide, whether or not the task that revokes such tokens
  /// has run: it waits while the clock isn't trusted.
  public func find(_ text: Secret) async throws -> ServiceToken? {
    let digest = HashFunction.sha256.digest(text.revealedBytes)
    let now = store.clock.now()
    let found = try await store.read { connection in
      try Self.inForce("t.token_digest = \(digest)", at: now, connection)
    }
    guard var token = found else { return nil }
    token.lastUsedAt = uses.latest(token.id.text, token.lastUsedAt)
    uses.note(token.id.text, at: now)
    return token
  }

  /// Lists the tokens of a project with its tenants, or of one tenant, newest first, including
  /// revoked ones.
  public func list(
    _ project: ID<Project>, tenant: ID<Tenant>? = nil
  ) async throws -> [ServiceToken] {
    let only = Self.only(tenant)
    return try await store.read { connection in
      try connection.all(
        """
        SELECT \(Self.columns) FROM service_token WHERE project_id = \(project) \(only)
        ORDER BY created_at DESC, token_id
        """, decode)
    }
  }

  private static func only(_ tenant: ID<Tenant>?) -> SQL {
    tenant.map { "AND tenant_id = \($0)" } ?? ""
  }

  /// Revokes a token, effective immediately.
  ///
  /// `project` is that of the token, with or without a tenant, and `tenant` the required one; nil
  /// for any token of the project.
  @discardableResult
  public func revoke(
    _ id: ID<ServiceToken>, of project: ID<Project>, tenant: ID<Tenant>? = nil, by caller: Caller
  ) async throws -> ActionOutcome<Void> {
    let only = Self.only(tenant)
    return try await store.run(
      .revokeServiceToken, by: caller, in: ActionTarget(project: project, tenant: tenant)
    ) { context, connection in
      let now = context.now
      let token = try connection.first(
        """
        UPDATE service_token SET revoked_at = \(now)
        WHERE token_id = \(id) AND project_id = \(project) AND revoked_at IS NULL \(only)
        RETURNING \(Self.columns)
        """, decode)
      guard let token else { throw CallError.notFound }
      try context.record(token.revocation, connection)
    }
  }

  private static let columns: SQL = """
    token_id, project_id, tenant_id, role, name, created_at, created_by, last_used_at, revoked_at
    """

  private func decode(_ row: inout Row) throws -> ServiceToken {
    var token = try Self.token(&row)
    token.lastUsedAt = uses.latest(token.id.text, token.lastUsedAt)
    return token
  }

  /// Reads a token from the first columns, as last stored.
  static func token(_ row: inout Row) throws -> ServiceToken {
    ServiceToken(
      id: try row.next(), project: try row.next(), tenant: ID(nonEmpty: try row.next()),
      role: try row.next(), name: try row.next(), createdAt: try row.next(),
      createdBy: try row.next(), lastUsedAt: try row.next(), revokedAt: try row.next())
  }
}

extension ServiceTokens {
  /// Returns the number of valid tokens that an administrator created.
  public func count(madeBy maker: ID<Administrator>) async throws -> Int {
    try await store.read { connection in
      try connection.first(
        """
        SELECT count(*) FROM service_token
        WHERE created_by_id = \(maker) AND revoked_at IS NULL
        """
      ) { try $0.next() } ?? 0
    }
  }

  /// Checks that an administrator can create a token, by the current grants.
  static func checkMaker(
    _ maker: ID<Administrator>, _ role: ServiceTokenRole, project: ID<Project>,
    tenant: ID<Tenant>?, at now: Instant, _ connection: borrowing Connection
  ) throws {
    let grants = try Administrators.grants(maker, at: now, connection)
    let needed = role.permissions.union([.manageKeys])
    guard grants.allow(needed, project: project, tenant: tenant) else {
      throw ServiceTokenError.exceedsMaker
    }
  }

  /// Returns whether the administrator who created a token has a permission in a pool now; false
  /// for a token that was created on the command line.
  static func creatorMay(
    _ permission: Permission, in pool: Pool, of token: ID<ServiceToken>, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Bool {
    let maker =
      try connection.first(
        "SELECT created_by_id FROM service_token WHERE token_id = \(token)"
      ) { ID<Administrator>(nonEmpty: try $0.next()) } ?? nil
    guard let maker else { return false }
    let administrator = try Administrators.present(maker, at: now, connection)
    return administrator?.may(permission, project: pool.project, tenant: pool.tenant) ?? false
  }

  /// Revokes the tokens with permissions that their creator no longer has, each with its own audit
  /// log entry; returns the number of tokens revoked.
  static func revokeExceeding(
    _ maker: ID<Administrator>, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws -> Int {
    let grants = try Administrators.grants(maker, at: now, connection)
    let tokens = try connection.all(
      """
      SELECT \(columns) FROM service_token WHERE created_by_id = \(maker) AND revoked_at IS NULL
      """, token)
    var count = 0
    for token in tokens where !token.isAllowed(by: grants) {
      try connection.run(
        """
        UPDATE service_token SET revoked_at = \(now) WHERE token_id = \(token.id)
        """)
      try token.revocation.record(by: author, at: now, connection)
      count += 1
    }
    return count
  }

  /// Returns the token of a condition; nil if there is none, it was revoked, or its creator no longer
  /// has every permission of its role.
  static func inForce(
    _ condition: SQL, at now: Instant, _ connection: borrowing Connection
  ) throws -> ServiceToken? {
    let found = try connection.all(
      """
      SELECT t.token_id, t.project_id, t.tenant_id, t.role, t.name, t.created_at, t.created_by,
        t.last_used_at, t.revoked_at, t.created_by_id, g.administrator_id, g.role, g.project_id,
        g.tenant_id
      FROM service_token t LEFT JOIN administrator_grant g
        ON g.administrator_id = t.created_by_id AND \(Administrators.inForce(at: now))
      WHERE \(condition) AND t.revoked_at IS NULL
      """
    ) { row in
      (
        token: try token(&row), maker: try row.next() as String,
        holder: try row.next() as String?, grant: try Administrators.joinedGrant(&row)
      )
    }
    guard let (token, maker, _, _) = found.first else { return nil }
    return maker.isEmpty || token.isAllowed(by: found.compactMap(\.grant)) ? token : nil
  }
}

extension ServiceToken {
  fileprivate func isAllowed(by grants: [Grant]) -> Bool {
    grants.allow(role.permissions, project: project, tenant: tenant)
  }

  fileprivate var revocation: AuditEntry {
    var entry = AuditEntry(.serviceTokenRevoke, .serviceToken, id.text, name: name)
    (entry.project, entry.tenant) = (project.text, tenant?.text ?? "")
    entry.add(.role, lost: .code(role.rawValue))
    return entry
  }
}

extension [Grant] {
  /// Returns whether the grants together include every permission in a project or tenant.
  fileprivate func allow(
    _ permissions: Set<Permission>, project: ID<Project>, tenant: ID<Tenant>?
  ) -> Bool {
    permissions.allSatisfy { permission in
      contains { grant in
        grant.covers(project: project, tenant: tenant)
          && grant.role.permissions.contains(permission)
      }
    }
  }
}

/// When keys and tokens were last used, by ID and to the hour.
///
/// A use is noted in memory, and new notes are written about every minute, so that a key used ten
/// thousand times a second costs one write per hour. A crash loses the notes of a minute.
final class LastUses: Sendable {
  private struct Notes {
    /// Hours since 1970.
    var known: [UntrustedText: Int64] = [:]
    var waiting: [UntrustedText: Int64] = [:]
  }

  private let notes = Mutex(Notes())

  func note(_ id: String, at now: Instant) {
    let hour = now.seconds / 3_600
    let id = UntrustedText(id)
    notes.withLock { notes in
      guard notes.known[id] != hour else { return }
      notes.known[id] = hour
      notes.waiting[id] = hour
    }
  }

  /// Returns the later of the stored time and the time noted since.
  func latest(_ id: String, _ kept: Instant?) -> Instant? {
    guard let hour = notes.withLock({ $0.waiting[UntrustedText(id)] }) else { return kept }
    let noted = Instant(seconds: hour * 3_600)
    return kept.map { max($0, noted) } ?? noted
  }

  /// Removes and returns at most `limit` notes that aren't written yet.
  func take(_ limit: Int) -> [(id: String, at: Instant)] {
    notes.withLock { notes in
      let taken = Array(notes.waiting.prefix(limit))
      for (id, _) in taken { notes.waiting[id] = nil }
      return taken.map { ($0.key.text, Instant(seconds: $0.value * 3_600)) }
    }
  }

  func putBack(_ notes: [(id: String, at: Instant)]) {
    self.notes.withLock { all in
      for (id, at) in notes {
        all.waiting[UntrustedText(id)] = max(
          all.waiting[UntrustedText(id)] ?? 0, at.seconds / 3_600)
      }
    }
  }
}
