import Identity
import IdentityToolkitClient
import JSON
import Localization
import MailText

enum ConnectionAddCommand: Command {
  static let name = "connection add"
  static let summary = Message(
    """
    connects a project of Identity Platform or another Countersign, after the checks of \
    connection check
    """)
  static let options =
    [ConfigurationFile.option] + Instance.options + NamedConnection.options + [
      Option(
        "id", "LOCAL", variable: false,
        help: Message("The ID of the project here (default: the one there)."))
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let named = try NamedConnection(arguments)
    let id = arguments.value("id") ?? named.new.remote.id
    return try await Instance.use(arguments, remoteClients: named.outbound.remoteClients) {
      instance in
      var new = named.new
      new.localID = arguments.value("id")
      try await instance.identity.connections.check(&new) { named.say($0) }
      var added: ProjectConnection?
      do {
        if new.check?.hasPassed == true {
          added = try await instance.identity.connections.add(
            new, by: .program(Author(actor: .commandLine))
          ).value
        }
      } catch let error as ConnectionError {
        throw ConfigurationError(error.message(at: new.remote))
      } catch let error as PoolError {
        throw PoolCommands.error(error, project: id)
      }
      if let check = new.check { named.say(check, added: added?.project.text) }
      guard let added else { return 1 }
      Terminal.complain(
        Message(
          "Connected the project {project}. A running server reads it now.",
          ["project": .text(added.project.text)]))
      return 0
    }
  }
}

enum ConnectionListCommand: Command {
  static let name = "connection list"
  static let summary = Message(
    "lists the connected projects, their states, when they were read, and what is wrong")
  static let options = Instance.options + [NamedConnection.json]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let isDocument = arguments.has("json")
    return try await Instance.use(arguments) { instance in
      let connections = instance.identity.connections
      let readAt = try await connections.readAt()
      let all = try await connections.list()
      let rows = all.map { one -> [(String, String?)] in
        [
          ("project", one.project.text), ("kind", one.remote.kind.rawValue),
          ("remoteProject", one.remote.id), ("url", one.remote.url),
          ("access", one.access.rawValue), ("state", one.state.rawValue),
          ("readAt", readAt[one.project]?.rfc3339),
          ("message", one.causeText.map(OperatorText.string)), ("detail", one.detail),
        ]
      }
      guard isDocument else {
        for row in rows { Terminal.say(columns: row.map { $0.1 ?? "-" }) }
        return 0
      }
      var objects: [JSON] = []
      for (one, row) in zip(all, rows) {
        var members = row.map { name, value -> (String, JSON) in
          (name, value.map { .string($0) } ?? .null)
        }
        let faults = try await connections.pools(of: one.project).reduce(0) { $0 + $1.faults }
        members.append(("usersNotStored", .number(JSON.Number(faults))))
        objects.append(.object(JSON.Object(members)))
      }
      Terminal.say(document: String(decoding: JSON.array(objects).indented(), as: UTF8.self))
      return 0
    }
  }
}

enum ConnectionRemoveCommand: ProjectCommand {
  static let name = "connection remove"
  static let summary = Message(
    """
    disconnects a project: deletes its users and the credential here, and changes nothing at the \
    other server
    """)

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let project = try arguments.required("project")
    return try await Instance.use(arguments) { instance in
      let pool = try await instance.pool(project, tenant: nil, needs: .connection)
      _ = try await instance.identity.connections.end(
        pool, by: .program(Author(actor: .commandLine)))
      Terminal.say(Message("Disconnected the project {project}.", ["project": .text(project)]))
      return 0
    }
  }
}
