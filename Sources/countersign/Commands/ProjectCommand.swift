import Identity
import Localization

protocol ProjectCommand: Command {}

extension ProjectCommand {
  static var options: [Option] {
    Instance.options + [
      Option("project", "P", variable: false, help: Message("The project."))
    ]
  }
}

protocol ProjectList: ProjectCommand {
  /// Prints the resources; returns whether there are any.
  static func list(_ project: ID<Project>, _ identity: Identity) async throws -> Bool
}

extension ProjectList {
  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = ID<Project>(try arguments.required("project"))
    return try await Instance.use(arguments) { instance in
      try await instance.mustHave(project)
      if try await !list(project, instance.identity) {
        Terminal.complain(
          Message("The project {project} has none.", ["project": .text(project.text)]))
      }
      return 0
    }
  }

  /// Prints one row of the list, with tabs between the columns.
  static func say(_ columns: String..., revokedAt: Instant?) {
    let state =
      revokedAt.map { Message("revoked {time}", ["time": .text($0.rfc3339Milliseconds)]) }
      ?? Message("active")
    Terminal.say(columns: columns + [OperatorText.string(state)])
  }
}

protocol ProjectRevocation: ProjectCommand {
  /// What the operand is, for the error when it's missing.
  static var operand: Message { get }
  /// The error when the project has no active resource with the ID.
  static var unknown: Message { get }

  /// Revokes a resource; returns false when the project has no active one with this ID.
  static func revoke(_ id: String, of project: ID<Project>, _ identity: Identity) async throws
    -> Bool
}

extension ProjectRevocation {
  static var operands: String { "ID" }

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = ID<Project>(try arguments.required("project"))
    let id = try arguments.operand(operand)
    return try await Instance.use(arguments) { instance in
      try await instance.mustHave(project)
      guard try await revoke(id, of: project, instance.identity) else {
        throw ConfigurationError(unknown)
      }
      Terminal.say(Message("Revoked {id}.", ["id": .text(id)]))
      return 0
    }
  }
}
