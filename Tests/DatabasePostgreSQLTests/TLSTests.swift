import Database
import DatabasePostgreSQL
import Foundation
import TestDatabases
import Testing

@Suite(.enabled(if: PostgreSQLServer.isInstalled), .timeLimit(.minutes(2)))
struct TLSTests {
  private func open(
    _ server: PostgreSQLServer, _ parameters: String, password: String?, host: String = "127.0.0.1"
  ) async throws -> String? {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    if let password { try Data((password + "\n").utf8).write(to: file) }
    let address = try PostgreSQLAddress(
      "postgresql://guarded@\(host):\(server.port)/postgres\(parameters)")
    let database = try await PostgreSQLDatabase(
      address, passwordFile: password == nil ? nil : file.path)
    let version = try await database.read { connection in
      try connection.first("SELECT version FROM pg_stat_ssl WHERE pid = pg_backend_pid()") {
        try $0.next() as String?
      }
    }
    await database.close()
    return version.flatMap { $0 }
  }

  @Test func `a certificate of a trusted authority for the host is accepted`() async throws {
    let server = try await PostgreSQLServer.shared.value
    let authority = "sslrootcert=\(server.folder)/certificate.pem"
    let version = try await open(
      server, "?sslmode=verify-full&\(authority)", password: server.password)
    #expect(version == "TLSv1.3")
    #expect(try await open(server, "", password: server.password) == nil)
    // Some editors begin a file with a byte order mark.
    #expect(try await open(server, "", password: "\u{FEFF}" + server.password) == nil)
  }

  @Test func `a certificate of a trusted authority for another host isn't, if the name is checked`()
    async throws
  {
    // It's for 127.0.0.1.
    let server = try await PostgreSQLServer.shared.value
    let authority = "sslrootcert=\(server.folder)/certificate.pem"
    let error = await #expect(throws: DatabaseError.self) {
      try await open(
        server, "?sslmode=verify-full&\(authority)", password: server.password, host: "localhost")
    }
    #expect(error?.code == .unreachable)
    #expect(error?.message.contains("does not match host name") == true)
    let version = try await open(
      server, "?sslmode=verify-ca&\(authority)", password: server.password, host: "localhost")
    #expect(version == "TLSv1.3")
  }

  @Test func `any other certificate isn't`() async throws {
    let server = try await PostgreSQLServer.shared.value
    for mode in ["verify-full", "verify-ca"] {
      let failure = try await code {
        try await open(server, "?sslmode=\(mode)", password: server.password)
      }
      #expect(failure == .unreachable)
    }
    #expect(try await open(server, "?sslmode=require", password: server.password) == "TLSv1.3")
  }

  @Test func `a wrong, empty, or missing password is an error without it`() async throws {
    let server = try await PostgreSQLServer.shared.value
    for password in ["wrong marker", "", nil] {
      let error = await #expect(throws: DatabaseError.self) {
        try await open(server, "", password: password)
      }
      #expect(error?.code == .cannotOpen)
      #expect(error?.description.contains("marker") == false)
    }
    let missing = try await code {
      try await PostgreSQLDatabase(
        PostgreSQLAddress("postgresql://127.0.0.1:\(server.port)/x"), passwordFile: "/nowhere")
    }
    #expect(missing == .cannotOpen)
  }
}
