import Crypto
import Foundation
import Identity

/// Creates a service token and prints it once.
enum TokenCreateCommand: Command {
  static let name = "token create"
  static let summary = "creates a service token for Authorization: Bearer and prints it once"
  static let options = [
    Instance.dataOption,
    Option("project", "P", variable: false, help: "The project the token can access."),
    Option(
      "tenant", "T", variable: false, help: "Limit the token to this tenant of the project."),
    Option(
      "role", "ROLE", variable: false,
      help: "owner, policy, support, auditor, or application (for an application's backend)."),
    Option("name", "NAME", variable: false, help: "Name in the audit log (default: the role)."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let word = try arguments.required("role")
    guard let role = ServiceTokenRole(rawValue: word) else {
      throw UsageError(
        message: "unknown role \(word); use owner, policy, support, auditor, or application")
    }
    return try await Instance.use(arguments) { instance in
      do {
        let created = try await instance.identity.serviceTokens.create(
          project: ID(project), tenant: arguments.value("tenant").map { ID($0) }, role: role,
          name: arguments.value("name") ?? word, maker: .commandLine)
        Terminal.say(created.secret.revealedText)
        Terminal.complain("Token \(created.token.id) (\(word)). It won't be shown again.")
        return 0
      } catch ServiceTokenError.scopeNotFound {
        throw ConfigurationError("Project or tenant not found.")
      } catch ServiceTokenError.invalidName {
        throw ConfigurationError("The name must be 1 to 100 characters long.")
      }
    }
  }
}

/// Lists the service tokens of a project.
enum TokenListCommand: ProjectList {
  static let name = "token list"
  static let summary = "lists the service tokens of a project"

  static func list(_ project: ID<Project>, _ identity: Identity) async throws {
    for token in try await identity.serviceTokens.list(project) {
      let scope = token.tenant.map { "\(token.project)/\($0)" } ?? token.project.text
      say(
        token.id.text, token.role.rawValue, scope, token.name, revokedAt: token.revokedAt)
    }
  }
}

/// Revokes a service token.
enum TokenRevokeCommand: ProjectRevocation {
  static let name = "token revoke"
  static let summary = "revokes a service token immediately"
  static let noun = "token"

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
