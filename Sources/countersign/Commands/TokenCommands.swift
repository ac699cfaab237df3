import Crypto
import Foundation
import Identity
import Localization

enum TokenCreateCommand: Command {
  static let name = "token create"
  static let summary = Message("cli.summary-creates-a-service-token-for")
  static let options =
    Instance.options + [
      Option(
        "project", "P", variable: false,
        help: Message("cli.help-the-project-the-token-can-access")),
      Option(
        "tenant", "T", variable: false, help: Message("cli.help-limit-the-token-to-this-tenant")),
      Option(
        "role", "ROLE", variable: false,
        help: Message("cli.help-token-roles", ["roles": roles])),
      Option(
        "name", "NAME", variable: false, help: Message("cli.help-name-in-the-audit-log-default")),
    ]

  private static var roles: Message.Value {
    .choice(ServiceTokenRole.allCases.map { .verbatim($0.rawValue) })
  }

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let word = try arguments.required("role")
    guard let role = ServiceTokenRole(rawValue: word) else {
      throw UsageError(Message("cli.unknown-role-use", ["role": .text(word), "roles": roles]))
    }
    let tenant = arguments.value("tenant")
    return try await Instance.use(arguments) { instance in
      do {
        _ = try await instance.scope(project, tenant: tenant)
        let created = try await instance.identity.serviceTokens.create(
          project: ID(project), tenant: tenant.map { ID($0) }, role: role,
          name: arguments.value("name") ?? word, maker: .commandLine)
        Terminal.say(document: created.secret.revealedText)
        Terminal.complain(
          Message(
            "cli.token-it-wont-be-shown-again",
            ["id": .text("\(created.token.id)"), "role": .text(word)]))
        return 0
      } catch ServiceTokenError.scopeNotFound {
        throw ConfigurationError(Instance.notFound(project, tenant: tenant))
      } catch ServiceTokenError.invalidName {
        throw ConfigurationError(Message("cli.the-name-must-be-1-to"))
      }
    }
  }
}

enum TokenListCommand: ProjectList {
  static let name = "token list"
  static let summary = Message("cli.summary-lists-the-service-tokens-of-a")

  static func list(_ project: ID<Project>, _ identity: Identity) async throws -> Bool {
    let tokens = try await identity.serviceTokens.list(project)
    for token in tokens {
      let scope = token.tenant.map { "\(token.project)/\($0)" } ?? token.project.text
      say(
        token.id.text, token.role.rawValue, scope, token.name, revokedAt: token.revokedAt)
    }
    return !tokens.isEmpty
  }
}

enum TokenRevokeCommand: ProjectRevocation {
  static let name = "token revoke"
  static let summary = Message("cli.summary-revokes-a-service-token-immediately")
  static let operand = Message("cli.the-id-of-a-token")
  static let unknown = Message("cli.the-project-has-no-active-token")

  static func revoke(
    _ id: String, of project: ID<Project>, _ identity: Identity
  ) async throws -> Bool {
    do {
      try await identity.serviceTokens.revoke(ID(id), of: project, by: Author(actor: .commandLine))
      return true
    } catch ServiceTokenError.notFound {
      return false
    }
  }
}
