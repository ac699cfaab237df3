import Database
import DatabaseSQLite
import Identity
import Testing

/// Keys that sign tokens follow each other without a token that is refused.
struct KeyRotationTests {
  private static let message = Array("header.payload".utf8)

  @Test
  func
    `a new key is published for an hour before it signs, and the old believed until all it signed has run out`()
    async throws
  {
    try await withInstance { instance in
      let keys = instance.identity.signingKeys
      let old = try keys.currentID()
      let signature = try keys.sign(Self.message, keyID: old)
      let made = try await keys.rotate(by: Instance.boss)
      #expect(keys.publicKeys().map(\.id) == [old, made.id])
      #expect(try keys.currentID() == old)

      // Verifiers may keep what is published for an hour, and clocks differ.
      instance.clock.advance(3_600)
      #expect(try keys.currentID() == old)
      instance.clock.advance(300)
      #expect(try keys.currentID() == made.id)
      #expect(keys.publicKeys().map(\.id) == [made.id, old])
      #expect(keys.verify(Self.message, signature: signature, keyID: old))

      // The last cookie of the old key runs out two weeks after it signed for the last time.
      instance.clock.advance(14 * 86_400)
      try await instance.identity.purgeExpired()
      #expect(keys.verify(Self.message, signature: signature, keyID: old))
      instance.clock.advance(300)
      #expect(!keys.verify(Self.message, signature: signature, keyID: old))
      #expect(keys.publicKeys().map(\.id) == [made.id])
      try await instance.identity.purgeExpired()
      let states = try await keys.list().map { "\($0.0.id) \($0.1)" }
      #expect(states == ["\(made.id) signing"])
      let log = try await instance.wholeLog()
      #expect(log[0].action == .signingKeyRetire && log[0].objectID == old)
      #expect(log[0].actorKind == "server")
      let row = try #require(log.first { $0.action == .signingKeyRotate })
      #expect(row.old(.signingKey) == .text(old) && row.new(.signingKey) == .text(made.id))
      #expect(row.actorName == "Bo the boss")
      // Its private key is gone with it.
      let rows = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM signing_key") {
          try $0.value(0) as Int
        }
      }
      #expect(rows == 1)
    }
  }

  @Test func `a running server learns of a key that another process made`() async throws {
    try await withInstance { instance in
      let running = instance.identity.signingKeys
      let before = try running.currentID()
      let command = try instance.identity()
      try await command.prepare()
      let made = try await command.signingKeys.rotate(atOnce: true, by: Instance.boss)
      let signature = try command.signingKeys.sign(Self.message, keyID: made.id)
      #expect(!running.verify(Self.message, signature: signature, keyID: made.id))
      try await running.learn(made.id)
      #expect(running.verify(Self.message, signature: signature, keyID: made.id))
      #expect(try running.currentID() == made.id)
      #expect(running.isBelieved(before))
    }
  }

  @Test func `names of keys that nobody made cost one look in a while`() async throws {
    try await withInstance { instance in
      let running = instance.identity.signingKeys
      try await running.learn("nobody's")
      let command = try instance.identity()
      try await command.prepare()
      let made = try await command.signingKeys.rotate(by: Instance.boss)
      try await running.learn(made.id)
      #expect(!running.isBelieved(made.id))
      instance.clock.advance(2)
      try await running.learn(made.id)
      #expect(running.isBelieved(made.id))
    }
  }

  @Test func `a second rotation waits for the first`() async throws {
    try await withInstance { instance in
      let keys = instance.identity.signingKeys
      let made = try await keys.rotate(by: Instance.boss)
      await expect("anotherIsWaiting") { try await keys.rotate(by: Instance.boss) }
      instance.clock.advance(3_900)
      let next = try await keys.rotate(by: Instance.boss)
      let states = try await keys.list().map { "\($0.0.id) \($0.1)" }
      #expect(states[0] == "\(next.id) waiting")
      #expect(states[1] == "\(made.id) signing")
      #expect(states[2].hasSuffix(" verifying"))
    }
  }

  @Test func `a key that signs is retired when another can take its place`() async throws {
    try await withInstance { instance in
      let keys = instance.identity.signingKeys
      let old = try keys.currentID()
      let signature = try keys.sign(Self.message, keyID: old)
      await expect("isTheOnlyOne") { try await keys.retire(old, by: Instance.boss) }
      await expect("notFound") { try await keys.retire("x", by: Instance.boss) }
      let made = try await keys.rotate(by: Instance.boss)
      try await keys.retire(old, by: Instance.boss)
      #expect(try keys.currentID() == made.id)
      #expect(!keys.verify(Self.message, signature: signature, keyID: old))
      #expect(keys.publicKeys().map(\.id) == [made.id])
      await expect("isTheOnlyOne") { try await keys.retire(made.id, by: Instance.boss) }
    }
  }

  @Test func `when a waiting key is retired the one before it goes on for good`() async throws {
    try await withInstance { instance in
      let keys = instance.identity.signingKeys
      let old = try keys.currentID()
      let made = try await keys.rotate(by: Instance.boss)
      try await keys.retire(made.id, by: Instance.boss)
      instance.clock.advance(30 * 86_400)
      try await instance.identity.purgeExpired()
      #expect(try keys.currentID() == old)
      #expect(keys.isBelieved(old))
      let next = try await keys.rotate(atOnce: true, by: Instance.boss)
      #expect(try keys.currentID() == next.id)
      await expect("isTheOnlyOne") { try await keys.retire(next.id, by: Instance.boss) }
      try await keys.retire(old, by: Instance.boss)
      #expect(keys.publicKeys().map(\.id) == [next.id])
    }
  }
}
