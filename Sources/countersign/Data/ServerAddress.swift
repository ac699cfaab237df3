import Database
import Localization

#if PostgreSQL
  import DatabasePostgreSQL

  extension PostgreSQLDatabase: InstanceDatabase {}

  /// The address of a database on a server.
  struct ServerAddress: Sendable, Equatable, CustomStringConvertible {
    /// The commands that need a database on a server.
    static let commands: [any Command.Type] = [MoveCommand.self]

    /// What's wrong with the option.
    struct Malformed: Error {
      let problem: Message
    }

    fileprivate let address: PostgreSQLAddress

    var description: String { address.description }

    /// Parses the value of an option.
    init(_ text: String, of option: String) throws(Malformed) {
      do throws(PostgreSQLAddress.Malformed) {
        address = try PostgreSQLAddress(text, ofReplica: option == ReplicaLocation.url.name)
      } catch {
        throw Malformed(problem: error.problem(of: option))
      }
    }

    /// Opens the database.
    func open(
      passwordFile: String?, replica: ReplicaLocation?
    ) async throws -> any InstanceDatabase {
      let settings = replica.map { replica in
        ReplicaSettings(
          replica.address.address, mostSecondsBehind: replica.mostSecondsBehind,
          report: replica.report)
      }
      return try await PostgreSQLDatabase(address, passwordFile: passwordFile, replica: settings)
    }
  }

  extension PostgreSQLAddress.Malformed {
    /// What's wrong with an option that has the text, for operators.
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

    init(_ text: String, of option: String) throws(Malformed) {
      throw Self.malformed(option)
    }

    private static func malformed(_ option: String) -> Malformed {
      Malformed(problem: Message("cli.built-without-postgresql", ["name": .text(option)]))
    }

    func open(
      passwordFile: String?, replica: ReplicaLocation?
    ) async throws -> any InstanceDatabase {
      throw Self.malformed(DatabaseLocation.url.name)
    }
  }
#endif
