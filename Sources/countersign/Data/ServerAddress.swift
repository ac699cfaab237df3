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

      fileprivate init(_ error: PostgreSQLAddress.Malformed, of option: String) {
        if case .password = error {
          problem = Message("cli.database-must-not-contain-the-password", ["name": .text(option)])
        } else {
          problem = Message(
            "cli.database-must-be-an-address",
            ["name": .text(option), "reason": .message(error.message)])
        }
      }
    }

    fileprivate let address: PostgreSQLAddress

    var description: String { address.description }

    /// Parses the value of an option.
    init(_ text: String, of option: String) throws(Malformed) {
      do throws(PostgreSQLAddress.Malformed) {
        address = try PostgreSQLAddress(text)
      } catch {
        throw Malformed(error, of: option)
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
    /// The reason, for operators.
    var message: Message {
      switch self {
      case .scheme: Message("cli.database-address-scheme")
      case .password:
        Message(
          "cli.database-must-not-contain-the-password",
          ["name": .text(DatabaseLocation.url.name)])
      case .database: Message("cli.database-address-name")
      case .host: Message("cli.database-address-host")
      case .port: Message("cli.database-address-port")
      case .encoding: Message("cli.database-address-encoding")
      case .parameter(let name): Message("cli.database-address-parameter", ["name": .text(name)])
      case .repeated(let name): Message("cli.database-address-repeated", ["name": .text(name)])
      case .value(let name): Message("cli.database-address-value", ["name": .text(name)])
      }
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
