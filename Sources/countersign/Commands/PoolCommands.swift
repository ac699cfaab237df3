import Identity
import Localization

enum ProjectCreateCommand: Command {
  static let name = "project create"
  static let summary = Message("cli.summary-creates-a-project")
  static let operands = "ID"
  static let options =
    Instance.options + [
      Option("name", "NAME", variable: false, help: Message("cli.help-name-default-the-id"))
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let id = try arguments.operand(Message("cli.the-id-of-a-project"))
    return try await Instance.use(arguments) { instance in
      do throws(UserPoolError) {
        let project = try await instance.identity.pools.createProject(
          id: id, displayName: arguments.value("name") ?? id, by: Author(actor: .commandLine))
        Terminal.say(
          Message("cli.created-project", ["project": .text(project.scope.project.text)]))
        return 0
      } catch {
        throw PoolCommands.error(error, project: id)
      }
    }
  }
}

enum ProjectListCommand: Command {
  static let name = "project list"
  static let summary = Message("cli.summary-lists-projects")
  static let options = Instance.options

  static func run(_ arguments: Arguments) async throws -> Int32 {
    try await Instance.use(arguments) { instance in
      let projects = try await instance.identity.pools.everyProject()
      for project in projects {
        Terminal.say(columns: [project.id.text, "\(project.number)", project.displayName])
      }
      if projects.isEmpty { Terminal.complain(Message("cli.there-are-no-projects-yet")) }
      return 0
    }
  }
}

enum TenantCreateCommand: ProjectCommand {
  static let name = "tenant create"
  static let summary = Message("cli.summary-creates-a-tenant")
  static let operands = "NAME"

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    let name = try arguments.operand(Message("cli.the-name-of-a-tenant"))
    return try await Instance.use(arguments) { instance in
      do throws(UserPoolError) {
        let tenant = try await instance.identity.pools.createTenant(
          in: ID(project), .newTenant(named: name), by: Author(actor: .commandLine))
        Terminal.say(
          Message("cli.created-tenant", ["tenant": .text(tenant.scope.tenant?.text ?? "")]))
        return 0
      } catch {
        throw PoolCommands.error(error, project: project)
      }
    }
  }
}

enum TenantListCommand: ProjectList {
  static let name = "tenant list"
  static let summary = Message("cli.summary-lists-tenants")

  static func list(_ project: ID<Project>, _ identity: Identity) async throws -> Bool {
    var next: String?
    var isEmpty = true
    repeat {
      let page = try await identity.pools.tenants(project: project, after: next)
      for tenant in page.items {
        Terminal.say(columns: [tenant.scope.tenant?.text ?? "", tenant.displayName])
      }
      isEmpty = isEmpty && page.items.isEmpty
      next = page.next
    } while next != nil
    return !isEmpty
  }
}

enum PoolCommands {
  static func error(_ error: UserPoolError, project: String) -> any Error {
    let name = Message.Value.text(project)
    return switch error {
    case .projectNotFound: ConfigurationError(Message("cli.project-not-found", ["project": name]))
    case .invalidProjectID: ConfigurationError(Message("cli.project-id-invalid"))
    case .projectIDTaken:
      ConfigurationError(Message("cli.project-id-taken", ["project": name]))
    case .invalidProjectName: ConfigurationError(Message("cli.project-name-invalid"))
    case .missingTenantName, .invalidTenantName:
      ConfigurationError(Message("cli.tenant-name-invalid"))
    case .multiTenancyOff:
      ConfigurationError(Message("cli.project-has-no-tenants", ["project": name]))
    default: error
    }
  }
}
