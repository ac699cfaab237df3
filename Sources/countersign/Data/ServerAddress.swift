import Database
import Localization

#if PostgreSQL
  import DatabasePostgreSQL

  extension PostgreSQLDatabase: InstanceDatabase {
    func serverSettings() async throws -> ServerSettings? { try await settings() }

    func tellRunning() -> SlowUse? {
      tellSlowStatements()
      return nil
    }
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

    func open(passwordFile: String?, sharesUse: Bool) async throws -> any InstanceDatabase {
      // A server that hangs is given up five seconds after it should have ended a statement.
      try await PostgreSQLDatabase(
        address, passwordFile: passwordFile,
        statementTimeout: NetworkConfiguration.longestRequest - .seconds(6), sharesUse: sharesUse)
    }
  }

  extension PostgreSQLAddress.Malformed {
    func problem(of option: String) -> Message {
      let reason: Message
      switch self {
      case .password:
        return Message(
          """
          --{name} must not contain the password, since other users of this machine could read \
          it. Use --database-password-file.
          """, ["name": .text(option)])
      case .scheme: reason = Message("It must begin with postgresql://.")
      case .database: reason = Message("It must end with the name of one database.")
      case .host:
        reason = Message(
          "A host must be a name, an IP address, or the path of a folder. There can be up to 8.")
      case .port: reason = Message("The port must be a number from 1 to 65535.")
      case .encoding: reason = Message("It contains characters that must be percent-encoded.")
      case .parameter(let name):
        reason = Message("The parameter {name} isn't supported.", ["name": .text(name)])
      case .repeated(let name):
        reason = Message("The parameter {name} is given twice.", ["name": .text(name)])
      case .value(let name):
        reason = Message("The parameter {name} can't have this value.", ["name": .text(name)])
      }
      return Message(
        "--{name} isn't an address like postgresql://user@host:port/name. {reason}",
        ["name": .text(option), "reason": .message(reason)])
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
        "This build has no support for PostgreSQL, so --{name} can't be used.",
        ["name": .text(DatabaseLocation.url.name)]))

    init(_ text: String) throws(Malformed) { throw Self.malformed }

    func open(passwordFile: String?, sharesUse: Bool) async throws -> any InstanceDatabase {
      throw Self.malformed
    }
  }
#endif
