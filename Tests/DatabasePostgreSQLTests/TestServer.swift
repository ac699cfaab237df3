import DatabasePostgreSQL
import Foundation
import Synchronization
import Testing

/// A PostgreSQL server in a temporary folder, one per test process.
///
/// It listens on a Unix socket in that folder and on 127.0.0.1, with TLS. A shell waits for the end
/// of the test process, however it ends, and stops the server.
final class TestServer: Sendable {
  /// The programs of Debian's package.
  static let programs = "/usr/lib/postgresql/15/bin"

  static var isInstalled: Bool {
    FileManager.default.isExecutableFile(atPath: programs + "/initdb")
  }

  /// The server of this process, which is started when it's first used.
  static let shared = Task { try await TestServer() }

  let folder: String
  let port: Int
  /// The password of the user `guarded`, who needs it on 127.0.0.1.
  let password = "correct horse'battery\\staple"

  private let databases = Mutex(0)
  /// The shell ends when this pipe does.
  private let life: FileHandle

  private init() async throws {
    folder =
      FileManager.default.temporaryDirectory.appending(
        path: "pg-" + UUID().uuidString.prefix(8)
      ).path
    port = Int.random(in: 20_000..<30_000)
    try FileManager.default.createDirectory(
      atPath: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o755])
    // Runs as root only to delete the folder.
    let user = getuid() == 0 ? "setpriv --reuid=postgres --regid=postgres --init-groups" : ""
    let script = """
      set -eu
      cd "\(folder)"
      test "$(id -u)" != 0 || chown postgres .
      \(user) \(Self.programs)/initdb -D data -U postgres -A trust --locale=C --encoding=UTF8 -N \
        >initdb.log
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
      max_connections = 400
      fsync = \(ProcessInfo.processInfo.environment["COUNTERSIGN_BENCH"] == nil ? "off" : "on")
      END
      cat >data/pg_hba.conf <<END
      local all all trust
      host all guarded 127.0.0.1/32 scram-sha-256
      host all all 127.0.0.1/32 trust
      END
      \(user) \(Self.programs)/postgres -D data >server.log 2>&1 </dev/null &
      server=$!
      read -r _ || true
      kill -QUIT $server
      wait $server || true
      rm -rf "\(folder)"
      """
    let process = Process()
    let input = Pipe()
    process.executableURL = URL(filePath: "/bin/sh")
    process.arguments = ["-c", script]
    process.standardInput = input
    life = input.fileHandleForWriting
    try process.run()
    let end = ContinuousClock.now + .seconds(60)
    while !run("pg_isready", ["-q", "-h", folder, "-p", "\(port)"]) {
      try #require(process.isRunning && .now < end, "the server doesn't start")
      try await Task.sleep(for: .milliseconds(50))
    }
    let role = "CREATE ROLE guarded LOGIN PASSWORD '\(password.replacing("'", with: "''"))'"
    try #require(run("psql", ["-qX", "-h", folder, "-p", "\(port)", "-U", "postgres", "-c", role]))
  }

  /// Runs a program of PostgreSQL.
  @discardableResult
  func run(_ program: String, _ arguments: [String]) -> Bool {
    let process = Process()
    process.executableURL = URL(filePath: Self.programs + "/" + program)
    process.arguments = arguments
    process.standardInput = FileHandle.nullDevice
    guard (try? process.run()) != nil else { return false }
    process.waitUntilExit()
    return process.terminationStatus == 0
  }

  /// Creates an empty database.
  ///
  /// - Returns: Its name.
  func createDatabase() throws -> String {
    let number = databases.withLock { number in
      number += 1
      return number
    }
    let name = "test\(number)"
    let arguments = ["-h", folder, "-p", "\(port)", "-U", "postgres", name]
    try #require(run("createdb", arguments))
    return name
  }

  /// Returns the address of a database over the Unix socket.
  func address(of database: String) throws -> PostgreSQLAddress {
    try PostgreSQLAddress("postgresql://postgres@:\(port)/\(database)?host=\(folder)")
  }
}
