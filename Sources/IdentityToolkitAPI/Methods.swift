import Identity
import JSON

/// The context of the methods, each of which is an extension in its own file.
struct Methods: Sendable {
  let identity: Identity
  let tokens: IDTokens
  /// The base URL that clients use, without a trailing slash.
  let publicURL: String
}

extension Methods {
  /// The lifetime of an ID token in responses, in seconds.
  static let expiresIn: JSON = "3600"

  func appendTokens(
    _ grant: SessionGrant, to answer: inout JSON.Object,
    withRefreshToken isRefreshable: Bool = true
  ) throws {
    answer.append("idToken", .string(try tokens.make(for: grant)))
    guard isRefreshable else { return }
    answer.append("refreshToken", .string(grant.refreshToken))
    answer.append("expiresIn", Methods.expiresIn)
  }

  /// Returns the tokens as version 2 does, which doesn't say when they expire.
  func tokensAnswer(_ grant: SessionGrant) throws -> JSON.Object {
    ["idToken": .string(try tokens.make(for: grant)), "refreshToken": .string(grant.refreshToken)]
  }

  /// Returns the pool of a call without a token that names one.
  func pool(of call: ClientCall) async throws -> Pool {
    let pool = try await identity.pools.find(project: call.project, tenant: call.tenant)
    try call.counted?.count(pool)
    return pool
  }

  func check(_ session: UserSession) async throws -> Account {
    try await identity.sessions.check(session)
  }

  func change(
    _ session: UserSession, _ change: AccountChange, _ call: ClientCall
  ) async throws -> AccountUpdate {
    let id = session.account
    return try await identity.accounts.update(
      session.pool, id, change, by: call.author(.user(id)), in: session)
  }

  /// Returns whether email enumeration protection is enabled, so that responses must not reveal
  /// which emails have an account.
  func hidesUsers(_ pool: Pool) async throws -> Bool {
    try await identity.pools.hidesUsers(pool)
  }

  func settings(_ pool: Pool) async throws -> PoolSettings {
    try await settings(pool.project, pool.tenant)
  }

  func settings(of call: AdminCall) async throws -> PoolSettings {
    if let settings = call.settings { return settings }
    return try await settings(call.pool)
  }

  func settings(
    _ project: ID<Project>, _ tenant: ID<Tenant>?
  ) async throws -> PoolSettings {
    try await identity.pools.existingSettings(project: project, tenant: tenant)
  }
}
