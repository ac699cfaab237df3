import Database

/// The tables of the current schema.
struct PostgreSQLCatalog: DatabaseCatalog {
  /// The advisory lock that each connection of a server or a command shares; see `Connector`.
  static let useLock = 728_264_574

  func tables(_ connection: borrowing Connection) throws -> [StoredTable] {
    let rows = try connection.all(
      """
      SELECT c.relname::text, a.attname::text, a.attgenerated <> '',
        coalesce(array_position(k.conkey, a.attnum), 0)
      FROM pg_catalog.pg_class AS c
        JOIN pg_catalog.pg_attribute AS a
          ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
        LEFT JOIN pg_catalog.pg_constraint AS k ON k.conrelid = c.oid AND k.contype = 'p'
      WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace
      """
    ) { row in
      (
        table: try SQLName.named(row.next()),
        column: (
          name: try SQLName.named(row.next()), isGenerated: try row.next() as Bool,
          key: try row.next() as Int
        )
      )
    }
    let references = try connection.all(
      """
      SELECT c.relname::text, t.relname::text
      FROM pg_catalog.pg_constraint AS k JOIN pg_catalog.pg_class AS c ON c.oid = k.conrelid
        JOIN pg_catalog.pg_class AS t ON t.oid = k.confrelid
      WHERE k.contype = 'f' AND c.relnamespace = current_schema()::regnamespace
      """
    ) { row in (from: try SQLName.named(row.next()), to: try SQLName.named(row.next())) }
    return Dictionary(grouping: rows, by: \.table).map { table, rows in
      StoredTable(
        table, columns: rows.map(\.column),
        references: Set(references.filter { $0.from == table }.map(\.to)))
    }
  }

  func objects(_ connection: borrowing Connection) throws -> [StoredObject] {
    try connection.all(
      """
      SELECT CASE WHEN relkind IN ('v', 'm') THEN 'view' ELSE 'table' END, relname::text,
        relname::text, ''
      FROM pg_catalog.pg_class AS c WHERE relkind IN ('r', 'p', 'f', 'v', 'm')
        AND relnamespace = current_schema()::regnamespace AND NOT EXISTS (
          SELECT 1 FROM pg_catalog.pg_depend AS d
          WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e')
      UNION ALL SELECT 'trigger', tgname::text, c.relname::text, p.prosrc
      FROM pg_catalog.pg_trigger AS t JOIN pg_catalog.pg_class AS c ON c.oid = t.tgrelid
        JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid
      WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace
      UNION ALL SELECT 'rule', r.rulename::text, c.relname::text, ''
      FROM pg_catalog.pg_rewrite AS r JOIN pg_catalog.pg_class AS c ON c.oid = r.ev_class
      WHERE r.rulename <> '_RETURN' AND c.relnamespace = current_schema()::regnamespace
      UNION ALL SELECT 'function', proname::text, proname::text, prosrc
      FROM pg_catalog.pg_proc AS p
      WHERE pronamespace = current_schema()::regnamespace AND NOT EXISTS (
        SELECT 1 FROM pg_catalog.pg_depend AS d
        WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
      """
    ) { try StoredObject(&$0) }
  }

  func suspendTriggers(_ connection: borrowing Connection) throws -> [String] {
    let tables = try connection.all(
      """
      SELECT DISTINCT c.relname::text
      FROM pg_catalog.pg_trigger AS t JOIN pg_catalog.pg_class AS c ON c.oid = t.tgrelid
      WHERE NOT t.tgisinternal AND c.relnamespace = current_schema()::regnamespace
      """
    ) { try SQLName.named($0.next()) }
    for table in tables { try connection.run("ALTER TABLE \(table) DISABLE TRIGGER USER") }
    return tables.map { "ALTER TABLE \"\($0.text)\" ENABLE TRIGGER USER" }
  }

  func lastKey(of table: SQLName, _ connection: borrowing Connection) throws -> Int64? {
    guard let column = try identity(of: table, connection) else { return nil }
    return try connection.first(
      """
      SELECT pg_catalog.pg_sequence_last_value(
        pg_catalog.pg_get_serial_sequence(\(table.text), \(column.text))::regclass)
      """
    ) { try $0.next() as Int64? } ?? nil
  }

  func setLastKey(
    of table: SQLName, to key: Int64?, _ connection: borrowing Connection
  ) throws {
    guard let column = try identity(of: table, connection) else { return }
    let greatest =
      try connection.first("SELECT max(\(column)) FROM \(table)") { row in
        try row.next() as Int64?
      } ?? nil
    // A sequence begins at 1, and a key may be smaller.
    guard let last = [key, greatest].compactMap({ $0 }).max(), last > 0 else { return }
    _ = try connection.first(
      """
      SELECT pg_catalog.setval(
        pg_catalog.pg_get_serial_sequence(\(table.text), \(column.text))::regclass, \(last))
      """
    ) { _ in true }
  }

  /// Returns the column for which the database chooses values.
  private func identity(
    of table: SQLName, _ connection: borrowing Connection
  ) throws -> SQLName? {
    try connection.first(
      """
      SELECT a.attname::text
      FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_class AS c ON c.oid = a.attrelid
      WHERE c.relname = \(table.text) AND c.relnamespace = current_schema()::regnamespace
        AND a.attidentity <> '' AND NOT a.attisdropped
      """
    ) { try SQLName.named($0.next()) }
  }

  func acquire(_ connection: borrowing Connection) throws -> Bool {
    try connection.first(
      "SELECT pg_catalog.pg_try_advisory_xact_lock(\(Self.useLock))"
    ) { try $0.next() } ?? false
  }
}
