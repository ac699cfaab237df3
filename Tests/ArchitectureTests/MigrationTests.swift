import Foundation
import Testing

/// A migration that the last release can't work with makes that release refuse the database.
///
/// A release runs all migrations since the one before it, so one of them has to raise
/// `oldest_program` if any of them takes something away.
struct MigrationTests {
  /// The last release, and the number of its last migration; a new fixture comes with a new line.
  private static let lastRelease = (version: "0.2.0", migration: 68)

  @Test func `the last release is the one with the newest fixture`() throws {
    let folder = SourceTree.root.appending(path: "Tests/Fixtures/releases")
    let versions = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { $0.hasSuffix(".tar.gz") }.map { String($0.dropLast(7)) }
    let newest = versions.max { $0.compare($1, options: .numeric) == .orderedAscending }
    #expect(newest == Self.lastRelease.version)
  }

  @Test(arguments: ["sqlite", "postgresql"])
  func `migrations that take something away since then raise the oldest program`(
    dialect: String
  ) throws {
    let files = try Self.migrations(dialect)
      .filter { Self.number(of: $0.path) > Self.lastRelease.migration }
      // What a new database begins with takes nothing away.
      .filter { !$0.path.contains("baseline") }
    #expect(!files.isEmpty)
    let losses = files.flatMap { file in Self.losses(in: file.text).map { "\(file): \($0)" } }
    let raises = files.contains {
      Self.raisesOldestProgram($0.text, above: Self.lastRelease.version)
    }
    #expect(losses.isEmpty || raises, "\(losses)")
  }

  @Test func `each loss is found, and a table that's made again isn't one`() {
    let losses = Self.losses(
      in: """
        -- DROP TABLE comment;
        DROP TABLE gone;
        ALTER TABLE account DROP COLUMN email;
        ALTER TABLE account RENAME COLUMN a TO b;
        ALTER TABLE account RENAME TO user;
        ALTER TABLE account ADD COLUMN c INTEGER NOT NULL;
        alter table account add column d text not null default '';
        ALTER TABLE account ADD COLUMN e TEXT;
        CREATE TABLE earlier AS SELECT * FROM kept;
        DROP TABLE kept;
        CREATE TABLE kept (a INTEGER);
        DROP TABLE earlier;
        CREATE TABLE new_session (a INTEGER);
        DROP TABLE IF EXISTS session;
        ALTER TABLE new_session RENAME TO session;
        DROP INDEX account_by_email;
        """)
    #expect(
      losses == [
        "DROP TABLE gone", "ALTER TABLE account DROP COLUMN email",
        "ALTER TABLE account RENAME COLUMN a TO b", "ALTER TABLE account RENAME TO user",
        "ALTER TABLE account ADD COLUMN c INTEGER NOT NULL",
      ])
  }

  @Test(arguments: [
    ("INSERT INTO instance (name, value) VALUES ('oldest_program', '0.2.0')", true),
    ("UPDATE instance SET value = '0.3.0' WHERE name = 'oldest_program';", true),
    ("UPDATE instance SET value = '0.1.0' WHERE name = 'oldest_program';", false),
    ("-- oldest_program stays at 0.1.0, or '0.2.0'", false),
  ])
  func `only a version above the last release raises it`(text: String, raises: Bool) {
    #expect(Self.raisesOldestProgram(text, above: "0.1.0") == raises)
  }

  private static func migrations(_ dialect: String) throws -> [SourceFile] {
    let folder = "Sources/Identity/Migrations"
    return try FileManager.default
      .contentsOfDirectory(atPath: SourceTree.root.appending(path: folder).path).sorted()
      .filter { $0.hasSuffix("_\(dialect).sql") }.map { try SourceTree.file("\(folder)/\($0)") }
  }

  private static func number(of path: String) -> Int {
    path.firstMatch(of: /m(\d+)_/).flatMap { Int($0.1) } ?? 0
  }

  /// The statements without comments, with single spaces.
  private static func statements(in text: String) -> [String] {
    let code: [Substring] = text.split(separator: "\n").map { line in
      line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line
    }
    let whole: String = code.joined(separator: " ")
    return whole.split(separator: ";").map { statement in
      let words: [Substring] = statement.split(whereSeparator: \.isWhitespace)
      return words.joined(separator: " ")
    }
  }

  /// The statements that take away what an earlier program reads or writes.
  private static func losses(in text: String) -> [String] {
    let statements = statements(in: text)
    // A table that's made in the same file: again, with its rows, or only for a while.
    let made = Set(
      statements.compactMap {
        $0.firstMatch(of: /(?i)^CREATE (?:TEMP |TEMPORARY )?TABLE (?:IF NOT EXISTS )?(\w+)/)?.1
      })
    let renamed = Set(
      statements.compactMap { statement -> Substring? in
        let found = statement.firstMatch(of: /(?i)^ALTER TABLE (\w+) RENAME TO (\w+)/)
        return found.flatMap { made.contains($0.1) ? $0.2 : nil }
      })
    return statements.filter { statement in
      if let found = statement.firstMatch(of: /(?i)^DROP TABLE (?:IF EXISTS )?(\w+)/) {
        return !made.contains(found.1) && !renamed.contains(found.1)
      }
      if let found = statement.firstMatch(of: /(?i)^ALTER TABLE (?:ONLY )?(\w+) RENAME/) {
        return !made.contains(found.1)
      }
      if statement.contains(/(?i)^ALTER TABLE .* DROP (?:COLUMN )?(?!CONSTRAINT|DEFAULT|NOT)/) {
        return !statement.contains(/(?i)DROP (?:CONSTRAINT|DEFAULT|NOT NULL)/)
      }
      return statement.contains(/(?i)^ALTER TABLE .* ADD (?:COLUMN )?.*NOT NULL/)
        && !statement.contains(/(?i)\bDEFAULT\b|\bGENERATED\b|ADD CONSTRAINT/)
    }
  }

  private static func raisesOldestProgram(_ text: String, above version: String) -> Bool {
    statements(in: text).filter { $0.contains("'oldest_program'") }.contains { statement in
      statement.matches(of: /'(\d+\.\d+\.\d+)'/).contains {
        String($0.1).compare(version, options: .numeric) == .orderedDescending
      }
    }
  }
}
