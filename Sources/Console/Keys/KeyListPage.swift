import HTTP
import Identity
import Localization
import Templating

/// `S/settings/keys`: lists the API keys of a project and the service tokens of a pool.
struct KeyListPage: Sendable {
  let identity: Identity
  let frames: Frames
  let view: Template<KeyListView>

  func show(_ context: PoolContext) async throws -> Response {
    let pool = context.pool
    let keys = try await pool.tenant == nil ? identity.apiKeys.list(pool.project) : []
    let tokens = try await identity.serviceTokens.list(pool.project, tenant: pool.tenant)
    let createdAt = try await identity.pools.settings(of: pool).createdAt
    let frame = try await frames.frame(Message("API keys and tokens"), in: context)
    return .html(
      view.render(
        KeyListView(
          frame: FrameView(frame), context: context, keys: keys, tokens: tokens,
          createdAt: createdAt)))
  }
}

struct KeyListView: ViewModel {
  let frame: FrameView
  let context: PoolContext
  let keyRows: [KeyRow]
  let tokenRows: [TokenRow]
  let revoked: [TokenRow]
  let revokedCount: Int

  /// The maximum number of revoked tokens in the list.
  private static let mostRevoked = 20

  init(
    frame: FrameView, context: PoolContext, keys: [APIKey], tokens: [ServiceToken],
    createdAt: Instant
  ) {
    self.frame = frame
    self.context = context
    let (pool, times) = (context.pool, frame.times)
    let showsHistory = context.may(.readAudit)
    keyRows = keys.map {
      KeyRow(
        key: $0, project: pool.project, isFirst: $0.createdAt == createdAt, times: times,
        showsHistory: showsHistory)
    }
    func row(_ token: ServiceToken) -> TokenRow {
      TokenRow(token: token, pool: pool, times: times, showsHistory: showsHistory)
    }
    tokenRows = tokens.filter { $0.revokedAt == nil }.map(row)
    let ended = tokens.filter { $0.revokedAt != nil }
    revoked = ended.prefix(Self.mostRevoked).map(row)
    revokedCount = ended.count
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("csrf") { $0.context.signedIn.session.csrfToken },
    .flag("isProject") { $0.context.pool.tenant == nil },
    .flag("hasKeys") { !$0.keyRows.isEmpty },
    .list("keys") { $0.keyRows },
    .text("makeKey") { ConsolePaths.keys($0.context.pool) },
    .flag("hasTokens") { !$0.tokenRows.isEmpty },
    .list("tokens") { $0.tokenRows },
    .flag("hasRevoked") { !$0.revoked.isEmpty },
    .number("count") { $0.revokedCount },
    .text("newest") { view in
      view.revoked.count == view.revokedCount
        ? nil
        : Message(
          one: "Showing the newest {count}.", other: "Showing the newest {count}.",
          ["count": .number(view.revoked.count)])
    },
    .list(\.revoked),
    .text("connect") { ConsolePaths.overview($0.context.pool) + "#connect" },
    .text("newToken") { ConsolePaths.newToken($0.context.pool) },
  ]
}

struct KeyRow: ViewModel {
  let key: APIKey
  let project: ID<Project>
  /// Whether the key was created with its project, in which case one audit entry covers both.
  let isFirst: Bool
  let times: Times
  let showsHistory: Bool

  private var history: String? {
    guard showsHistory else { return nil }
    let query: Form =
      isFirst
      ? ["kind": "project", "object": project.text] : ["kind": "api key", "object": key.id.text]
    return query.query(of: ConsolePaths.audit.ofProject(project.text))
  }

  static let keys: Keys<Self> = [
    .text("text") { $0.key.text },
    .text("label") { $0.key.label },
    .markup("created") { $0.times.day($0.key.createdAt) },
    .markup("lastUsed") { $0.times.lastUse($0.key.lastUsedAt, since: $0.key.createdAt) },
    .text("history") { $0.history },
    .text("revocation") { ConsolePaths.keyRevocation($0.project.text, $0.key.id.text) },
  ]
}

struct TokenRow: ViewModel {
  let token: ServiceToken
  let pool: Pool
  let times: Times
  let showsHistory: Bool

  private var history: String? {
    guard showsHistory else { return nil }
    let log =
      token.tenant.map { ConsolePaths.audit.ofTenant(pool.project.text, $0.text) }
      ?? ConsolePaths.audit.ofProject(pool.project.text)
    return (["kind": "service token", "object": token.id.text] as Form).query(of: log)
  }

  static let keys: Keys<Self> = [
    .text("name") { $0.token.name },
    .text("role") { $0.token.role.name },
    .text("reach") { row in
      row.token.tenant.map { Message("for the tenant {tenant}", ["tenant": .text($0.text)]) }
        ?? Message("for the project and its tenants")
    },
    .text("maker") { $0.token.createdBy },
    .markup("created") { $0.times.day($0.token.createdAt) },
    .markup("lastUsed") { $0.times.lastUse($0.token.lastUsedAt, since: $0.token.createdAt) },
    .markup("revoked") { $0.token.revokedAt.map($0.times.past) },
    .text("history") { $0.history },
    .text("revocation") { ConsolePaths.tokenRevocation($0.pool, $0.token.id.text) },
  ]
}
