public import Crypto
import Database

/// A token with which a program calls the administration methods of one scope.
public struct ServiceToken: Sendable {
  /// The id, which is no secret.
  public let id: ID<ServiceToken>
  /// The project it is for.
  public let project: ID<Project>
  /// The tenant it is for; nil for the project with all its tenants.
  public let tenant: ID<Tenant>?
  /// What it is.
  public let role: ServiceTokenRole
  /// What it is called, for people.
  public let name: String
  /// When it was made.
  public let createdAt: Instant
  /// Who made it.
  public let createdBy: String
  /// When it was revoked; nil while it counts.
  public let revokedAt: Instant?

  /// True when it allows something in a scope, by ids.
  public func may(_ permission: Permission, project: ID<Project>, tenant: ID<Tenant>?) -> Bool {
    guard self.project == project, self.tenant == nil || self.tenant == tenant else {
      return false
    }
    return role.permissions.contains(permission)
  }

  /// True when it allows something in a scope.
  public func may(_ permission: Permission, in scope: Scope) -> Bool {
    may(permission, project: scope.project, tenant: scope.tenant)
  }

  /// The author of what is done with it.
  public func author(address: String, requestID: String) -> Author {
    Author(actor: .serviceToken(id, name: name), address: address, requestID: requestID)
  }
}

/// Why a service token cannot be made or found.
public enum ServiceTokenError: Error, Sendable {
  /// No such project or tenant.
  case scopeNotFound
  /// A name that is empty or longer than 100 characters.
  case invalidName
  /// The maker may not do all that the token could, or may not make tokens.
  case exceedsMaker
  /// No such token in the project.
  case notFound
  /// The database cannot do it now.
  case unavailable(Failure)
}

extension ServiceTokenError: UseCaseError {}

/// Makes, finds and revokes service tokens.
public struct ServiceTokens: Sendable {
  let store: Store

  /// Who makes a token.
  public enum Maker: Sendable {
    /// Somebody with access to the data folder, who may do everything.
    case commandLine
    /// An administrator; the token may do no more than they.
    case administrator(Administrator, Author)
  }

  /// Makes a token.
  ///
  /// Its text is returned once and kept only as a digest.
  ///
  /// - Throws: ``ServiceTokenError``.
  public func create(
    project: ID<Project>, tenant: ID<Tenant>?, role: ServiceTokenRole, name: String, maker: Maker
  ) async throws(ServiceTokenError) -> (token: ServiceToken, secret: Secret) {
    guard Projects.isValidName(name) else { throw .invalidName }
    let author: Author
    switch maker {
    case .commandLine: author = Author(actor: .commandLine)
    case .administrator(let administrator, let who):
      author = who
      let needed = role.permissions.union([.manageKeys])
      let allowed = needed.allSatisfy { permission in
        administrator.may(permission, project: project, tenant: tenant)
      }
      guard allowed else { throw .exceedsMaker }
    }
    let now = store.clock.now()
    let text = "cst_" + store.random.token(bytes: 32)
    let token = ServiceToken(
      id: ID(store.random.uuid()), project: project, tenant: tenant, role: role, name: name,
      createdAt: now, createdBy: author.actor.name, revokedAt: nil)
    try await store.write(ServiceTokenError.self) { connection in
      let scope: Scope
      do {
        scope = try Scopes.find(project: project, tenant: tenant, connection)
      } catch is ScopeError {
        throw ServiceTokenError.scopeNotFound
      }
      try connection.run(
        """
        INSERT INTO service_token (token_id, token_digest, project_id, tenant_id, role, name,
          created_at, created_by)
        VALUES (\(token.id.text), \(Store.digest(text)), \(project.text), \(tenant?.text ?? ""),
          \(role.rawValue), \(name), \(now.microseconds), \(token.createdBy))
        """)
      var entry = AuditEntry(
        "service-token.create", "service token", token.id.text, name: name, in: scope)
      entry.to = role.rawValue
      try entry.record(by: author, at: now, connection)
    }
    return (token, Secret(text))
  }

  /// The token of a text; nil for none, or a revoked one.
  ///
  /// - Throws: ``ServiceTokenError/unavailable(_:)``.
  public func find(_ text: Secret) async throws(ServiceTokenError) -> ServiceToken? {
    let digest = HashFunction.sha256.digest(text.revealedBytes)
    return try await store.read(ServiceTokenError.self) { connection in
      try connection.first(
        """
        SELECT \(Self.columns) FROM service_token
        WHERE token_digest = \(digest) AND revoked_at IS NULL
        """, Self.token)
    }
  }

  /// The tokens of a project, the newest first, revoked ones too.
  ///
  /// - Throws: ``ServiceTokenError/unavailable(_:)``.
  public func list(_ project: ID<Project>) async throws(ServiceTokenError) -> [ServiceToken] {
    try await store.read(ServiceTokenError.self) { connection in
      try connection.all(
        """
        SELECT \(Self.columns) FROM service_token WHERE project_id = \(project.text)
        ORDER BY created_at DESC, token_id
        """, Self.token)
    }
  }

  /// Revokes a token, at once.
  ///
  /// - Throws: ``ServiceTokenError``.
  public func revoke(
    _ id: ID<ServiceToken>, of project: ID<Project>, by author: Author
  ) async throws(ServiceTokenError) {
    let now = store.clock.now()
    try await store.write(ServiceTokenError.self) { connection in
      let token = try connection.first(
        """
        UPDATE service_token SET revoked_at = \(now.microseconds)
        WHERE token_id = \(id.text) AND project_id = \(project.text) AND revoked_at IS NULL
        RETURNING \(Self.columns)
        """, Self.token)
      guard let token else { throw ServiceTokenError.notFound }
      var entry = AuditEntry("service-token.revoke", "service token", id.text, name: token.name)
      entry.project = project.text
      entry.tenant = token.tenant?.text ?? ""
      entry.from = token.role.rawValue
      try entry.record(by: author, at: now, connection)
    }
  }

  private static let columns: SQL =
    "token_id, project_id, tenant_id, role, name, created_at, created_by, revoked_at"

  private static func token(_ row: borrowing Row) throws -> ServiceToken {
    let tenant: String = try row.value(2)
    let role: String = try row.value(3)
    guard let known = ServiceTokenRole(rawValue: role) else { throw Failure("unknown role") }
    return ServiceToken(
      id: ID(try row.value(0)), project: ID(try row.value(1)),
      tenant: tenant.isEmpty ? nil : ID(tenant), role: known, name: try row.value(4),
      createdAt: Instant(microseconds: try row.value(5)), createdBy: try row.value(6),
      revokedAt: (try row.value(7) as Int64?).map(Instant.init(microseconds:)))
  }
}
