import Database
import Testing

@testable import Identity

struct SearchUpgradeTests {
  @Test func `texts indexed before letters were replaced are indexed again at startup`()
    async throws
  {
    try await withInstance { instance in
      let accounts = instance.identity.accounts
      var person = NewAccount()
      person.displayName = "Łucja"
      let first = try await accounts.create(instance.east, person, by: Instance.boss)
      let last = try await accounts.create(instance.west, person, by: Instance.boss)
      func found(_ text: String) async throws -> [Int] {
        var counts: [Int] = []
        for scope in [instance.east, instance.west] {
          counts.append(try await accounts.search(scope, text).hits.count)
        }
        return counts
      }
      #expect(try await found("lu") == [1, 1])
      try await instance.database.write { connection in
        for key in [first.key, last.key] {
          let texts = try connection.all(
            "SELECT /* test */ folded FROM account_text WHERE account_key = \(key)"
          ) { try $0.value(0) as String }
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
        // More than what one transaction compares.
        try connection.run(
          """
          WITH RECURSIVE other (number) AS (
            VALUES (1) UNION ALL SELECT number + 1 FROM other WHERE number < 6000)
          INSERT /* test */ INTO account_text (account_key, folded)
          SELECT CAST(\(first.key) AS BIGINT) + number, 'other' FROM other
          """)
        try connection.run("DELETE /* test */ FROM instance WHERE name = 'search_replacements'")
      }
      for text in ["lu", "łucja"] { #expect(try await found(text) == [0, 0]) }
      try await instance.identity.prepare()
      for text in ["lu", "łucja", "lucja"] { #expect(try await found(text) == [1, 1]) }
      try await instance.database.write { connection in
        try connection.run("DELETE /* test */ FROM account_text WHERE folded = 'other'")
      }
    }
  }
}
