public import Database
import DatabasePostgreSQL
import DatabaseSQLite
import Foundation
import Synchronization

/// A database of its own for a test.
///
/// It's SQLite's, or PostgreSQL's with `COUNTERSIGN_TEST_DATABASE=postgresql`.
public struct TestDatabase: Sendable {
  /// The SQL that the databases of this process understand.
  public static let dialect: Dialect =
    ProcessInfo.processInfo.environment["COUNTERSIGN_TEST_DATABASE"] == "postgresql"
    ? .postgreSQL : .sqlite

  /// Whether the databases are SQLite's, for tests of its files and of releases that had no other.
  public static var isSQLite: Bool { dialect == .sqlite }

  /// The database.
  public let database: any Database
  private let place: Place
  private let isTemplate = Flag()

  private enum Place: Sendable {
    /// The path of the file.
    case file(String)
    /// The name on the server.
    case name(String)
  }

  private final class Flag: Sendable {
    private let value = Mutex(false)
    var isSet: Bool { value.withLock { $0 } }
    func set() { value.withLock { $0 = true } }
  }

  /// How a test uses its database.
  public struct Options: Sendable {
    /// The number of connections for reads.
    public var readers: Int
    /// The number of connections for writes, in PostgreSQL.
    public var writers: Int
    /// How many pages the file may grow by, in SQLite.
    public var sparePages: Int?
    /// Whether the file is in memory if possible.
    public var isInMemory: Bool
    /// Receives the statements.
    public var trace: (@Sendable (String) -> Void)?

    /// Creates options.
    public init(
      readers: Int = 2, writers: Int = 2, sparePages: Int? = nil, isInMemory: Bool = false,
      trace: (@Sendable (String) -> Void)? = nil
    ) {
      self.readers = readers
      self.writers = writers
      self.sparePages = sparePages
      self.isInMemory = isInMemory
      self.trace = trace
    }
  }

  // MARK: - For a test

  /// Runs a test with a database, then deletes it.
  ///
  /// - Parameters:
  ///   - template: What the database contains; nil for an empty one.
  ///   - options: How it's used.
  ///   - body: The test.
  /// - Returns: The result of `body`.
  /// - Throws: What `body` throws, and errors of the database.
  public static func with<T>(
    _ template: DatabaseTemplate? = nil, _ options: Options = Options(),
    _ body: (TestDatabase) async throws -> T
  ) async throws -> T {
    let test = try await open(template?.contents, options)
    let result: Result<T, any Error>
    do { result = .success(try await body(test)) } catch { result = .failure(error) }
    await test.close()
    await test.delete()
    return try result.get()
  }

  private static func open(
    _ contents: DatabaseTemplate.Contents?, _ options: Options
  ) async throws -> TestDatabase {
    guard isSQLite else {
      var template = "template0"
      if case .name(let name) = contents { template = name }
      let server = try await PostgreSQLServer.shared.value
      return try await open(try await server.createDatabase(from: template), on: server, options)
    }
    let path = try file(isInMemory: options.isInMemory)
    var pages: Int?
    if case .file(let data) = contents {
      try data.write(to: URL(filePath: path))
      pages = options.sparePages.map { data.count / 4_096 + $0 }
    }
    let database = try SQLiteDatabase(
      path: path, readers: options.readers, maximumPages: pages, trace: options.trace)
    return TestDatabase(database: database, place: .file(path))
  }

  private static func open(
    _ name: String, on server: PostgreSQLServer, _ options: Options
  ) async throws -> TestDatabase {
    let database = try await PostgreSQLDatabase(
      try server.address(of: name), readers: options.readers, writers: options.writers,
      trace: options.trace)
    return TestDatabase(database: database, place: .name(name))
  }

  /// Returns the path of a file in a new folder.
  private static func file(isInMemory: Bool) throws -> String {
    let folder = folder(isInMemory: isInMemory).appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    return folder.appending(path: "countersign.sqlite").path
  }

  /// Returns the folder for temporary files.
  static func folder(isInMemory: Bool) -> URL {
    let (memory, files) = (URL(filePath: "/dev/shm"), FileManager.default)
    let free = try? files.attributesOfFileSystem(forPath: memory.path)[.systemFreeSize] as? Int
    // Containers often have 64 MiB there, and hundreds of databases need more.
    let isEnough = (free ?? 0) >= 4 << 30 && files.isWritableFile(atPath: memory.path)
    return isInMemory && isEnough ? memory : files.temporaryDirectory
  }

  /// Closes the connections.
  public func close() async {
    switch database {
    case let database as SQLiteDatabase: await database.close()
    case let database as PostgreSQLDatabase: await database.close()
    default: break
    }
  }

  private func delete() async {
    switch place {
    case .file(let path):
      try? FileManager.default.removeItem(at: URL(filePath: path).deletingLastPathComponent())
    case .name(let name):
      guard !isTemplate.isSet else { return }
      try? await PostgreSQLServer.shared.value.drop(name)
    }
  }

  // MARK: - For some tests

  /// The path of the file; nil in PostgreSQL.
  public var path: String? {
    if case .file(let path) = place { path } else { nil }
  }

  /// The name on the server; nil in SQLite.
  public var name: String? {
    if case .name(let name) = place { name } else { nil }
  }

  /// Runs a body with a copy of the current state, made as a backup and its restore do.
  ///
  /// - Parameter body: Receives the copy and a read-only view of this database, which a restore
  ///   reads from what it replaces.
  /// - Returns: The result of `body`.
  /// - Throws: What `body` throws, and errors of the database.
  public func withRestored<T>(
    _ body: (_ restored: any Database, _ former: any Database) async throws -> T
  ) async throws -> T {
    let (copy, former): (TestDatabase, any Database)
    switch place {
    case .file(let path):
      let backup = try Self.file(isInMemory: false)
      try await (database as? SQLiteDatabase)?.backup(to: backup)
      copy = TestDatabase(
        database: try SQLiteDatabase(path: backup, readers: 1), place: .file(backup))
      former = try ReadOnlySQLiteDatabase(path: path)
    case .name(let name):
      let server = try await PostgreSQLServer.shared.value
      copy = try await Self.open(try await server.restore(name), on: server, Options())
      former = try await Self.open(name, on: server, Options()).database
    }
    let result: Result<T, any Error>
    do { result = .success(try await body(copy.database, former)) } catch {
      result = .failure(error)
    }
    await copy.close()
    await copy.delete()
    await (former as? ReadOnlySQLiteDatabase)?.close()
    await (former as? PostgreSQLDatabase)?.close()
    return try result.get()
  }

  /// Makes a template of the current state, which can be used once this database is closed.
  public func template() async throws -> DatabaseTemplate {
    switch place {
    case .file(let path):
      try await database.checkpoint()
      return DatabaseTemplate(contents: .file(try Data(contentsOf: URL(filePath: path))))
    case .name(let name):
      isTemplate.set()
      return DatabaseTemplate(contents: .name(name))
    }
  }
}

/// A database that is filled once and copied for each test.
public struct DatabaseTemplate: Sendable {
  enum Contents: Sendable {
    /// The bytes of a file.
    case file(Data)
    /// A database of the server.
    case name(String)
  }

  let contents: Contents

  /// Makes a template.
  ///
  /// - Parameter fill: Fills a database.
  /// - Returns: The template and the result of `fill`.
  /// - Throws: What `fill` throws, and errors of the database.
  public static func make<T>(
    _ fill: (any Database) async throws -> T
  ) async throws -> (DatabaseTemplate, T) {
    try await TestDatabase.with { test in
      let result = try await fill(test.database)
      return (try await test.template(), result)
    }
  }
}
