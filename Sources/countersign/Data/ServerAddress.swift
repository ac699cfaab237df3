import Database
import Localization

#if PostgreSQL
  import DatabasePostgreSQL

  extension PostgreSQLDatabase: InstanceDatabase {
    func serverSettings() async throws -> ServerSettings? { try await settings() }
  }

  struct ServerAddress: Sendable, Equatable, CustomStringConvertible {
    /// The commands that need a database on a server.
    static let commands: [any Command.Type] = [MoveCommand.self]

    struct Malformed: Error {
      let problem: Message
    }

    private let address: PostgreSQLAddress

    var description: String { address.description }

    init(_ text: String) throws(Malformed) {
      do throws(PostgreSQLAddress.Malformed) {
        address = try PostgreSQLAddress(text)
      } catch {
        throw Malformed(problem: error.problem(of: DatabaseLocation.url.name))
      }
    }

    func open(passwordFile: String?) async throws -> any InstanceDatabase {
      try await PostgreSQLDatabase(address, passwordFile: passwordFile)
    }
  }

  extension PostgreSQLAddress.Malformed {
    func problem(of option: String) -> Message {
      let reason: Message
      switch self {
      case .password:
        return Message("cli.database-must-not-contain-the-password", ["name": .text(option)])
      case .scheme: reason = Message("cli.database-address-scheme")
      case .database: reason = Message("cli.database-address-name")
      case .host: reason = Message("cli.database-address-host")
      case .port: reason = Message("cli.database-address-port")
      case .encoding: reason = Message("cli.database-address-encoding")
      case .parameter(let name):
        reason = Message("cli.database-address-parameter", ["name": .text(name)])
      case .repeated(let name):
        reason = Message("cli.database-address-repeated", ["name": .text(name)])
      case .value(let name): reason = Message("cli.database-address-value", ["name": .text(name)])
      }
      return Message(
        "cli.database-must-be-an-address", ["name": .text(option), "reason": .message(reason)])
    }
  }
#else
  /// The address of a database on a server, which a build without PostgreSQL can't open.
  struct ServerAddress: Sendable, Equatable, CustomStringConvertible {
    static let commands: [any Command.Type] = []

    struct Malformed: Error {
      let problem: Message
    }

    let description: String

    private static let malformed = Malformed(
      problem: Message(
        "cli.built-without-postgresql", ["name": .text(DatabaseLocation.url.name)]))

    init(_ text: String) throws(Malformed) { throw Self.malformed }

    func open(passwordFile: String?) async throws -> any InstanceDatabase { throw Self.malformed }
  }
#endif
