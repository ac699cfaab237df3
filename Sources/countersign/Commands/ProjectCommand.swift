import Identity

/// A command that acts on a project's resources, such as its service tokens.
protocol ProjectCommand: Command {}

extension ProjectCommand {
  /// The data folder and the project.
  static var options: [Option] {
    [Instance.dataOption, Option("project", "P", variable: false, help: "The project.")]
  }
}

/// A command that lists a project's resources of one kind.
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

  /// Prints one row of the list, with tabs between the columns.
  static func say(_ columns: String..., revokedAt: Instant?) {
    let state = revokedAt.map { "revoked \($0.rfc3339Milliseconds)" } ?? "active"
    Terminal.say((columns + [state]).joined(separator: "\t"))
  }
}

/// A command that revokes one of a project's resources.
protocol ProjectRevocation: ProjectCommand {
  /// The kind of resource, as a noun.
  static var noun: String { get }

  /// Revokes a resource; returns false when the project has no active one with this ID.
  static func revoke(_ id: String, of project: ID<Project>, _ identity: Identity) async throws
    -> Bool
}

extension ProjectRevocation {
  static var operands: String { "ID" }

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = ID<Project>(try arguments.required("project"))
    let id = try arguments.operand("the ID of a \(noun)")
    return try await Instance.use(arguments) { instance in
      guard try await revoke(id, of: project, instance.identity) else {
        throw ConfigurationError("The project has no active \(noun) with this ID.")
      }
      Terminal.say("Revoked \(id).")
      return 0
    }
  }
}
