import Crypto
import Foundation
import Identity

/// Makes an administrator; the password is typed, or comes on standard input.
enum AdminCreateCommand: Command {
  static let name = "admin create"
  static let summary =
    "makes an administrator; asks for the password, or reads it from standard input"
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
      let password = try PasswordPrompt.read()
      do {
        let administrator = try await instance.identity.administrators.create(
          email: email, displayName: arguments.value("name") ?? email,
          password: password, grant: grant, by: Author(actor: .commandLine))
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
    case .invalidEmail: "That is not an email address."
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
  static let summary = "lists administrators, their grants and second factors"
  static let options = [Instance.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      let records = try await instance.identity.administrators.records()
      for record in records {
        let administrator = record.administrator
        let grants = administrator.grants.map(\.words).joined(separator: ", ")
        let factor = record.hasSecondFactor ? "second factor" : "no second factor"
        Terminal.say("\(administrator.email)\t\(administrator.displayName)\t\(grants)\t\(factor)")
      }
      if records.isEmpty { Terminal.complain("There is no administrator yet.") }
      return 0
    }
  }
}

/// Gives an administrator a new password, which comes on standard input.
enum AdminResetPasswordCommand: Command {
  static let name = "admin reset-password"
  static let summary =
    "gives an administrator a new password, read from standard input; ends their sessions"
  static let options = [Instance.dataOption, AdminCommands.emailOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let email = try arguments.required("email")
    return try await Instance.use(arguments) { instance in
      let password = try PasswordPrompt.read()
      let administrator = try await AdminCommands.find(email, instance)
      do {
        try await instance.identity.ownAccount.resetPassword(
          of: administrator, new: password, by: Author(actor: .commandLine))
        Terminal.say("\(administrator.email) has a new password. Their sessions have ended.")
        return 0
      } catch PasswordChangeError.weakPassword(let why) {
        throw ConfigurationError("The password is too weak. \(why)")
      } catch PasswordChangeError.notFound {
        throw ConfigurationError(AdminCommands.nobody)
      }
    }
  }
}

/// Takes an administrator's second factor away, for when nobody else can.
enum AdminResetTOTPCommand: Command {
  static let name = "admin reset-totp"
  static let summary =
    "takes an administrator's second factor and recovery codes away; ends their sessions"
  static let options = [Instance.dataOption, AdminCommands.emailOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let email = try arguments.required("email")
    return try await Instance.use(arguments) { instance in
      let administrator = try await AdminCommands.find(email, instance)
      do {
        try await instance.identity.administratorFactors.reset(
          administrator.id, by: Author(actor: .commandLine))
        Terminal.say(
          "\(administrator.email) has no second factor any more. Their sessions have ended.")
        return 0
      } catch ManagementError.notFound {
        throw ConfigurationError("\(administrator.email) has no second factor.")
      }
    }
  }
}

/// Lets an administrator act at the desk again, for when no other owner can.
enum AdminReleaseCommand: Command {
  static let name = "admin release"
  static let summary = "lets an administrator act again who did too much in an hour"
  static let options = [Instance.dataOption, AdminCommands.emailOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let email = try arguments.required("email")
    return try await Instance.use(arguments) { instance in
      let administrator = try await AdminCommands.find(email, instance)
      let support = instance.identity.support
      let held = try await support.held().filter { $0.agent == administrator.id }
      guard !held.isEmpty else {
        throw ConfigurationError("\(administrator.email) is not held anywhere.")
      }
      for place in held {
        try await support.release(
          administrator.id, in: place.scope, by: Author(actor: .commandLine))
      }
      Terminal.say("\(administrator.email) may act again.")
      return 0
    }
  }
}

/// What the commands about one administrator share.
enum AdminCommands {
  static let emailOption = Option(
    "email", "E", variable: false, help: "The address they sign in with.")
  static let nobody = "There is no administrator with that address."

  static func find(_ email: String, _ instance: Instance) async throws -> Administrator {
    do {
      return try await instance.identity.administrators.record(email: email).administrator
    } catch {
      guard case .notFound = error else { throw error }
      throw ConfigurationError(nobody)
    }
  }
}
