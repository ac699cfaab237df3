#if PostgreSQL
  import Crypto
  import Database
  import DatabasePostgreSQL
  import DatabaseSQLite
  import Foundation
  import Identity
  import Localization

  /// What a move reads and fills: the file of a data folder and a database on a server.
  struct MovePlan: Sendable {
    /// The folder with the file, and with the master key of both databases.
    let folder: DataFolder
    let address: PostgreSQLAddress
    /// The address as it was given.
    let addressText: String
    let passwordFile: String?
    /// Whether the file is moved to the server, instead of the other way around.
    let isToServer: Bool

    /// Parses the options.
    ///
    /// - Throws: `UsageError` unless one is a folder and the other an address.
    init(_ arguments: Arguments) throws {
      let (from, to) = (try arguments.required("from"), try arguments.required("to"))
      guard Self.isAddress(from) != Self.isAddress(to) else {
        throw UsageError(Message("cli.move-needs-a-folder-and-an-address"))
      }
      isToServer = Self.isAddress(to)
      addressText = isToServer ? to : from
      do throws(PostgreSQLAddress.Malformed) {
        address = try PostgreSQLAddress(addressText)
      } catch {
        throw ConfigurationError(error.problem(of: isToServer ? "to" : "from"))
      }
      folder = DataFolder(path: isToServer ? from : to)
      passwordFile = DatabaseLocation.passwordFile(arguments)
    }

    private static func isAddress(_ text: String) -> Bool { text.contains("://") }

    var source: String { isToServer ? folder.database : "\(address)" }
    var destination: String { isToServer ? "\(address)" : folder.database }

    /// The options of a command that uses the source.
    var sourceOptions: String {
      isToServer ? "--data \(folder.path)" : "--data \(folder.path) --database '\(addressText)'"
    }

    /// Checks that the folder has a database to move, or none in the way.
    func checkFolder() throws {
      guard !isToServer else { return try folder.mustHoldInstance() }
      let found = folder.databaseFiles.first(where: FileManager.default.fileExists)
      guard let found else { return }
      throw ConfigurationError(Message("cli.folder-has-a-database", ["file": .text(found)]))
    }

    /// Moves the instance, or only reads it.
    ///
    /// - Returns: What was moved.
    /// - Throws: ``MoveError``, `DatabaseError`, ``ConfigurationError``.
    func run(_ keys: KeyRing, isDry: Bool) async throws -> MoveInventory {
      let server = try await openServer(isDry: isDry)
      do {
        let inventory =
          isToServer
          ? try await moveToServer(server, keys, isDry: isDry)
          : try await moveToFile(server, keys, isDry: isDry)
        await server.close()
        return inventory
      } catch {
        await server.close()
        throw error
      }
    }

    private func openServer(isDry: Bool) async throws(ConfigurationError) -> PostgreSQLDatabase {
      do {
        // A transaction waits while indexes are created in the other database.
        return try await PostgreSQLDatabase(
          address, passwordFile: passwordFile, readers: 1, writers: 1,
          idleTimeout: .seconds(86_400), writeIdleTimeout: .seconds(86_400),
          sharesUse: isDry)
      } catch {
        throw ConfigurationError(opening: "\(address)", error)
      }
    }

    private func moveToServer(
      _ server: PostgreSQLDatabase, _ keys: KeyRing, isDry: Bool
    ) async throws -> MoveInventory {
      // Before the source is read, which takes long.
      try await server.read { try InstanceMove.checkEmpty($0, isAlone: !isDry) }
      let file: ReadOnlySQLiteDatabase
      do { file = try ReadOnlySQLiteDatabase(path: folder.database) } catch {
        throw MoveError.failed(error)
      }
      do {
        let inventory = try await file.snapshot {
          let inventory = try await inspect(file, keys, for: .postgreSQL, isDry: isDry)
          guard !isDry else { return inventory }
          try await server.transaction { transaction in
            try await fill(transaction, from: file, inventory)
          }
          return inventory
        }
        await file.close()
        return inventory
      } catch {
        await file.close()
        throw error
      }
    }

    private func moveToFile(
      _ server: PostgreSQLDatabase, _ keys: KeyRing, isDry: Bool
    ) async throws -> MoveInventory {
      try await server.snapshot {
        let inventory = try await inspect(server, keys, for: .sqlite, isDry: isDry)
        guard !isDry else { return inventory }
        try await fillFile(from: server, inventory)
        return inventory
      }
    }

    /// Fills a file in a separate folder, and moves it to its place when it's complete.
    private func fillFile(from server: PostgreSQLDatabase, _ inventory: MoveInventory) async throws
    {
      let draft = folder.moveDraft
      let files = FileManager.default
      // What an interrupted move left.
      if files.fileExists(atPath: draft) { try files.removeItem(atPath: draft) }
      defer { try? files.removeItem(atPath: draft) }
      try DurableFiles.createFolder(draft)
      let copy = DataFolder(path: draft)
      let database = try SQLiteDatabase(path: copy.database)
      do {
        try await fill(database, from: server, inventory)
        try await database.checkpoint()
        await database.close()
      } catch {
        await database.close()
        throw error
      }
      try DurableFiles.sync(copy.database)
      try DurableFiles.move(copy.database, to: folder.database)
      do { try DurableFiles.sync(folder.path) } catch { throw MoveError.unconfirmed(error) }
    }

    private func inspect(
      _ source: any Database, _ keys: KeyRing, for destination: Dialect, isDry: Bool
    ) async throws -> MoveInventory {
      let line = ProgressLine { Message("cli.reading-rows", ["table": $0, "rows": $1]) }
      defer { line.end() }
      return try await InstanceMove.inspect(
        source, keys: keys, for: destination, isAlone: !isDry, progress: line.show)
    }

    private func fill(
      _ destination: any DatabaseWriter, from source: any Database, _ inventory: MoveInventory
    ) async throws {
      let line = ProgressLine { Message("cli.writing-rows", ["table": $0, "rows": $1]) }
      defer { line.end() }
      try await InstanceMove.fill(
        destination, from: source, inventory, at: WallClock.system.now(), progress: line.show)
    }
  }
#endif
