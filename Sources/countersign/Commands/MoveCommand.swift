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
    static let summary = Message(
      "moves an instance from its data folder to PostgreSQL; the server must be stopped")
    static let options = [
      Option(
        "from", "DIR", variable: false,
        help: Message("The data folder of the instance. Its database stays as it is.")),
      Option(
        "to", "URL", variable: false,
        help: Message("The empty database to move to: postgresql://user@host:port/name")),
      DatabaseLocation.passwordFile,
      Option(
        "dry-run", variable: false,
        help: Message(
          """
          Check both databases and print the numbers of rows, with an estimate of the time; the \
          server can keep running.
          """)),
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
          Message(
            """
            There's no master.key in {folder}. Put the instance's key there first (mode 600): the \
            moved database can't be read without it.
            """, ["folder": .text(move.folder.path)]))
      }
      do {
        let inventory = try await move.run(ring, isDry: isDry)
        say(inventory, move, isDry: isDry)
        return 0
      } catch {
        guard let error = MoveError.translated(error) as? MoveError else { throw error }
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
            "{table}  {rows}",
            ["table": .text(table.name + space), "rows": .number(table.digest.rows)]))
      }
      let rows = Message.Value.number(inventory.rows)
      let tables = Message.Value.number(inventory.tables.count)
      if isDry {
        Terminal.say(
          Message(
            """
            Would move {rows} rows of {tables} tables ({size}), up to {seconds} s on a slow disk. \
            Nothing was changed.
            """,
            [
              "rows": rows, "tables": tables, "size": .text(Size.text(inventory.bytes)),
              "seconds": .number(inventory.seconds),
            ]))
        return
      }
      Terminal.say(
        Message(
          """
          Moved {rows} rows of {tables} tables. Their numbers and SHA-256 digests are equal in both \
          databases.
          """, ["rows": rows, "tables": tables]))
      Terminal.say(
        Message(
          """
          Next: countersign serve --data {folder} --database '{address}'
          Keep {folder}: it has the master.key. Move {database} away, so that nothing starts with \
          the old database.
          """,
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
          "{source} can't be moved. {reason}",
          ["source": .text(move.folder.database), "reason": .message(fault.message)])
      case .notMigrated(let names):
        Message.notMigrated(move.folder.database, names, move.folder)
      case .inUse:
        Message(
          "A server or a command is using {database}. Stop it first.",
          ["database": .text("\(move.address)")])
      case .notEmpty(let tables):
        Message(
          """
          {database} isn't empty, and a move never replaces a database. Create a new one. It has \
          these tables: {tables}.
          """,
          [
            "database": .text("\(move.address)"), "tables": .text(tables.joined(separator: ", ")),
          ])
      case .unstorableText(let table, let column, let key):
        Message(
          """
          In the table {table}, the column {column} of the row with {key} has a NUL character, \
          which PostgreSQL can't store. Change that value first. Nothing was written.
          """,
          ["table": .text(table), "column": .text(column), "key": .text(key)])
      case .unreadableValue(let table, let key, let reason):
        Message(
          """
          The row with {key} in the table {table} can't be read: {reason}. Nothing remains of the \
          copy.
          """,
          ["table": .text(table), "key": .text(key), "reason": .text(reason)])
      case .differentSchema(let parts):
        Message(
          """
          The tables of the two databases differ, so this version can't move the instance. \
          Nothing remains of the copy. Different: {parts}.
          """, ["parts": .text(parts.joined(separator: ", "))])
      case .differentRows(let tables):
        Message(
          """
          The copied rows differ from those of the source, in number or content, so nothing \
          remains of the copy. Different tables: {tables}.
          """, ["tables": .text(tables.joined(separator: ", "))])
      case .schema(let error):
        Message("The tables can't be created: {reason}", ["reason": .text(error.description)])
      case .failed(let error):
        Message(
          "The move failed, and nothing remains of the copy: {reason}",
          ["reason": .text(error.description)])
      case .unconfirmed(let error):
        Message(
          """
          Everything was copied to {database}, but the copy may be lost: {reason}. Run \
          countersign doctor with it. If it has an instance, the move is complete; otherwise, \
          repeat the move.
          """,
          ["database": .text("\(move.address)"), "reason": .text(error.message)])
      }
    }
  }
#endif
