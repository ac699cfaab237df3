#if PostgreSQL
  import Crypto
  import Database
  import DatabasePostgreSQL
  import DatabaseSQLite
  import Foundation
  import Identity
  import Localization

  /// Moves an instance from the file in its data folder to a PostgreSQL server.
  enum MoveCommand: Command {
    static let name = "move"
    static let summary = Message("cli.summary-moves-an-instance-to-another-database")
    static let options = [
      Option("from", "DIR", variable: false, help: Message("cli.help-the-database-to-move")),
      Option("to", "URL", variable: false, help: Message("cli.help-the-database-to-move-to")),
      DatabaseLocation.passwordFile,
      Option("dry-run", variable: false, help: Message("cli.help-check-what-would-be-moved")),
    ]

    static func run(_ arguments: Arguments) async throws -> Int32 {
      let move = try MovePlan(arguments)
      try move.folder.mustExistAsFolder()
      let isDry = arguments.has("dry-run")
      let server = isDry ? nil : try move.folder.lock()
      let keys = isDry ? try move.folder.lockKeys() : try move.folder.lockKeysForChange()
      defer {
        keys.release()
        server?.release()
      }
      if let server {
        try move.folder.finishCreation(holding: server)
        try move.folder.finishRestore(holding: server)
      }
      try move.folder.mustHoldInstance()
      let environment = ProcessInfo.processInfo.environment
      guard let ring = try move.folder.existingKey(environment: environment) else {
        throw ConfigurationError(
          Message("cli.theres-no-master-key-for-the-move", ["folder": .text(move.folder.path)]))
      }
      do {
        let inventory = try await move.run(ring, isDry: isDry)
        say(inventory, move, isDry: isDry)
        return 0
      } catch {
        guard error is MoveError || error is DatabaseError else { throw error }
        let error = MoveError(error)
        throw ConfigurationError(error.message(move), isTemporary: error.isTemporary)
      }
    }

    private static func say(_ inventory: MoveInventory, _ move: MovePlan, isDry: Bool) {
      let full = inventory.tables.filter { $0.digest.rows > 0 }
      let width = full.map(\.name.utf8.count).max() ?? 0
      for table in full {
        let space = String(repeating: " ", count: width - table.name.utf8.count)
        Terminal.say(
          Message(
            "cli.rows-of-table",
            ["table": .text(table.name + space), "rows": .number(table.digest.rows)]))
      }
      let rows = Message.Value.number(inventory.rows)
      let tables = Message.Value.number(inventory.tables.count)
      if isDry {
        Terminal.say(
          Message(
            "cli.would-move-rows",
            [
              "rows": rows, "tables": tables, "size": .text(Size.text(inventory.bytes)),
              "seconds": .number(inventory.seconds),
            ]))
        return
      }
      Terminal.say(Message("cli.moved-rows", ["rows": rows, "tables": tables]))
      Terminal.say(
        Message(
          "cli.next-serve-from-the-server",
          [
            "folder": .text(move.folder.path), "address": .text(move.addressText),
            "database": .text(move.folder.database),
          ]))
    }
  }

  extension MoveError {
    fileprivate func message(_ move: MovePlan) -> Message {
      switch self {
      case .source(let fault):
        Message(
          "cli.source-cant-be-moved",
          ["source": .text(move.folder.database), "reason": .message(fault.message)])
      case .notMigrated(let names):
        Message(
          "cli.source-isnt-migrated",
          [
            "source": .text(move.folder.database), "count": .number(names.count),
            "folder": .text(move.folder.path),
          ])
      case .inUse:
        Message("cli.database-is-in-use", ["database": .text("\(move.address)")])
      case .notEmpty(let tables):
        Message(
          "cli.destination-isnt-empty",
          [
            "database": .text("\(move.address)"), "tables": .text(tables.joined(separator: ", ")),
          ])
      case .unstorableText(let table, let column, let key):
        Message(
          "cli.text-with-nul-cant-be-moved",
          ["table": .text(table), "column": .text(column), "key": .text(key)])
      case .unreadableValue(let table, let key, let reason):
        Message(
          "cli.value-cant-be-moved",
          ["table": .text(table), "key": .text(key), "reason": .text(reason)])
      case .differentSchema(let parts):
        Message(
          "cli.schemas-of-the-move-differ", ["parts": .text(parts.joined(separator: ", "))])
      case .differentRows(let tables):
        Message("cli.copied-rows-differ", ["tables": .text(tables.joined(separator: ", "))])
      case .schema(let error):
        Message("cli.schema-cant-be-created", ["reason": .text(error.description)])
      case .failed(let error):
        Message("cli.move-failed", ["reason": .text(error.description)])
      case .unconfirmed(let error):
        Message(
          "cli.move-may-be-complete",
          ["database": .text("\(move.address)"), "reason": .text(error.message)])
      case .unavailable(let failure):
        Message("cli.move-failed", ["reason": .text("\(failure)")])
      }
    }
  }
#endif
