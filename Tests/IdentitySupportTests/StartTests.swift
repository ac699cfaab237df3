import Crypto
import Database
import Identity
import TestDatabases
import Testing

@testable import TestIdentity

struct StartTests {
  private func identity(
    _ database: any Database, _ keys: KeyRing, _ profile: Profile = .standalone
  ) throws -> Identity {
    try Identity(
      database: database, keys: keys, profile: profile, hasher: .cheap, mail: TestMail.writer,
      clock: FixedClock().wall,
      defaultProject: ID("demo-project"))
  }

  @Test func `a second startup creates nothing new`() async throws {
    try await withEmptyDatabase { database in
      let keys = KeyRing(random: .system)
      try await identity(database, keys).prepare()
      let first = try await identity(database, keys).audit.list().items
      #expect(first.map(\.action) == [.signingKeyCreate])
      let again = try identity(database, keys)
      try await again.prepare()
      #expect(try await again.audit.list().items.count == 1)
      #expect(again.signingKeys.publicKeys().count == 1)
      #expect(again.defaultProject == nil)
    }
  }

  @Test func `a data folder is bound to its profile`() async throws {
    for (own, other) in [(Profile.standalone, Profile.emulator), (.emulator, .standalone)] {
      try await withEmptyDatabase { database in
        let keys = KeyRing(random: .system)
        try await identity(database, keys, own).prepare()
        let error = try await thrown(StartError.self) {
          try await identity(database, keys, other).prepare()
        }
        guard case .wrongProfile(own) = error else {
          throw Unexpected("\(String(describing: error))")
        }
        try await identity(database, keys, own).prepare()
      }
    }
  }

  @Test func `a data folder with an unknown profile is refused`() async throws {
    try await withEmptyDatabase { database in
      let keys = KeyRing(random: .system)
      try await identity(database, keys).prepare()
      try await database.write { connection in
        _ = try connection.run("UPDATE instance SET value = 'cluster' WHERE name = 'profile'")
      }
      await expect("unavailable") { try await identity(database, keys).prepare() }
    }
  }

  @Test func `a different master key is refused, but a ring with the former key is accepted`()
    async throws
  {
    try await withEmptyDatabase { database in
      let (old, new) = (KeyRing(random: .system), KeyRing(random: .system))
      try await identity(database, old).prepare()
      let error = try await thrown(StartError.self) {
        try await identity(database, new).prepare()
      }
      guard case .wrongKey = error else { throw Unexpected("\(String(describing: error))") }
      let rotated = try KeyRing(text: new.text.revealedText + old.text.revealedText)
      try await identity(database, rotated).prepare()
      // From then on, secrets are encrypted with the new key.
      await expect("wrongKey") { try await identity(database, old).prepare() }
      try await identity(database, rotated).prepare()
    }
  }

  @Test func `a changed or newer schema is refused with an explanation`() async throws {
    for change in ["changed", "newer"] {
      try await withEmptyDatabase { database in
        let keys = KeyRing(random: .system)
        try await identity(database, keys).prepare()
        try await database.write { connection in
          if change == "newer" {
            // As by a version that didn't say which ones can use the database.
            try connection.run("DELETE FROM instance WHERE name = 'oldest_program'")
            try connection.run(
              """
              INSERT INTO schema_migration (name, digest, applied_at) VALUES ('m9999_later', 'x', 0)
              """)
          } else {
            try connection.run("UPDATE schema_migration SET digest = 'x'")
          }
        }
        let error = try await thrown(StartError.self) {
          try await identity(database, keys).prepare()
        }
        guard case .migration = error else { throw Unexpected("\(String(describing: error))") }
      }
    }
  }

  @Test func `migrations are numbered and in order`() {
    let migrations = Identity.migrations(for: TestDatabase.dialect)
    let all = [migrations.baseline, migrations.upgrade] + migrations.later
    let names = [migrations.upgradable] + all.map(\.name)
    let numbers = names.map { Int($0.dropFirst().prefix(4)) ?? 0 }
    #expect(numbers.prefix(3) == [68, 69, 69])
    #expect(zip(numbers.dropFirst(2), numbers.dropFirst(3)).allSatisfy { $0 < $1 })
    for (name, number) in zip(names, numbers) {
      #expect(name.hasPrefix("m" + String(10_000 + number).dropFirst() + "_"))
    }
    #expect(all.allSatisfy { !$0.text.isEmpty && $0.digest.count == 64 })
  }

  @Test func `purging deletes only what has expired`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await instance.finalize(
        device, instance.pending(.alice), code: device.code(at: instance.now))
      _ = try await instance.administrator()
      let session = try await instance.consoleSession()
      for _ in 0..<3 {
        await expect("wrongPassword") {
          try await instance.identity.signIns.password(
            instance.acme, email: Person.alice.email, password: Person.wrong, address: "a")
        }
      }
      let before = try await instance.contents()
      try await instance.identity.purgeExpired()
      #expect(try await instance.contents() == before)
      instance.clock.advance(2_000)
      try await instance.identity.purgeExpired()
      let token = session.token.revealedText
      #expect(try await instance.identity.consoleSessions.find(token: token) != nil)
      instance.clock.advance(88_101)
      try await instance.identity.purgeExpired()
      #expect(try await instance.contents()["console_session"] == [])
      #expect(try await instance.guesses() == 0)
      #expect(try await instance.contents()["session"] == before["session"])
    }
  }
}
