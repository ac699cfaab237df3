import Database
import DatabaseSQLite
import Foundation
import Host
import Localization

protocol InstanceDatabase: Database {
  /// Returns whether the disk of the database's server has space, as far as is known.
  func hasSpace() async -> Bool
  /// Returns the settings of the database's server; nil for a file.
  func serverSettings() async throws -> ServerSettings?
  /// Tells someone, from now on, about what took long on the database's server.
  func tellSlowUse(_ listener: @escaping @Sendable (SlowUse) -> Void)
  /// Tells them what has been running for a second or longer; returns what a file's writer has.
  func tellRunning() -> SlowUse?
  /// Whether something is running that may take long.
  var isRunning: Bool { get }
  /// Completes the writes in progress, and closes the database.
  func close() async
}

extension InstanceDatabase {
  /// Runs a closure and closes the database, whether or not the closure throws.
  nonisolated(nonsending) func closing<T, E: Error>(
    _ body: nonisolated(nonsending) () async throws(E) -> T
  ) async throws(E) -> T {
    do throws(E) {
      let result = try await body()
      await close()
      return result
    } catch {
      await close()
      throw error
    }
  }

  /// The space of a file is that of its folder.
  func hasSpace() async -> Bool { true }
  /// A file has no server.
  func serverSettings() async throws -> ServerSettings? { nil }
  func tellSlowUse(_ listener: @escaping @Sendable (SlowUse) -> Void) {}
  func tellRunning() -> SlowUse? { nil }
  var isRunning: Bool { false }
}

extension SQLiteDatabase: InstanceDatabase {
  func tellRunning() -> SlowUse? { slowUse() }
}
extension ReadOnlySQLiteDatabase: InstanceDatabase {}

enum DatabaseLocation: Sendable, Equatable {
  case file
  /// A PostgreSQL server; the password is in a file, if there's one.
  case server(ServerAddress, passwordFile: String?)

  static let url = Option(
    "database", "URL",
    help: Message(
      """
      The database on a PostgreSQL server, postgresql://user@host:port/name (default: a file in \
      the data folder).
      """))
  static let passwordFile = Option(
    "database-password-file", "FILE",
    help: Message(
      """
      File with the database user's password on its first line (default: the systemd credential \
      database-password).
      """))
  /// The credential of the systemd unit that can contain the password.
  static let credential = "database-password"

  /// Returns the file with the password: the one that the option names, or else the credential; nil
  /// when there's neither.
  static func passwordFile(
    _ arguments: Arguments, environment: [String: String] = ProcessInfo.processInfo.environment
  ) -> String? {
    if let file = arguments.value(passwordFile.name) { return file }
    guard let folder = environment["CREDENTIALS_DIRECTORY"] else { return nil }
    let file = "\(folder)/\(credential)"
    return FileManager.default.fileExists(atPath: file) ? file : nil
  }

  /// - Throws: `ConfigurationError` with all problems.
  init(_ arguments: Arguments) throws(ConfigurationError) {
    var problems = ConfigurationProblems(arguments)
    let known = problems.count
    self.init(arguments, problems: &problems)
    guard problems.count == known else {
      throw ConfigurationError(Array(problems.messages.dropFirst(known)))
    }
  }

  init(_ arguments: Arguments, problems: inout ConfigurationProblems) {
    self = .file
    guard let text = arguments.value(Self.url.name) else {
      if arguments.value(Self.passwordFile.name) != nil {
        problems.append(
          Message("--{name} requires --database.", ["name": .text(Self.passwordFile.name)]),
          of: Self.passwordFile.name)
      }
      return
    }
    do throws(ServerAddress.Malformed) {
      self = .server(
        try ServerAddress(text), passwordFile: Self.passwordFile(arguments))
    } catch {
      problems.append(error.problem, of: Self.url.name)
    }
  }

  /// Checks that a command isn't used with a database on a server.
  static func mustBeFile(
    _ arguments: Arguments, command: String
  ) throws(ConfigurationError) {
    guard try DatabaseLocation(arguments) == .file else {
      throw ConfigurationError(
        Message(
          """
          countersign {command} is only for a database in the data folder. Use the tools of \
          PostgreSQL, such as pg_dump and pg_restore, for a database on a server.
          """, ["command": .text(command)]))
    }
  }
}

extension DataFolder {
  var isOnServer: Bool { location != .file }

  /// Returns the folder and the database that a command's options name.
  ///
  /// - Throws: `UsageError` without a folder; `ConfigurationError` for an invalid address.
  init(_ arguments: Arguments) throws {
    try self.init(path: arguments.required("data"), location: DatabaseLocation(arguments))
  }

  /// Checks that there's a master key, without which the database on a server isn't readable.
  func mustHoldKey() throws(ConfigurationError) {
    let isPassed = PassedKey(environment: ProcessInfo.processInfo.environment) != nil
    guard !isPassed, !FileManager.default.fileExists(atPath: key) else { return }
    throw ConfigurationError(
      Message(
        """
        {key} is missing, and the database was encrypted with it. Put the key back, or set it in \
        {variable}. A new key can't decrypt the existing data.
        """,
        ["key": .text(key), "variable": .text(PassedKey.variable)]))
  }

  func open() async throws(ConfigurationError) -> any InstanceDatabase {
    guard case .server(let address, let passwordFile) = location else { return try openFile() }
    do {
      return try await address.open(passwordFile: passwordFile, sharesUse: !isAlone)
    } catch {
      throw ConfigurationError(opening: "\(address)", error)
    }
  }

  func openForReading() async throws(ConfigurationError) -> any InstanceDatabase {
    guard !isOnServer else { return try await open() }
    do { return try ReadOnlySQLiteDatabase(path: database) } catch {
      throw ConfigurationError(opening: database, error)
    }
  }
}

/// The database file that the server has open, and where it was opened.
///
/// A process can write a file that was deleted or moved; nobody else sees what it writes, and with
/// the process the file is gone.
struct OpenedDatabaseFile: Sendable {
  let path: String
  private let opened: FileStamp

  /// Remembers the file of a database that was just opened; nil for a database on a server.
  init?(_ folder: DataFolder) {
    guard !folder.isOnServer, let stamp = FileStamp(of: folder.database) else { return nil }
    (path, opened) = (folder.database, stamp)
  }

  var isInPlace: Bool { FileStamp(of: path)?.isSameFile(as: opened) == true }
}
