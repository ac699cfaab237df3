import Database
import Testing

@testable import Identity
@testable import TestIdentity

struct SearchUpgradeTests {
  /// Indexes a user named Łucja as the version before this one did.
  private static func indexFormerly(
    _ key: Int64, _ connection: borrowing Connection
  ) throws {
    let texts = try connection.all(
      "SELECT /* test */ folded FROM account_text WHERE account_key = \(key)"
    ) { try $0.next() as String }
    for text in texts {
      let former = text.split(separator: "lucja", omittingEmptySubsequences: false)
        .joined(separator: "łucja")
      try SearchIndex.parts.remove(key, text, connection)
      try connection.run(
        "UPDATE /* test */ account_text SET folded = \(former) WHERE account_key = \(key)")
      try SearchIndex.parts.insert(key, former, connection)
    }
    try connection.run(
      """
      UPDATE /* test */ account_beginning SET beginning = replace(beginning, 'l', 'ł')
      WHERE beginning IN ('l', 'lu') AND account_key = \(key)
      """)
  }

  @Test func `texts indexed before letters were replaced are indexed again at startup`()
    async throws
  {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      var person = NewAccount()
      person.displayName = "Łucja"
      let first = try await accounts.create(instance.east, person, by: .program(Instance.boss))
        .value
      let last = try await accounts.create(instance.west, person, by: .program(Instance.boss)).value
      func found(_ text: String) async throws -> [Int] {
        var counts: [Int] = []
        for pool in [instance.east, instance.west] {
          counts.append(try await accounts.search(pool, text).hits.count)
        }
        return counts
      }
      #expect(try await found("lu") == [1, 1])
      try await instance.database.write { connection in
        for key in [first.key, last.key] { try Self.indexFormerly(key, connection) }
        // More than what one transaction compares.
        try connection.run(
          """
          WITH RECURSIVE other (number) AS (
            VALUES (1) UNION ALL SELECT number + 1 FROM other WHERE number < 6000)
          INSERT /* test */ INTO account_text (account_key, folded)
          SELECT CAST(\(first.key) AS BIGINT) + number, 'other' FROM other
          """)
        try connection.run(
          "DELETE /* test */ FROM instance WHERE name IN ('search_replacements', 'search_replaced_at')"
        )
      }
      for text in ["lu", "łucja"] { #expect(try await found(text) == [0, 0]) }
      try await instance.identity.prepare()
      for text in ["lu", "łucja", "lucja"] { #expect(try await found(text) == [1, 1]) }
      try await instance.database.write { connection in
        try connection.run("DELETE /* test */ FROM account_text WHERE folded = 'other'")
      }
    }
  }

  @Test func `a text that a node of the previous version stores later is indexed again for a day`()
    async throws
  {
    try await withInstance { instance in
      let identity = instance.identity
      var person = NewAccount()
      person.localID = "user-1"
      person.displayName = "Łucja"
      let account = try await identity.accounts.create(
        instance.east, person, by: .program(Instance.boss)
      ).value
      func found() async throws -> [Int] {
        var counts: [Int] = []
        for text in ["lu", "lucja", "łucja"] {
          counts.append(try await identity.accounts.search(instance.east, text).hits.count)
        }
        return counts
      }
      for hours in [1, 22, 2] {
        try await instance.database.write { try Self.indexFormerly(account.key, $0) }
        #expect(try await found() == [0, 0, 0])
        // The first pass at the start is over.
        try await identity.prepare()
        #expect(try await found() == [0, 0, 0])
        instance.clock.advance(Int64(hours) * 3_600)
        while try await identity.indexUsers() {}
        #expect(try await found() == [1, 1, 1])
      }
      // The last pass was a day after the first.
      try await instance.database.write { try Self.indexFormerly(account.key, $0) }
      #expect(try await identity.indexUsers() == false)
      #expect(try await found() == [0, 0, 0])
    }
  }

  @Test func `a transaction indexes no more than a batch again`() async throws {
    try await withInstance { instance in
      let identity = instance.identity
      var keys: [Int64] = []
      for number in 1...3 {
        var person = NewAccount()
        person.localID = "user-\(number)"
        person.displayName = "Łucja"
        keys.append(
          try await identity.accounts.create(instance.east, person, by: .program(Instance.boss))
            .value.key)
      }
      let (first, last) = (try #require(keys.min()), try #require(keys.max()))
      try await instance.database.write { connection in
        for key in [first, last] { try Self.indexFormerly(key, connection) }
        // Texts of no account, before the first one's.
        try connection.run(
          """
          WITH RECURSIVE other (number) AS (
            VALUES (1) UNION ALL SELECT number + 1 FROM other WHERE number < 600)
          INSERT /* test */ INTO account_text (account_key, folded)
          SELECT CAST(\(first) AS BIGINT) - number, 'ł' FROM other
          """)
      }
      #expect(try await identity.indexUsers())
      #expect(try await identity.accounts.search(instance.east, "lucja").hits.count == 1)
      while try await identity.indexUsers() {}
      #expect(try await identity.accounts.search(instance.east, "lucja").hits.count == 3)
      try await instance.database.write { connection in
        try connection.run("DELETE /* test */ FROM account_text WHERE folded = 'ł'")
      }
    }
  }
}
