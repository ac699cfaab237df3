import Identity
import Localization

enum ProjectCreateCommand: Command {
  static let name = "project create"
  static let summary = Message("creates a project")
  static let operands = "ID"
  static let options =
    Instance.options + [
      Option("name", "NAME", variable: false, help: Message("The name (default: the ID)."))
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let id = try arguments.operand(Message("the ID of a project"))
    return try await Instance.use(arguments) { instance in
      do {
        let project = try await instance.identity.pools.createProject(
          id: id, displayName: arguments.value("name") ?? id,
          by: .program(Author(actor: .commandLine))
        ).value
        Terminal.say(
          Message("Created the project {project}.", ["project": .text(project.pool.project.text)]))
        return 0
      } catch let error as PoolError {
        throw PoolCommands.error(error, project: id)
      }
    }
  }
}

enum ProjectListCommand: Command {
  static let name = "project list"
  static let summary = Message("lists projects: ID, number, and name")
  static let options = Instance.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      let projects = try await instance.identity.pools.everyProject()
      for project in projects {
        Terminal.say(columns: [project.id.text, "\(project.number)", project.displayName])
      }
      if projects.isEmpty { Terminal.complain(Message("There are no projects yet.")) }
      return 0
    }
  }
}

enum TenantCreateCommand: ProjectCommand {
  static let name = "tenant create"
  static let summary = Message("creates a tenant and prints its ID")
  static let operands = "NAME"

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let name = try arguments.operand(Message("the name of a tenant"))
    return try await Instance.use(arguments) { instance in
      do {
        let tenant = try await instance.identity.pools.createTenant(
          in: ID(project), .newTenant(named: name), by: .program(Author(actor: .commandLine))
        ).value
        Terminal.say(
          Message(
            "Created the tenant {tenant}.", ["tenant": .text(tenant.pool.tenant?.text ?? "")]))
        return 0
      } catch let error as PoolError {
        throw PoolCommands.error(error, project: project)
      }
    }
  }
}

enum TenantListCommand: ProjectList {
  static let name = "tenant list"
  static let summary = Message("lists the tenants of a project: ID and name")

  static func list(_ project: ID<Project>, _ identity: Identity) async throws -> Bool {
    var next: String?
    var isEmpty = true
    repeat {
      let page = try await identity.pools.tenants(project: project, after: next)
      for tenant in page.items {
        Terminal.say(columns: [tenant.pool.tenant?.text ?? "", tenant.displayName])
      }
      isEmpty = isEmpty && page.items.isEmpty
      next = page.next
    } while next != nil
    return !isEmpty
  }
}

enum PoolCommands {
  static func error(_ error: PoolError, project: String) -> any Error {
    let name = Message.Value.text(project)
    let message: Message? =
      switch error {
      case .projectNotFound: Instance.notFound(project, tenant: nil)
      case .invalidProjectID:
        Message(
          """
          A project ID has 6 to 30 characters: a to z, 0 to 9, and hyphens, starting with a letter \
          and not ending with a hyphen.
          """)
      case .projectIDTaken:
        Message("The project ID {project} is already in use.", ["project": name])
      case .invalidProjectName:
        Message("The name must be 1 to 100 characters without line breaks.")
      case .missingTenantName, .invalidTenantName:
        Message("A tenant's name has 4 to 20 letters, digits, and hyphens, starting with a letter.")
      case .multiTenancyOff:
        Message("The project {project} doesn't allow tenants.", ["project": name])
      default: nil
      }
    return message.map { ConfigurationError($0) } ?? error
  }
}

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
      try await instance.mustHave(project, needs: .bookkeeping)
      if try await !list(project, instance.identity) {
        Terminal.complain(
          Message("The project {project} has none.", ["project": .text(project.text)]))
      }
      return 0
    }
  }

  static func say(_ columns: String..., revokedAt: Instant?) {
    let state =
      revokedAt.map { Message("revoked {time}", ["time": .text($0.rfc3339Milliseconds)]) }
      ?? Message("active")
    Terminal.say(columns: columns + [OperatorText.string(state)])
  }
}

protocol ProjectRevocation: ProjectCommand {
  static var operand: Message { get }
  static var unknown: Message { get }

  /// Revokes a resource.
  ///
  /// - Throws: An error `notFound` when the project has no active one with this ID.
  static func revoke(_ id: String, of project: ID<Project>, _ identity: Identity) async throws
}

extension ProjectRevocation {
  static var operands: String { "ID" }

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = ID<Project>(try arguments.required("project"))
    let id = try arguments.operand(operand)
    return try await Instance.use(arguments) { instance in
      try await instance.mustHave(project)
      do {
        try await revoke(id, of: project, instance.identity)
      } catch CallError.notFound {
        throw ConfigurationError(unknown)
      }
      Terminal.say(Message("Revoked {id}.", ["id": .text(id)]))
      return 0
    }
  }
}
