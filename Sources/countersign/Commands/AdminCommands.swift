import Crypto
import Foundation
import Identity

/// Makes an administrator; the password comes on standard input.
enum AdminCreateCommand: Command {
  static let name = "admin create"
  static let summary = "makes an administrator; reads the password from standard input"
  static let options = [
    Instance.dataOption,
    Option("email", "E", variable: false, help: "The address they sign in with."),
    Option("name", "NAME", variable: false, help: "Their name; the address when left out."),
    Option("role", "ROLE", variable: false, help: "owner, policy, support or auditor."),
    Option("project", "P", variable: false, help: "Where; the whole instance when left out."),
    Option("tenant", "T", variable: false, help: "One tenant of the project."),
  ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let email = try arguments.required("email")
    let word = try arguments.required("role")
    guard let role = Role(rawValue: word) else {
      throw UsageError(message: "\(word) is no role; use owner, policy, support or auditor")
    }
    if arguments.has("tenant"), !arguments.has("project") {
      throw UsageError(message: "--tenant needs --project")
    }
    let grant = Grant(
      role: role, project: arguments.value("project").map { ID($0) },
      tenant: arguments.value("tenant").map { ID($0) })
    return try await Instance.use(arguments) { instance in
      guard let password = readLine(strippingNewline: true), !password.isEmpty else {
        throw UsageError(message: "no password came on standard input")
      }
      do {
        let administrator = try await instance.identity.administrators.create(
          email: email, displayName: arguments.value("name") ?? email,
          password: Secret(password), grant: grant, by: Author(actor: .commandLine))
        Terminal.say("Made \(administrator.email), \(grant.words).")
        return 0
      } catch {
        throw ConfigurationError(sentence(error))
      }
    }
  }

  private static func sentence(_ error: any Error) -> String {
    guard let error = error as? AdministratorError else { return "\(error)" }
    return switch error {
    case .emailTaken: "There is an administrator with that address already."
    case .invalidEmail: "That is not an e-mail address."
    case .invalidName: "The name must have 1 to 100 characters."
    case .weakPassword(let why): "The password is too weak. \(why)"
    case .scopeNotFound: "There is no such project or tenant."
    case .busy: "Too many passwords are being hashed. Try again."
    case .unavailable(let failure): "The database cannot do it: \(failure)"
    }
  }
}

/// Lists administrators and what they may do.
enum AdminListCommand: Command {
  static let name = "admin list"
  static let summary = "lists administrators and their grants"
  static let options = [Instance.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      let administrators = try await instance.identity.administrators.list()
      for administrator in administrators {
        let grants = administrator.grants.map(\.words).joined(separator: ", ")
        Terminal.say("\(administrator.email)\t\(administrator.displayName)\t\(grants)")
      }
      if administrators.isEmpty { Terminal.complain("There is no administrator yet.") }
      return 0
    }
  }
}
