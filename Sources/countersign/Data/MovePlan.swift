#if PostgreSQL
  import Crypto
  import Database
  import DatabasePostgreSQL
  import DatabaseSQLite
  import Identity
  import Localization

  /// What a move reads, the file of a data folder, and fills, a database on a server.
  struct MovePlan: Sendable {
    /// The folder with the file, and with the master key of both databases.
    let folder: DataFolder
    let address: PostgreSQLAddress
    let addressText: String
    let passwordFile: String?

    /// - Throws: `UsageError` if the folder is an address; ``ConfigurationError``.
    init(_ arguments: Arguments) throws {
      let from = try arguments.required("from")
      addressText = try arguments.required("to")
      guard !from.contains("://") else {
        throw UsageError(Message("--from must be a data folder"))
      }
      do throws(PostgreSQLAddress.Malformed) {
        address = try PostgreSQLAddress(addressText)
      } catch {
        throw ConfigurationError(error.problem(of: "to"))
      }
      folder = DataFolder(path: from)
      passwordFile = DatabaseLocation.passwordFile(arguments)
    }

    /// Moves the instance, or only reads it.
    ///
    /// - Throws: ``MoveError``, `DatabaseError`, ``ConfigurationError``.
    func run(_ keys: KeyRing, isDry: Bool) async throws -> MoveInventory {
      let server = try await openServer(isDry: isDry)
      return try await server.closing { try await move(to: server, keys, isDry: isDry) }
    }

    private func openServer(isDry: Bool) async throws(ConfigurationError) -> PostgreSQLDatabase {
      do {
        // A transaction waits while indexes are created in the other database.
        return try await PostgreSQLDatabase(
          address, passwordFile: passwordFile, readers: 1, writers: 1,
          writeIdleTimeout: .seconds(86_400), sharesUse: isDry)
      } catch {
        throw ConfigurationError(opening: "\(address)", error)
      }
    }

    private func move(
      to server: PostgreSQLDatabase, _ keys: KeyRing, isDry: Bool
    ) async throws -> MoveInventory {
      // Before the source is read, which takes long.
      try await server.read { try InstanceMove.checkEmpty($0, isAlone: !isDry) }
      let file: ReadOnlySQLiteDatabase
      do { file = try ReadOnlySQLiteDatabase(path: folder.database) } catch {
        throw MoveError.failed(error)
      }
      return try await file.closing {
        try await file.snapshot {
          let inventory = try await inspect(file, keys)
          guard !isDry else { return inventory }
          try await server.transaction { transaction in
            try await fill(transaction, from: file, inventory)
          }
          return inventory
        }
      }
    }

    private func inspect(
      _ source: any Database, _ keys: KeyRing
    ) async throws -> MoveInventory {
      let line = ProgressLine {
        Message("Reading {table}: {rows} rows", ["table": $0, "rows": $1])
      }
      defer { line.end() }
      return try await InstanceMove.inspect(source, keys: keys, progress: line.show)
    }

    private func fill(
      _ destination: any DatabaseWriter, from source: any Database, _ inventory: MoveInventory
    ) async throws {
      let line = ProgressLine {
        Message("Writing {table}: {rows} rows", ["table": $0, "rows": $1])
      }
      defer { line.end() }
      try await InstanceMove.fill(
        destination, from: source, inventory, at: WallClock.system.now(), progress: line.show)
    }
  }
#endif
