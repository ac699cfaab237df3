/// A table that a database stores rows of.
public struct StoredTable: Sendable, Equatable {
  /// The name.
  public let name: SQLName
  /// The names of all columns, in order.
  public let columns: [SQLName]
  /// The columns that the database computes from others.
  public let generated: Set<SQLName>
  /// The columns of the primary key, in its order.
  public let key: [SQLName]
  /// The tables that rows refer to.
  public let references: Set<SQLName>

  /// Creates a description; for drivers.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - columns: The columns, with their positions in the primary key, from 1, and 0 for others.
  ///   - references: The tables that rows refer to.
  public init(
    _ name: SQLName, columns: [(name: SQLName, isGenerated: Bool, key: Int)],
    references: Set<SQLName>
  ) {
    self.name = name
    self.columns = columns.map(\.name).sorted()
    generated = Set(columns.filter(\.isGenerated).map(\.name))
    key = columns.filter { $0.key > 0 }.sorted { $0.key < $1.key }.map(\.name)
    self.references = references
  }

  /// The columns that rows are inserted with.
  public var stored: [SQLName] { columns.filter { !generated.contains($0) } }

  /// Returns a query for rows in the order of the primary key.
  ///
  /// - Parameters:
  ///   - columns: The columns to read.
  ///   - key: The key of the row before the first; nil for the beginning.
  ///   - limit: The number of rows.
  /// - Returns: The query.
  public func rows(_ columns: [SQLName], after key: [SQLValue]?, limit: Int) -> SQL {
    let from: SQL = key.map { "WHERE (\(names: self.key)) > (\(list: $0))" } ?? ""
    return """
      SELECT \(names: columns) FROM \(name) \(from) ORDER BY \(names: self.key) LIMIT \(limit)
      """
  }

  /// Returns a statement that inserts a row.
  ///
  /// - Parameter values: The values of the ``stored`` columns.
  /// - Returns: The statement.
  public func insertion(of values: some Sequence<SQLValue>) -> SQL {
    "INSERT INTO \(name) (\(names: stored)) VALUES (\(list: values))"
  }
}

/// A table, a part of one, a view, or code that a database has.
public struct StoredObject: Sendable {
  /// `table`, `column`, `constraint`, `index`, `view`, `trigger`, `rule`, or `function`.
  public let kind: String
  /// The name; of a constraint, its definition.
  public let name: String
  /// The table of a part, a trigger, or a rule; otherwise the same as the name.
  public let table: String
  /// The definition as the database stores it, without differences of white space.
  public let definition: String

  /// Creates a description; for drivers.
  public init(kind: String, name: String, table: String, definition: String) {
    self.kind = kind
    self.name = name
    self.table = table
    self.definition = definition
  }

  /// Reads the columns kind, name, table, and definition; for drivers.
  ///
  /// - Throws: ``DatabaseError``.
  public init(_ row: inout Row) throws {
    kind = try row.next()
    name = try row.next()
    table = try row.next()
    definition = try row.next()
  }
}

/// What a driver knows of the tables of its database, for copying all of them.
public protocol DatabaseCatalog: Sendable {
  /// Returns the tables, without those that the database maintains itself, such as the tables of a
  /// search index.
  ///
  /// - Throws: ``DatabaseError``.
  func tables(_ connection: borrowing Connection) throws -> [StoredTable]

  /// Returns the tables with their parts, views, and code, without those of the database itself and
  /// its extensions.
  ///
  /// - Throws: ``DatabaseError``.
  func objects(_ connection: borrowing Connection) throws -> [StoredObject]

  /// Returns the objects that scripts create in an empty database, without changing this one.
  ///
  /// A server has to allow writes, which are undone.
  ///
  /// - Throws: ``DatabaseError``.
  func objects(
    createdBy scripts: [String], _ connection: borrowing Connection
  ) throws -> [StoredObject]

  /// Turns off the triggers of all tables, until the scripts run that are returned.
  ///
  /// - Throws: ``DatabaseError``.
  func suspendTriggers(_ connection: borrowing Connection) throws -> [String]

  /// Returns the last key that the database chose for a table; nil if it doesn't store one.
  ///
  /// - Throws: ``DatabaseError``.
  func lastKey(of table: SQLName, _ connection: borrowing Connection) throws -> Int64?

  /// Sets the last key of a table for which the database chooses keys, so that it chooses larger
  /// ones than this key and those of all rows.
  ///
  /// - Throws: ``DatabaseError``.
  func setLastKey(
    of table: SQLName, to key: Int64?, _ connection: borrowing Connection
  ) throws

  /// Acquires the database for the current transaction alone; false if a server or a command uses
  /// it.
  ///
  /// A file always returns true: the data folder's lock is for that.
  ///
  /// - Throws: ``DatabaseError``.
  func acquire(_ connection: borrowing Connection) throws -> Bool
}

extension Connection {
  /// The catalog of the database.
  public var catalog: any DatabaseCatalog { session.catalog }
}

/// Something that runs writes, in a transaction for each or in one for all.
public protocol DatabaseWriter: Sendable {
  /// Runs a write.
  ///
  /// - Throws: What `body` throws; ``DatabaseError``.
  @discardableResult
  nonisolated(nonsending) func write<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T
}
