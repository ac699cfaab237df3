import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// Rotation of signing keys without rejecting valid tokens.
struct KeyRotationTests {
  private static let message = Array("header.payload".utf8)

  @Test
  func `a new key is published an hour early, and the old one is trusted until its tokens expire`()
    async throws
  {
    try await withInstance { instance in
      let keys = instance.identity.signingKeys
      let old = try keys.currentID()
      let signature = try keys.sign(Self.message, keyID: old)
      let created = try await keys.rotate(by: Instance.boss)
      #expect(keys.publicKeys().map(\.id) == [old, created.id])
      #expect(try keys.currentID() == old)

      // Verifiers can cache published keys for an hour, and clocks differ.
      instance.clock.advance(3_600)
      #expect(try keys.currentID() == old)
      instance.clock.advance(300)
      #expect(try keys.currentID() == created.id)
      #expect(keys.publicKeys().map(\.id) == [created.id, old])
      #expect(keys.verify(Self.message, signature: signature, keyID: old))

      // The last cookie of the old key expires two weeks after its last signature.
      instance.clock.advance(14 * 86_400)
      try await instance.identity.purgeExpired()
      #expect(keys.verify(Self.message, signature: signature, keyID: old))
      instance.clock.advance(300)
      #expect(!keys.verify(Self.message, signature: signature, keyID: old))
      #expect(keys.publicKeys().map(\.id) == [created.id])
      try await instance.identity.purgeExpired()
      let states = try await keys.list().map { "\($0.0.id) \($0.1)" }
      #expect(states == ["\(created.id) signing"])
      let log = try await instance.wholeLog()
      #expect(log[0].action == .signingKeyRetire && log[0].objectID == old)
      #expect(log[0].actorKind == "server")
      let row = try #require(log.first { $0.action == .signingKeyRotate })
      #expect(row.old(.signingKey) == .text(old) && row.new(.signingKey) == .text(created.id))
      #expect(row.actorName == "Bo the boss")
      // The private key is deleted too.
      let rows = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM signing_key") {
          try $0.next() as Int
        }
      }
      #expect(rows == 1)
    }
  }

  @Test func `a running server loads a key created by another process`() async throws {
    try await withInstance { instance in
      let running = instance.identity.signingKeys
      let before = try running.currentID()
      let command = try instance.identity()
      try await command.prepare()
      let created = try await command.signingKeys.rotate(immediately: true, by: Instance.boss)
      instance.clock.advance(SigningKeys.adoption)
      let signature = try command.signingKeys.sign(Self.message, keyID: created.id)
      #expect(!running.verify(Self.message, signature: signature, keyID: created.id))
      try await running.learn(created.id)
      #expect(running.verify(Self.message, signature: signature, keyID: created.id))
      #expect(try running.currentID() == created.id)
      #expect(running.isBelieved(before))
    }
  }

  @Test func `unknown key IDs cause at most one lookup per interval`() async throws {
    try await withInstance { instance in
      let running = instance.identity.signingKeys
      try await running.learn("nobody's")
      let command = try instance.identity()
      try await command.prepare()
      let created = try await command.signingKeys.rotate(by: Instance.boss)
      try await running.learn(created.id)
      #expect(!running.isBelieved(created.id))
      instance.clock.advance(2)
      try await running.learn(created.id)
      #expect(running.isBelieved(created.id))
    }
  }

  @Test func `a second rotation is refused until the first one is complete`() async throws {
    try await withInstance { instance in
      let keys = instance.identity.signingKeys
      let created = try await keys.rotate(by: Instance.boss)
      await expect("anotherIsWaiting") { try await keys.rotate(by: Instance.boss) }
      instance.clock.advance(3_900)
      let next = try await keys.rotate(by: Instance.boss)
      let states = try await keys.list().map { "\($0.0.id) \($0.1)" }
      #expect(states[0] == "\(next.id) waiting")
      #expect(states[1] == "\(created.id) signing")
      #expect(states[2].hasSuffix(" verifying"))
    }
  }

  @Test func `an immediate rotation replaces a key that waits, too`() async throws {
    try await withInstance { instance in
      let keys = instance.identity.signingKeys
      let waiting = try await keys.rotate(by: Author(actor: .commandLine))
      let new = try await keys.rotate(immediately: true, by: Author(actor: .commandLine))
      let all = try await keys.list().map(\.0)
      #expect(!all.contains { $0.id == waiting.id } && all.contains { $0.id == new.id })
      #expect(new.signsFrom < waiting.signsFrom && all.count == 2)
      #expect(all.first { $0.id != new.id }?.verifiesUntil != nil)
    }
  }

  @Test func `the signing key can be retired only if another can replace it`() async throws {
    try await withInstance { instance in
      let keys = instance.identity.signingKeys
      let old = try keys.currentID()
      let signature = try keys.sign(Self.message, keyID: old)
      await expect("isTheOnlyOne") { try await keys.retire(old, by: Instance.boss) }
      await expect("notFound") { try await keys.retire("x", by: Instance.boss) }
      let created = try await keys.rotate(by: Instance.boss)
      try await keys.retire(old, by: Instance.boss)
      #expect(try keys.currentID() == created.id)
      #expect(!keys.verify(Self.message, signature: signature, keyID: old))
      #expect(keys.publicKeys().map(\.id) == [created.id])
      await expect("isTheOnlyOne") { try await keys.retire(created.id, by: Instance.boss) }
    }
  }

  @Test func `retiring a waiting key keeps the current key in use`() async throws {
    try await withInstance { instance in
      let keys = instance.identity.signingKeys
      let old = try keys.currentID()
      let created = try await keys.rotate(by: Instance.boss)
      try await keys.retire(created.id, by: Instance.boss)
      instance.clock.advance(30 * 86_400)
      try await instance.identity.purgeExpired()
      #expect(try keys.currentID() == old)
      #expect(keys.isBelieved(old))
      let next = try await keys.rotate(immediately: true, by: Instance.boss)
      instance.clock.advance(SigningKeys.adoption)
      #expect(try keys.currentID() == next.id)
      await expect("isTheOnlyOne") { try await keys.retire(next.id, by: Instance.boss) }
      try await keys.retire(old, by: Instance.boss)
      #expect(keys.publicKeys().map(\.id) == [next.id])
    }
  }
}
