import Crypto
import HTTP
import Identity
import Localization
import Templating

enum TokensRoutes: ConsoleFeature {
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws {
    let tokens = parts.identity.serviceTokens
    let creation = CreateServiceToken(tokens: tokens, created: try parts.template("tokens/created"))
    table.add(creation, parts.actions)
    table.add(RevokeServiceToken(tokens: tokens), parts.actions)
  }
}

/// `S/settings/tokens/new`: creates a service token and shows it once.
struct CreateServiceToken: FormAction {
  static let action = ConsoleAction.createServiceToken
  static let name = Message("Create service token")
  static let path = PoolPath0("settings", "tokens", "new")
  let tokens: ServiceTokens
  let created: Template<CreatedTokenView>

  func page(_ target: PoolTarget) -> FormPage {
    let pool = target.pool
    let name = Message.Value.text(pool.name)
    return FormPage(
      title: Message("New service token"), crumbs: [.keys(pool)],
      lead: pool.tenant == nil
        ? Message(
          """
          Lets a program manage the project <bdi>{poolName}</bdi> and its tenants through the \
          REST API, within the role you select.
          """, ["poolName": name])
        : Message(
          """
          Lets a program manage only the tenant <bdi>{poolName}</bdi> through the REST API, \
          within the role you select.
          """, ["poolName": name]),
      fields: [
        .line(
          "name", Message("Name"),
          hint: Message(
            """
            The program that uses the token, such as “billing backend”. The audit log shows this \
            name with each of the token’s actions.
            """)),
        .choice(
          "role", Message("Role"),
          hint: Message(
            """
            A token can’t have more permissions than its creator, so only roles included in yours \
            are listed.
            """),
          ServiceTokenRole.allCases.filter { $0.permissions.allSatisfy(target.place.may) }
            .map { Field.Option(value: $0.rawValue, label: $0.name, hint: $0.hint) }),
      ], button: Message("Create token"), back: ConsolePaths.keys(pool))
  }

  func input(_ target: PoolTarget) throws(InvalidInput) -> ServiceTokenRole {
    guard let role = ServiceTokenRole(rawValue: target.form.trimmed("role")) else {
      throw .field("role", Message("Select a role."))
    }
    return role
  }

  func perform(_ role: ServiceTokenRole, _ target: PoolTarget) async throws -> FormEnd {
    let pool = target.pool
    let outcome = try await tokens.create(
      project: pool.project, tenant: pool.tenant, role: role, name: target.form.trimmed("name"),
      by: .console(target.request))
    let (token, secret) = outcome.value
    return FormEnd(
      title: Message("Token created · Settings"), crumbs: [.keys(pool)], after: outcome
    ) { [created] frame in
      created.render(
        CreatedTokenView(frame: frame, pool: pool, token: token, text: secret.revealedText))
    }
  }

  func fault(_ error: ServiceTokenError, _ target: PoolTarget) throws -> FieldError {
    switch error {
    case .invalidName:
      FieldError(
        field: "name",
        text: Message("Enter a name of 1 to 100 characters that identifies the token."))
    case .exceedsMaker:
      FieldError(
        field: "role",
        text: Message(
          "A token can’t have more permissions than its creator. Select a role included in yours."))
    }
  }
}

struct CreatedTokenView: ViewModel {
  let frame: FrameView
  let pool: Pool
  let token: ServiceToken
  let text: String

  static let keys: Keys<Self> = [
    .object(\.frame),
    .text("name") { $0.token.name },
    .text("role") { $0.token.role.name },
    .text(\.text),
    .text("list") { ConsolePaths.keys($0.pool) },
  ]
}

/// `S/settings/tokens/{id}/revocation`: revokes a service token.
struct RevokeServiceToken: FormAction {
  static let action = ConsoleAction.revokeServiceToken
  static let name = Message("Revoke service token")
  static let path = PoolPath1("settings", "tokens", nil, "revocation")
  let tokens: ServiceTokens

  func page(_ target: PoolTarget) async throws -> FormPage {
    let (pool, times) = (target.pool, target.times)
    let all = try await tokens.list(pool.project, tenant: pool.tenant)
    guard let token = all.first(where: { $0.id.text == target.object && $0.revokedAt == nil })
    else { throw Refusal.notFound }
    return FormPage(
      title: Message("Revoke service token · Settings"), crumbs: [.keys(pool)],
      heading: Message("Revoke service token “<bdi>{name}</bdi>”?", ["name": .text(token.name)]),
      consequences: [
        Message(
          """
          Every call with this token is rejected immediately, and the program that uses it stops \
          working.
          """),
        Message("This can’t be undone. If the program is still needed, create a new token for it."),
      ], button: Message("Revoke token"), isDestructive: true, back: ConsolePaths.keys(pool),
      factsHeading: Message("This token"),
      facts: [
        Fact(Message("Role"), token.role.name),
        Fact(Message("Created by"), HTML.isolated(token.createdBy)),
        Fact(Message("Created"), times.past(token.createdAt)),
        Fact(Message("Last used"), times.lastUse(token.lastUsedAt, since: token.createdAt)),
      ])
  }

  func perform(_ input: Void, _ target: PoolTarget) async throws -> FormEnd {
    let pool = target.pool
    let outcome = try await tokens.revoke(
      ID(target.object), of: pool.project, tenant: pool.tenant, by: .console(target.request))
    return FormEnd(
      Message("Service token revoked. Calls with it are now rejected."),
      at: ConsolePaths.keys(pool), after: outcome)
  }
}

extension Link {
  /// The breadcrumb to a pool's API keys and service tokens.
  static func keys(_ pool: Pool) -> Link {
    Link(text: Message("API keys and tokens"), href: ConsolePaths.keys(pool))
  }
}
