import Crypto
import Foundation
import Identity
import Localization
import MailText

/// Creates an administrator, with a password from the terminal or standard input.
enum AdminCreateCommand: Command {
  static let name = "admin create"
  static let summary =
    "creates an administrator; prompts for the password, or reads it from standard input"
  static let options = [
    Instance.dataOption,
    Option("email", "E", variable: false, help: "The administrator's email address."),
    Option(
      "name", "NAME", variable: false, help: "Display name (default: the email address)."),
    Option("role", "ROLE", variable: false, help: "\(roles)."),
    Option(
      "project", "P", variable: false,
      help: "Grant the role in this project only (default: the whole instance)."),
    Option(
      "tenant", "T", variable: false, help: "Grant the role in this tenant of the project only."),
  ]

  private static var roles: String {
    let names = Role.allCases.map(\.rawValue)
    return "\(names.dropLast().joined(separator: ", ")), or \(names.last ?? "")"
  }

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let email = try arguments.required("email")
    let word = try arguments.required("role")
    guard let role = Role(rawValue: word) else {
      throw UsageError(message: "unknown role \(word); use \(roles)")
    }
    if arguments.has("tenant"), !arguments.has("project") {
      throw UsageError(message: "--tenant requires --project")
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
        Terminal.say("Created \(administrator.email), \(grant.text).")
        return 0
      } catch {
        throw ConfigurationError(sentence(error, instance))
      }
    }
  }

  private static func sentence(_ error: any Error, _ instance: Instance) -> String {
    guard let error = error as? AdministratorError else { return "\(error)" }
    return switch error {
    case .emailTaken: "An administrator with this email address already exists."
    case .invalidEmail: "Enter a valid email address."
    case .invalidName: "The name must be 1 to 100 characters long."
    case .weakPassword(let why): AdminCommands.tooWeak(why, instance)
    case .scopeNotFound: "Project or tenant not found."
    case .busy: "Too many passwords are being hashed. Try again."
    case .unavailable(let failure): "Database error: \(failure)"
    }
  }
}

/// Lists administrators and their roles.
enum AdminListCommand: Command {
  static let name = "admin list"
  static let summary = "lists administrators, their roles, and whether they have a second factor"
  static let options = [Instance.dataOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      let records = try await instance.identity.administrators.records()
      for record in records {
        let administrator = record.administrator
        let grants = administrator.grants.map(\.text).joined(separator: ", ")
        let factor = record.hasSecondFactor ? "second factor" : "no second factor"
        Terminal.say("\(administrator.email)\t\(administrator.displayName)\t\(grants)\t\(factor)")
      }
      if records.isEmpty { Terminal.complain("There are no administrators yet.") }
      return 0
    }
  }
}

/// Resets an administrator's password to one from the terminal or standard input.
enum AdminResetPasswordCommand: Command {
  static let name = "admin reset-password"
  static let summary =
    "resets an administrator's password, read from standard input; ends their sessions"
  static let options = [Instance.dataOption, AdminCommands.emailOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let email = try arguments.required("email")
    return try await Instance.use(arguments) { instance in
      let password = try PasswordPrompt.read()
      let administrator = try await AdminCommands.find(email, instance)
      do {
        try await instance.identity.ownAccount.resetPassword(
          of: administrator, new: password, by: Author(actor: .commandLine))
        Terminal.say("Reset the password of \(administrator.email) and ended their sessions.")
        return 0
      } catch PasswordChangeError.weakPassword(let why) {
        throw ConfigurationError(AdminCommands.tooWeak(why, instance))
      } catch PasswordChangeError.notFound {
        throw ConfigurationError(AdminCommands.unknownEmail)
      }
    }
  }
}

/// Removes an administrator's second factor, for when no other administrator can.
enum AdminResetTOTPCommand: Command {
  static let name = "admin reset-totp"
  static let summary =
    "removes an administrator's second factor and recovery codes; ends their sessions"
  static let options = [Instance.dataOption, AdminCommands.emailOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let email = try arguments.required("email")
    return try await Instance.use(arguments) { instance in
      let administrator = try await AdminCommands.find(email, instance)
      do {
        try await instance.identity.administratorFactors.reset(
          administrator.id, by: Author(actor: .commandLine))
        Terminal.say(
          "Removed the second factor of \(administrator.email) and ended their sessions.")
        return 0
      } catch ManagementError.notFound {
        throw ConfigurationError("\(administrator.email) has no second factor.")
      }
    }
  }
}

/// Unblocks a support agent who hit the hourly action limit, for when no other owner can.
enum AdminReleaseCommand: Command {
  static let name = "admin release"
  static let summary = "unblocks an administrator who hit the hourly action limit"
  static let options = [Instance.dataOption, AdminCommands.emailOption]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let email = try arguments.required("email")
    return try await Instance.use(arguments) { instance in
      let administrator = try await AdminCommands.find(email, instance)
      let support = instance.identity.support
      let held = try await support.held().filter { $0.agent == administrator.id }
      guard !held.isEmpty else {
        throw ConfigurationError("\(administrator.email) isn't blocked.")
      }
      for place in held {
        try await support.release(
          administrator.id, in: place.scope, by: Author(actor: .commandLine))
      }
      Terminal.say("Unblocked \(administrator.email).")
      return 0
    }
  }
}

/// Options and lookups shared by the commands that act on one administrator.
enum AdminCommands {
  static let emailOption = Option(
    "email", "E", variable: false, help: "The administrator's email address.")
  static let unknownEmail = "No administrator has this email address."

  static func tooWeak(_ why: WeakPassword, _ instance: Instance) -> String {
    "The password is too weak. \(instance.catalogs[0].text(why.message))"
  }

  static func find(_ email: String, _ instance: Instance) async throws -> Administrator {
    do {
      return try await instance.identity.administrators.record(email: email).administrator
    } catch {
      guard case .notFound = error else { throw error }
      throw ConfigurationError(unknownEmail)
    }
  }
}
