import Database
import DatabaseSQLite
import Synchronization
import TestDatabases
import Testing

/// The texts of all statements that the product ran in a test, and how many ran.
final class Statements: Sendable {
  private let texts = Mutex<Set<String>>([])
  private let runs = Mutex(0)

  var all: Set<String> { texts.withLock { $0 } }
  var count: Int { runs.withLock { $0 } }

  func record(_ text: String) {
    // Tests mark their own statements.
    guard !text.contains("/* test */") else { return }
    texts.withLock { _ = $0.insert(text) }
    runs.withLock { $0 += 1 }
  }
}

extension Instance {
  /// Expects that no statement scanned a table or, in SQLite, sorted without an index.
  func expectPlansWithoutScans() async throws {
    let new = statements.all.filter(Plans.isNew)
    for (text, faults) in try await Plans.faults(of: new.sorted(), test) {
      #expect(faults.isEmpty, "\(text)")
    }
  }

  /// Returns SQLite's plan for a statement.
  func plan(of text: String) async throws -> [String] {
    try await #require(database as? SQLiteDatabase).queryPlan(of: text)
  }
}

/// Checks of query plans.
enum Plans {
  /// Statements that may scan or sort, by a part of their text, and why.
  static let allowed: [String: String] = [
    "FROM administrator ORDER BY": "administrators are few, and all of them are listed",
    "FROM administrator_grant WHERE (ends_at": "administrators are few, and all of them are listed",
    "FROM support_hold h \(isSQLite ? "CROSS JOIN" : "JOIN")":
      "blocked agents are few, and all of them are listed",
    "FROM invitation ORDER BY": "invitations are few, and all of them are listed",
    "FROM signing_key": "keys are few, and read at the start and when one is created",
    "UPDATE evidence_key SET retired_at": "keys are few, and retired one by one",
    "FROM evidence_key": "keys are few, and all of them are listed",
    "FROM master_key": "there is one key, or two during a rotation",
    "FROM node WHERE until": "the servers on one database are few",
    "THEN 1 END AS old": "the inner statement reads a limited part of an index",
    "FROM schema_migration": "migrations are few, and read once at the start",
    "FROM service_token WHERE project_id": "the tokens of one project are few, and sorted",
    "s.tenant_id IN (": "the tenants of an administrator's grants are few, and sorted",
    "AS place FROM scope s": "the tenants of one project are sorted by unindexed values",
  ].merging(isSQLite ? sorting : [:]) { piece, _ in piece }

  /// Statements that sort, which only SQLite's plans show.
  private static let sorting: [String: String] = [
    "approval v INDEXED BY approval_waiting": "pending requests are few, and have an index"
  ]

  /// Statements that run only at the start or during a restore, and why they may scan or sort.
  private static let allowedOffline: [String: String] = [
    "FROM audit ORDER BY audit_id DESC LIMIT 1": "the last row by its key, read at the start",
    "FROM session ORDER BY session_id DESC LIMIT 1": "the last row by its key, read at the start",
    "FROM pragma_": "all of a backup is checked",
    "FROM sqlite_schema": "the tables of a backup are few",
    "FROM pg_catalog.": "the tables of a backup are few",
    "sum(users), 0) FROM scope": "a backup is counted once, when it is restored",
  ]

  private static var isSQLite: Bool { TestDatabase.isSQLite }

  private static let seen = Mutex<Set<String>>([])

  /// Returns whether a statement wasn't checked yet in any test.
  static func isNew(_ text: String) -> Bool { seen.withLock { $0.insert(text).inserted } }

  /// Returns the faults of each statement.
  static func faults(
    of texts: [String], _ test: TestDatabase
  ) async throws -> [(text: String, faults: [String])] {
    let texts = texts.filter { text in
      !["CREATE", "LOCK", "SELECT pg_catalog."].contains { text.hasPrefix($0) }
    }
    guard let database = test.database as? SQLiteDatabase else {
      let scans = try await test.scans(in: texts.filter { !isAllowed($0) })
      return scans.map { ($0.key, $0.value) }
    }
    var all: [(String, [String])] = []
    for text in texts {
      let plan = try await database.queryPlan(of: text)
      let faults = plan.filter(isFault)
      if faults.isEmpty { try IndexUses.record(text, plan: plan) }
      all.append((text, isAllowed(text) ? [] : faults))
    }
    return all
  }

  private static func isAllowed(_ text: String) -> Bool {
    allowed.keys.contains { text.contains($0) }
      || allowedOffline.keys.contains { text.contains($0) }
  }

  private static func isFault(_ line: String) -> Bool {
    line.hasPrefix("SCAN") && !line.contains(" CONSTANT ROW") && !isMatch(line)
      // The rows found by a recursion so far, or by a limited part of a table.
      && line != "SCAN chain" && line != "SCAN f"
      || line.contains("TEMP B-TREE")
  }

  /// Returns whether a line is a text search within a range of keys: the match M and both bounds.
  private static func isMatch(_ line: String) -> Bool {
    line.hasPrefix("SCAN account_search VIRTUAL TABLE INDEX") && line.hasSuffix(":M1><")
  }
}
