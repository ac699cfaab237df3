import Crypto
import Foundation
import Identity
import Localization

enum TokenCreateCommand: Command {
  static let name = "token create"
  static let summary = Message(
    "creates a service token for Authorization: Bearer and prints it once")
  static let options =
    Instance.options + [
      Option(
        "project", "P", variable: false,
        help: Message("The project the token can access.")),
      Option(
        "tenant", "T", variable: false,
        help: Message("Limit the token to this tenant of the project.")),
      Option(
        "role", "ROLE", variable: false,
        help: Message("{roles} (for an application's backend).", ["roles": roles])),
      Option(
        "name", "NAME", variable: false, help: Message("Name in the audit log (default: the role).")
      ),
    ]

  private static var roles: Message.Value {
    .choice(ServiceTokenRole.allCases.map { .verbatim($0.rawValue) })
  }

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let word = try arguments.required("role")
    guard let role = ServiceTokenRole(rawValue: word) else {
      throw UsageError(
        Message("unknown role {role}; use {roles}", ["role": .text(word), "roles": roles]))
    }
    let tenant = arguments.value("tenant")
    return try await Instance.use(arguments) { instance in
      do {
        _ = try await instance.pool(project, tenant: tenant)
        let created = try await instance.identity.serviceTokens.create(
          project: ID(project), tenant: tenant.map { ID($0) }, role: role,
          name: arguments.value("name") ?? word, maker: .commandLine)
        Terminal.say(document: created.secret.revealedText)
        Terminal.complain(
          Message(
            "Token {id} ({role}). It won't be shown again.",
            ["id": .text("\(created.token.id)"), "role": .text(word)]))
        return 0
      } catch ServiceTokenError.poolNotFound {
        throw ConfigurationError(Instance.notFound(project, tenant: tenant))
      } catch ServiceTokenError.invalidName {
        throw ConfigurationError(Message("The name must be 1 to 100 characters long."))
      }
    }
  }
}

enum TokenListCommand: ProjectList {
  static let name = "token list"
  static let summary = Message("lists the service tokens of a project")

  static func list(_ project: ID<Project>, _ identity: Identity) async throws -> Bool {
    let tokens = try await identity.serviceTokens.list(project)
    for token in tokens {
      let pool = token.tenant.map { "\(token.project)/\($0)" } ?? token.project.text
      say(
        token.id.text, token.role.rawValue, pool, token.name, revokedAt: token.revokedAt)
    }
    return !tokens.isEmpty
  }
}

enum TokenRevokeCommand: ProjectRevocation {
  static let name = "token revoke"
  static let summary = Message("revokes a service token immediately")
  static let operand = Message("the ID of a token")
  static let unknown = Message("The project has no active token with this ID.")

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
