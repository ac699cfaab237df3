import Identity

/// A command about what a project has, such as its service tokens.
protocol ProjectCommand: Command {}

extension ProjectCommand {
  /// Data folder and project.
  static var options: [Option] {
    [Instance.dataOption, Option("project", "P", variable: false, help: "The project.")]
  }
}

/// A command that lists what a project has of some kind.
protocol ProjectList: ProjectCommand {
  static func list(_ project: ID<Project>, _ identity: Identity) async throws
}

extension ProjectList {
  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = ID<Project>(try arguments.required("project"))
    return try await Instance.use(arguments) { instance in
      try await list(project, instance.identity)
      return 0
    }
  }

  /// Prints a line of the list, its columns apart by tabs.
  static func say(_ columns: String..., revokedAt: Instant?) {
    let state = revokedAt.map { "revoked \($0.rfc3339Milliseconds)" } ?? "in force"
    Terminal.say((columns + [state]).joined(separator: "\t"))
  }
}

/// A command that revokes one thing of a project.
protocol ProjectRevocation: ProjectCommand {
  /// What it revokes, in a sentence.
  static var noun: String { get }

  /// Revokes it; false when the project has none of that id in force.
  static func revoke(_ id: String, of project: ID<Project>, _ identity: Identity) async throws
    -> Bool
}

extension ProjectRevocation {
  static var operands: String { "ID" }

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = ID<Project>(try arguments.required("project"))
    let id = try arguments.operand("the id of one \(noun)")
    return try await Instance.use(arguments) { instance in
      guard try await revoke(id, of: project, instance.identity) else {
        throw ConfigurationError("The project has no such \(noun) in force.")
      }
      Terminal.say("Revoked \(id).")
      return 0
    }
  }
}
