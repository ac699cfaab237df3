import Foundation
import Identity

/// Makes a service token and prints it, once.
enum TokenCreateCommand: Command {
  static let name = "token create"
  static let summary = "makes a service token for Authorization: Bearer and prints it once"
  static let options = [
    Instance.dataOption,
    Option("project", "P", variable: false, help: "The project it is for."),
    Option("tenant", "T", variable: false, help: "One tenant of the project, if it is for one."),
    Option(
      "role", "ROLE", variable: false,
      help: "owner, policy, support, auditor, or application for an application's own back end."),
    Option("name", "NAME", variable: false, help: "What it is called in the audit log."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let word = try arguments.required("role")
    guard let role = ServiceTokenRole(rawValue: word) else {
      throw UsageError(
        message: "\(word) is no role; use owner, policy, support, auditor or application")
    }
    return try await Instance.use(arguments) { instance in
      do {
        let made = try await instance.identity.serviceTokens.create(
          project: ID(project), tenant: arguments.value("tenant").map { ID($0) }, role: role,
          name: arguments.value("name") ?? word, maker: .commandLine)
        Terminal.say(made.secret.revealedText)
        Terminal.complain("Token \(made.token.id) (\(word)). It is not shown again.")
        return 0
      } catch ServiceTokenError.scopeNotFound {
        throw ConfigurationError("There is no such project or tenant.")
      } catch ServiceTokenError.invalidName {
        throw ConfigurationError("The name must have 1 to 100 characters.")
      }
    }
  }
}

/// Lists the service tokens of a project.
enum TokenListCommand: Command {
  static let name = "token list"
  static let summary = "lists the service tokens of a project"
  static let options = [
    Instance.dataOption, Option("project", "P", variable: false, help: "The project."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    return try await Instance.use(arguments) { instance in
      for token in try await instance.identity.serviceTokens.list(ID(project)) {
        let scope = token.tenant.map { "\(token.project)/\($0)" } ?? token.project.text
        let state = token.revokedAt.map { "revoked \($0.rfc3339Milliseconds)" } ?? "in force"
        Terminal.say("\(token.id)\t\(token.role.rawValue)\t\(scope)\t\(token.name)\t\(state)")
      }
      return 0
    }
  }
}

/// Revokes a service token.
enum TokenRevokeCommand: Command {
  static let name = "token revoke"
  static let summary = "revokes a service token, at once"
  static let operands = "ID"
  static let options = [
    Instance.dataOption, Option("project", "P", variable: false, help: "The project."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    guard arguments.operands.count == 1 else {
      throw UsageError(message: "it wants the id of one token")
    }
    let id = ID<ServiceToken>(arguments.operands[0])
    return try await Instance.use(arguments) { instance in
      do {
        try await instance.identity.serviceTokens.revoke(
          id, of: ID(project), by: Author(actor: .commandLine))
        Terminal.say("Revoked \(id).")
        return 0
      } catch ServiceTokenError.notFound {
        throw ConfigurationError("The project has no such token in force.")
      }
    }
  }
}
