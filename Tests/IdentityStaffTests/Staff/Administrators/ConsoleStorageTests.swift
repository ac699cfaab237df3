import Crypto
import Database
import DatabaseSQLite
import Identity
import Testing

@testable import TestIdentity

struct ConsoleStorageTests {
  private func session(_ instance: Instance, _ email: String = "dora@example.com") async throws
    -> ConsoleSession
  {
    let password = Secret("a long pass phrase")
    _ = try? await instance.identity.administrators.create(
      email: email, displayName: "Dora", password: password, grant: Grant(role: .support),
      by: Author(actor: .commandLine))
    return try await instance.identity.consoleSessions.signIn(
      email: email, password: password, address: "198.51.100.7", userAgent: "Browser"
    ).session.session
  }

  private func rows(_ instance: Instance) async throws -> [[UInt8]] {
    try await instance.database.read { connection in
      try connection.all("SELECT /* test */ sealed FROM console_storage") { try $0.next() }
    }
  }

  @Test func `of many requests for what's kept, one gets it`() async throws {
    try await withInstance { instance in
      let storage = instance.identity.consoleStorage
      let owner = ConsoleStorage.Owner.session(try await session(instance))
      #expect(try await storage.keep(Secret("7F3K"), as: .code, about: "eve", for: owner))
      let found = try await withThrowingTaskGroup(of: Secret?.self) { group in
        for _ in 0..<16 {
          group.addTask { try await storage.take(.code, about: "eve", for: owner) }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(found.compactMap { $0?.revealedText } == ["7F3K"])
      #expect(try await rows(instance).isEmpty)
    }
  }

  @Test func `nothing is found for another session, kind, or subject`() async throws {
    try await withInstance { instance in
      let storage = instance.identity.consoleStorage
      let own = try await session(instance)
      let owner = ConsoleStorage.Owner.session(own)
      let other = ConsoleStorage.Owner.session(try await session(instance))
      _ = try await storage.keep(Secret("7F3K"), as: .code, about: "eve", for: owner)
      #expect(try await storage.take(.code, about: "eve", for: other) == nil)
      #expect(
        try await storage.take(.code, about: "eve", for: .administrator(own.administrator.id))
          == nil)
      #expect(try await storage.take(.fields, about: "eve", for: owner) == nil)
      #expect(try await storage.take(.code, about: "bob", for: owner) == nil)
      #expect(try await storage.find(.code, about: "eve", for: owner) == Secret("7F3K"))
      #expect(try await storage.find(.code, about: "eve", for: owner) == Secret("7F3K"))
    }
  }

  @Test func `a row that's moved to another place can't be opened`() async throws {
    try await withInstance { instance in
      let storage = instance.identity.consoleStorage
      let one = ConsoleStorage.Owner.session(try await session(instance))
      let other = ConsoleStorage.Owner.session(try await session(instance))
      _ = try await storage.keep(Secret("7F3K"), as: .code, about: "eve", for: one)
      _ = try await storage.keep(Secret("9999"), as: .code, about: "eve", for: other)
      #expect(
        try await rows(instance).allSatisfy {
          !String(decoding: $0, as: UTF8.self).contains("7F3K")
        })
      try await instance.database.write { connection in
        _ = try connection.run(
          "UPDATE /* test */ console_storage SET sealed = (SELECT sealed FROM console_storage ORDER BY sealed LIMIT 1)"
        )
      }
      let codes = [
        try await storage.take(.code, about: "eve", for: one),
        try await storage.take(.code, about: "eve", for: other),
      ]
      #expect(codes.compactMap(\.self).count == 1)
    }
  }

  @Test(arguments: ConsoleStorage.Kind.allCases)
  func `what's kept expires, and is deleted then`(_ kind: ConsoleStorage.Kind) async throws {
    try await withInstance { instance in
      let storage = instance.identity.consoleStorage
      let owner = ConsoleStorage.Owner.session(try await session(instance))
      _ = try await storage.keep(Secret("typed"), as: kind, about: "eve", for: owner)
      instance.clock.advance(kind.lifetime - 1)
      #expect(try await storage.find(kind, about: "eve", for: owner) == Secret("typed"))
      instance.clock.advance(1)
      #expect(try await storage.find(kind, about: "eve", for: owner) == nil)
      #expect(try await rows(instance).count == 1)
      try await instance.identity.purgeExpired()
      #expect(try await rows(instance).isEmpty)
    }
  }

  @Test func `size and number are limited`() async throws {
    try await withInstance { instance in
      let storage = instance.identity.consoleStorage
      let owner = ConsoleStorage.Owner.session(try await session(instance))
      let largest = ConsoleStorage.Kind.fields.largest
      let fits = Secret([UInt8](repeating: 97, count: largest))
      let exceeds = Secret([UInt8](repeating: 97, count: largest + 1))
      #expect(try await storage.keep(fits, as: .fields, about: "a", for: owner))
      #expect(try await !storage.keep(exceeds, as: .fields, about: "b", for: owner))
      for number in 0..<(ConsoleStorage.most + 3) {
        instance.clock.advance(1)
        #expect(try await storage.keep(fits, as: .fields, about: "\(number)", for: owner))
      }
      #expect(try await rows(instance).count == ConsoleStorage.most)
      #expect(try await storage.find(.fields, about: "2", for: owner) == nil)
      #expect(try await storage.find(.fields, about: "3", for: owner) != nil)
      // The same place is replaced.
      #expect(try await storage.keep(Secret("new"), as: .fields, about: "3", for: owner))
      #expect(try await rows(instance).count == ConsoleStorage.most)
    }
  }

  @Test func `a notice is for its session, and for five minutes`() async throws {
    try await withInstance { instance in
      let storage = instance.identity.consoleStorage
      let (own, other) = (try await session(instance), try await session(instance))
      let sealed = try #require(storage.sealedNotice("Preferences saved.", for: own))
      #expect(!sealed.contains("Pref"))
      #expect(storage.notice(sealed, for: own) == "Preferences saved.")
      #expect(storage.notice(sealed, for: other) == nil)
      #expect(storage.notice(String(sealed.dropLast()), for: own) == nil)
      #expect(storage.notice("", for: own) == nil)
      #expect(storage.sealedNotice(String(repeating: "x", count: 4_096), for: own) == nil)
      instance.clock.advance(ConsoleStorage.noticeLifetime)
      #expect(storage.notice(sealed, for: own) == "Preferences saved.")
      instance.clock.advance(1)
      #expect(storage.notice(sealed, for: own) == nil)
      // Nothing was written for it.
      #expect(try await rows(instance).isEmpty)
    }
  }
}
