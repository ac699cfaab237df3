import Database

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
      WITH own AS (
        SELECT c.oid, relname::text AS name, relkind FROM pg_catalog.pg_class AS c
        WHERE relkind IN ('r', 'p', 'f', 'v', 'm')
          AND relnamespace = current_schema()::regnamespace AND NOT EXISTS (
            SELECT 1 FROM pg_catalog.pg_depend AS d
            WHERE d.classid = 'pg_catalog.pg_class'::regclass AND d.objid = c.oid
              AND d.deptype = 'e'))
      SELECT CASE WHEN own.relkind IN ('v', 'm') THEN 'view' ELSE 'table' END, name, name,
        own.relkind::text || c.relpersistence::text || c.relrowsecurity::text
      FROM own JOIN pg_catalog.pg_class AS c ON c.oid = own.oid
      UNION ALL SELECT 'column', a.attname::text, name,
        concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated,
          a.attidentity, a.attcollation, pg_get_expr(d.adbin, d.adrelid))
      FROM own JOIN pg_catalog.pg_attribute AS a ON a.attrelid = own.oid
        LEFT JOIN pg_catalog.pg_attrdef AS d ON d.adrelid = own.oid AND d.adnum = a.attnum
      WHERE a.attnum > 0 AND NOT a.attisdropped AND own.relkind NOT IN ('v', 'm')
      UNION ALL SELECT 'constraint', pg_get_constraintdef(k.oid), name, k.convalidated::text
      FROM own JOIN pg_catalog.pg_constraint AS k ON k.conrelid = own.oid
      WHERE k.contype IN ('c', 'f', 'p', 'u', 'x')
      UNION ALL SELECT 'index', c.relname::text, name, x.indisvalid::text || ' '
        || replace(pg_get_indexdef(c.oid), ' ON ' || quote_ident(current_schema()) || '.', ' ON ')
      FROM own JOIN pg_catalog.pg_index AS x ON x.indrelid = own.oid
        JOIN pg_catalog.pg_class AS c ON c.oid = x.indexrelid
      WHERE NOT EXISTS (
        SELECT 1 FROM pg_catalog.pg_constraint AS k
        WHERE k.conindid = c.oid AND k.contype IN ('p', 'u', 'x'))
      UNION ALL SELECT 'trigger', tgname::text, name,
        concat_ws(' ', t.tgenabled, pg_get_triggerdef(t.oid, true), p.prosrc)
      FROM own JOIN pg_catalog.pg_trigger AS t ON t.tgrelid = own.oid
        JOIN pg_catalog.pg_proc AS p ON p.oid = t.tgfoid
      WHERE NOT t.tgisinternal
      UNION ALL SELECT 'rule', r.rulename::text, name, pg_get_ruledef(r.oid)
      FROM own JOIN pg_catalog.pg_rewrite AS r ON r.ev_class = own.oid
      WHERE r.rulename <> '_RETURN'
      UNION ALL SELECT 'function', proname::text, proname::text,
        concat_ws(' ', prosecdef, provolatile, proisstrict, prosrc)
      FROM pg_catalog.pg_proc AS p
      WHERE pronamespace = current_schema()::regnamespace AND NOT EXISTS (
        SELECT 1 FROM pg_catalog.pg_depend AS d
        WHERE d.classid = 'pg_catalog.pg_proc'::regclass AND d.objid = p.oid AND d.deptype = 'e')
      """
    ) { try StoredObject(&$0) }
  }

  /// What the scripts created, on the way out of the part of the transaction that is undone.
  private struct Created: Error {
    let objects: [StoredObject]
  }

  func objects(
    createdBy scripts: [String], _ connection: borrowing Connection
  ) throws -> [StoredObject] {
    do {
      try connection.attempt { () throws -> Void in
        try connection.runScript("CREATE SCHEMA countersign_expected")
        _ = try connection.first(
          """
          SELECT set_config('search_path',
            'countersign_expected, ' || current_setting('search_path'), TRUE)
          """
        ) { _ in true }
        for script in scripts { try connection.runScript(script) }
        throw Created(objects: try objects(connection))
      }
    } catch let created as Created {
      return created.objects
    }
    return []
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
