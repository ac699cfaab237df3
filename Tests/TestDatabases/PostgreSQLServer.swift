public import DatabasePostgreSQL
import Foundation
import Synchronization

/// A PostgreSQL server in a temporary folder, one per test process.
///
/// It listens on a Unix socket in that folder and on 127.0.0.1, with TLS. A shell waits for the end
/// of the test process, however it ends, and stops the server.
public final class PostgreSQLServer: Sendable {
  /// The programs of Debian's package.
  public static let programs = "/usr/lib/postgresql/15/bin"

  /// Whether the programs are there.
  public static var isInstalled: Bool {
    ["initdb", "postgres", "pg_dump", "psql"].allSatisfy {
      FileManager.default.isExecutableFile(atPath: "\(programs)/\($0)")
    }
  }

  /// The server of this process, which is started when it's first used.
  public static let shared = Task { try await PostgreSQLServer() }

  /// The folder with the socket and the certificate.
  public let folder: String
  /// The port.
  public let port: Int
  /// The password of the user `guarded`, who needs it on 127.0.0.1.
  public let password = "correct horse'battery\\staple"

  private let databases = Mutex(0)
  /// The shell ends when this pipe does.
  private let life: FileHandle
  /// Creates databases.
  private let creator: RawConnection
  /// Drops databases, for which no test waits.
  private let dropper: RawConnection

  /// Starts a server.
  ///
  /// - Parameter settings: Lines of `postgresql.conf`.
  /// - Throws: ``TestDatabaseError``.
  public init(settings: String = roomy) async throws {
    folder =
      TestDatabase.folder(isInMemory: !Self.isMeasured)
      .appending(path: "pg-" + UUID().uuidString.prefix(8)).path
    port = Int.random(in: 20_000..<30_000)
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    let process = Process()
    let input = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", Self.script(folder, port, settings)]
    process.standardInput = input
    life = input.fileHandleForWriting
    try process.run()
    let end = ContinuousClock.now + .seconds(60)
    let place = "host=\(folder) port=\(port) user=postgres dbname=postgres"
    (creator, dropper) = (RawConnection(place), RawConnection(place))
    while await !creator.open() {
      guard process.isRunning, .now < end else { throw TestDatabaseError("no server") }
      try await Task.sleep(for: .milliseconds(50))
    }
    try await creator.run(
      "CREATE ROLE guarded LOGIN PASSWORD '\(password.replacing("'", with: "''"))'")
  }

  /// Whether tests measure, so that the disk matters.
  ///
  /// A power failure during others is no concern.
  private static let isMeasured = ProcessInfo.processInfo.environment["COUNTERSIGN_BENCH"] != nil

  /// Enough for all tests of a process.
  public static let roomy = """
    max_connections = 400
    max_prepared_transactions = 1000
    """

  private static let quick = """
    fsync = off
    full_page_writes = off
    autovacuum = off
    max_wal_size = 256MB
    """

  /// Starts the server, and stops it when the input ends.
  private static func script(_ folder: String, _ port: Int, _ settings: String) -> String {
    // Runs as root only to delete the folder.
    let user = getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --init-groups" : ""
    return """
      set -eu
      cd "\(folder)"
      test "$(id -u)" != 0 || chown postgres .
      \(user) \(programs)/initdb -D data -U postgres -A trust --locale=C --lc-ctype=C.UTF-8 \
        --encoding=UTF8 -N >initdb.log
      \(user) openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 \
        -subj /CN=127.0.0.1 -addext subjectAltName=IP:127.0.0.1 \
        -keyout key.pem -out certificate.pem 2>openssl.log
      cat >>data/postgresql.conf <<END
      listen_addresses = '127.0.0.1'
      port = \(port)
      unix_socket_directories = '\(folder)'
      ssl = on
      ssl_cert_file = '\(folder)/certificate.pem'
      ssl_key_file = '\(folder)/key.pem'
      \(settings)
      \(isMeasured ? "" : quick)
      END
      cat >data/pg_hba.conf <<END
      local all all trust
      host all guarded 127.0.0.1/32 scram-sha-256
      host all all 127.0.0.1/32 trust
      END
      \(user) \(programs)/postgres -D data >server.log 2>&1 </dev/null &
      server=$!
      read -r _ || true
      kill -QUIT $server
      wait $server || true
      rm -rf "\(folder)"
      """
  }

  /// Runs a program of PostgreSQL.
  ///
  /// - Returns: Whether it succeeded.
  @discardableResult
  public func run(_ program: String, _ arguments: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: Self.programs + "/" + program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// Returns the address of a database over the Unix socket.
  public func address(of database: String) throws -> PostgreSQLAddress {
    try PostgreSQLAddress("postgresql://postgres@:\(port)/\(database)?host=\(folder)")
  }

  // MARK: - Databases

  /// Creates a database.
  ///
  /// - Parameter template: The database to copy, which no one may use meanwhile.
  /// - Returns: Its name.
  /// - Throws: ``TestDatabaseError``.
  public func createDatabase(from template: String = "template0") async throws -> String {
    let number = databases.withLock { number in
      number += 1
      return number
    }
    let name = "test\(number)"
    // Copies the files; the other strategy takes three times as long.
    try await creator.run("CREATE DATABASE \(name) TEMPLATE \(template) STRATEGY file_copy")
    return name
  }

  /// Creates an empty database with a name.
  public func create(_ name: String) async throws {
    try await creator.run("CREATE DATABASE \(name) TEMPLATE template0")
  }

  /// Opens no further connections to a database; those that are open stay open.
  public func refuseConnections(to name: String) async throws {
    try await creator.run("ALTER DATABASE \(name) ALLOW_CONNECTIONS false")
  }

  /// Drops a database after a while, when the processes of its closed connections have ended, since
  /// the server waits for them.
  public func drop(_ name: String) {
    dropper.run("DROP DATABASE \(name) WITH (FORCE)", after: .milliseconds(500))
  }

  /// Copies a database that's in use, as a backup and its restore do.
  ///
  /// - Returns: The name of the copy.
  func restore(_ name: String) async throws -> String {
    let copy = try await createDatabase()
    let place = "-h '\(folder)' -p \(port) -U postgres"
    let script = """
      set -e
      '\(Self.programs)/pg_dump' \(place) -f '\(folder)/\(copy).sql' \(name)
      '\(Self.programs)/psql' \(place) -X -q -1 -v ON_ERROR_STOP=1 -o /dev/null \
        -f '\(folder)/\(copy).sql' \(copy)
      rm '\(folder)/\(copy).sql'
      """
    let status = try await withCheckedThrowingContinuation { continuation in
      let process = Process()
      process.executableURL = URL(filePath: "/bin/sh")
      process.arguments = ["-c", script]
      process.standardInput = FileHandle.nullDevice
      process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
      do { try process.run() } catch { continuation.resume(throwing: error) }
    }
    guard status == 0 else { throw TestDatabaseError("\(name) wasn't restored") }
    return copy
  }

  /// Opens a connection for statements that belong to no transaction.
  func connection(to database: String) -> RawConnection {
    RawConnection("host=\(folder) port=\(port) user=postgres dbname=\(database)")
  }
}

/// The reason there's no test database.
public struct TestDatabaseError: Error {
  /// The reason.
  public let reason: String

  init(_ reason: String) { self.reason = reason }
}
