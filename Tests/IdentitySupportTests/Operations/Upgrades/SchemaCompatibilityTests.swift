import Crypto
import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct SchemaCompatibilityTests {
  /// Marks a database as one that a newer version migrated.
  private func markNewer(_ database: any Database, oldest: String) async throws {
    try await database.write { connection in
      try connection.run(
        """
        INSERT INTO schema_migration (name, digest, applied_at) VALUES ('m9999_later', 'x', 0)
        """)
      try connection.run("UPDATE instance SET value = \(oldest) WHERE name = 'oldest_program'")
    }
  }

  private func identity(_ database: any Database, _ keys: KeyRing) throws -> Identity {
    try Identity(
      database: database, keys: keys, profile: .standalone, hasher: .cheap, mail: TestMail.writer,
      clock: FixedClock().wall)
  }

  @Test func `a database that requires a newer version is refused`() async throws {
    try await withEmptyDatabase { database in
      let keys = KeyRing(random: .system)
      try await identity(database, keys).prepare()
      try await markNewer(database, oldest: "99.0.0")
      let error = try await thrown(StartError.self) {
        try await identity(database, keys).prepare()
      }
      guard case .newerProgramRequired(let oldest) = error else {
        throw Unexpected("\(String(describing: error))")
      }
      #expect("\(oldest)" == "99.0.0")
      await expect("newerProgramRequired") {
        try await Identity.inspect(database, keys: keys)
      }
    }
  }

  @Test func `a database that a newer version expanded can still be used`() async throws {
    try await withEmptyDatabase { database in
      let keys = KeyRing(random: .system)
      try await identity(database, keys).prepare()
      try await markNewer(database, oldest: "\(ProgramVersion.current)")
      try await identity(database, keys).prepare(creates: false)
      let pending = try await Identity.pendingMigrations(of: database)
      #expect(pending == [])
    }
  }

  @Test func `a database that is older than those of 0.2.0 is refused and stays as it is`()
    async throws
  {
    try await ReleasedDatabase.with { released in
      try await released.database.write { connection in
        try connection.run(
          "DELETE FROM schema_migration WHERE name = 'm0068_suspended_users'")
      }
      let before = try await released.contents()
      let error = try await thrown(StartError.self) { try await released.identity().prepare() }
      guard case .migration(.tooOld("m0067_session_sign_in")) = error else {
        throw Unexpected("\(String(describing: error))")
      }
      await expect("migration.tooOld") {
        try await Identity.inspect(released.database, keys: released.keys)
      }
      #expect(try await released.contents() == before)
    }
  }

  @Test func `an unreadable mark is refused`() async throws {
    try await withEmptyDatabase { database in
      let keys = KeyRing(random: .system)
      try await identity(database, keys).prepare()
      try await markNewer(database, oldest: "soon")
      await expect("unavailable") { try await identity(database, keys).prepare() }
    }
  }

  @Test func `the current version can use its own schema`() async throws {
    try await withInstance { instance in
      let tolerates = try await SchemaCompatibility.toleratesNewer(instance.database)
      #expect(tolerates)
    }
  }

  @Test func `versions are compared by number`() throws {
    let versions = ["0.1.0", "0.2.0", "0.10.0", "1.0.0", "1.0.1"].compactMap(ProgramVersion.init)
    #expect(versions.count == 5)
    #expect(versions.sorted() == versions)
    for text in ["1.0", "1.0.0.0", "1.0.x", "", "1.-1.0", "1..0", "99999999999999999999.0.0"] {
      #expect(ProgramVersion(text) == nil)
    }
  }
}
