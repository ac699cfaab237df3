import HTTP
import Identity
import Localization
import Templating

/// `S/settings/keys`: lists the API keys of a project and the service tokens of a pool.
struct KeyListPage: ConsolePage {
  let parts: ConsoleParts
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
    .flag("isProject") { $0.context.pool.tenant == nil },
    .list("keys") { $0.keyRows },
    .text("makeKey") { ConsolePaths.keys($0.context.pool) },
    .list("tokens") { $0.tokenRows },
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
    .text("newToken") { CreateServiceToken.path($0.context.pool) },
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
    .text("revocation") { RevokeAPIKey.path($0.project.text, $0.key.id.text) },
  ]
}

struct TokenRow: ViewModel {
  let token: ServiceToken
  let pool: Pool
  let times: Times
  let showsHistory: Bool

  private var history: String? {
    guard showsHistory else { return nil }
    let log = ConsolePaths.audit(pool.project, token.tenant)
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
    .text("revocation") { RevokeServiceToken.path($0.pool, $0.token.id.text) },
  ]
}

/// `/projects/{p}/settings/keys`: creates an API key.
struct KeysPage: Sendable {
  let keys: APIKeys
  let actions: ActionForms

  func create(_ context: ProjectContext) async throws -> Response {
    let signedIn = context.signedIn
    let outcome: ActionOutcome<APIKey>
    do {
      outcome = try await keys.create(
        for: context.pool.project, by: .console(actions.request(signedIn)))
    } catch let refusal as ActionDenial {
      let errors = try ActionForms.faults(refusal, .createAPIKey, signedIn)
      return try await askForCreation(context, errors)
    }
    return actions.leave(
      Message("API key {label} created.", ["label": .text(outcome.value.label)]), signedIn,
      after: outcome,
      to: Self.list(context))
  }

  /// Asks for confirmation, because the list has only a button and no field for a code.
  private func askForCreation(
    _ context: ProjectContext, _ errors: [FieldError]
  ) async throws -> Response {
    let page = FormPage(
      title: Message("New API key · Settings"), crumbs: [.keys(context.pool)],
      heading: Message(
        "Create an API key for {project}?",
        ["project": .name(Formatted.short(context.pool.name))]),
      consequences: [
        Message(
          "Applications that use the key can connect to this project. The key isn’t a secret."),
        Message("Other keys stay valid."),
      ], isQuestion: true, button: Message("Create API key"), back: Self.list(context))
    // The button on the list had no fields, so the first request shows no errors.
    let isFirst = context.signedIn.form["confirmed"] == nil
    return try await actions.show(
      page, of: .createAPIKey, in: context, at: Self.list(context), errors: isFirst ? [] : errors)
  }

  private static func list(_ context: ProjectContext) -> String {
    ConsolePaths.keys(context.pool)
  }
}

/// `/projects/{p}/settings/keys/{id}/revocation`: revokes an API key.
struct RevokeAPIKey: FormAction {
  static let action = ConsoleAction.revokeAPIKey
  static let name = Message("Revoke API key")
  static let path = ProjectPath1("settings", "keys", nil, "revocation")
  let keys: APIKeys

  func page(_ target: FormTarget<ProjectContext>) async throws -> FormPage {
    let (pool, times) = (target.pool, target.times)
    let all = try await keys.list(pool.project)
    guard let key = all.first(where: { $0.id.text == target.object }) else {
      throw Refusal.notFound
    }
    return FormPage(
      title: Message("Revoke API key · Settings"), crumbs: [.keys(pool)],
      heading: Message(
        "Revoke API key <span class=\"mono\">{label}</span>?", ["label": .text(key.label)]),
      consequences: [
        Message(
          """
          Every call with this key is rejected immediately: applications that use it can’t sign \
          in users or refresh their tokens.
          """),
        all.count == 1
          ? Message(
            """
            It’s the only key of this project, so no application can connect until you create and \
            deploy another key.
            """)
          : Message("Applications that use another key of this project aren’t affected."),
        Message("This can’t be undone: a new key has a different value."),
      ], button: Message("Revoke API key"), isDestructive: true, back: ConsolePaths.keys(pool),
      factsHeading: Message("This key"),
      facts: [
        Fact(Message("Key"), HTML.copied(key.text)),
        Fact(Message("Created"), times.past(key.createdAt)),
        Fact(Message("Last used"), times.lastUse(key.lastUsedAt, since: key.createdAt)),
      ])
  }

  func perform(_ input: Void, _ target: FormTarget<ProjectContext>) async throws -> FormEnd {
    let outcome = try await keys.revoke(
      ID(target.object), of: target.pool.project, by: .console(target.request))
    return FormEnd(
      Message("API key revoked. Calls with it are now rejected."),
      at: ConsolePaths.keys(target.pool), after: outcome)
  }
}

enum KeysRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let identity = parts.identity
    let keys = KeysPage(keys: identity.apiKeys, actions: parts.actions)
    let list = try parts.page("keys/list", KeyListPage.init)
    table.inside(ConsolePaths.keys, .get(.manageKeys, needs: .hosting), list.show)
    table.inside(ConsolePaths.newKey, .performing(.createAPIKey), keys.create)
    table.add(RevokeAPIKey(keys: identity.apiKeys), parts.actions)
  }
}

extension ConsolePaths {
  static let keys = PoolPath0("settings", "keys")
  static let newKey = ProjectPath0("settings", "keys")
}
