public import Database

/// The checks of the database file for corruption, of which the latest is kept.
public struct IntegrityChecks: Sendable {
  let store: Store

  /// The interval of checks in a quiet moment, in seconds.
  static let interval: Int64 = 86_400
  /// The interval after which a check doesn't wait for a quiet moment, in seconds.
  static let longestInterval: Int64 = 36 * 3_600
  /// The age at which a check no longer proves anything, in seconds.
  static let longestAge: Int64 = 3 * 86_400
  public static let mostFaults = 5

  public struct Result: Sendable, Equatable {
    public let checkedAt: Instant
    /// The first lines of the database's report; empty if it found nothing.
    public let faults: [String]
  }

  public enum Problem: Sendable, Equatable {
    case damaged
    /// No check was completed for three days.
    case overdue
  }

  /// Returns the latest result; nil before the first check.
  public func latest() async throws -> Result? {
    try await store.read { connection in
      try connection.first("SELECT checked_at, faults FROM integrity_check WHERE one = 1") { row in
        Result(
          checkedAt: try row.next(),
          faults: (try row.next() as String).split(separator: "\n").map(String.init))
      }
    }
  }

  /// `abandoned` is when a check was last abandoned because it took too long, nil if none was: the
  /// next one wouldn't be faster a few minutes later.
  public func isDue(isQuiet: Bool, abandoned: Instant? = nil) async throws -> Bool {
    let now = store.clock.now().seconds
    // A clock that was set back would delay the check for as long.
    if let abandoned, (0..<Self.interval).contains(now - abandoned.seconds) { return false }
    guard let latest = try await latest() else { return isQuiet }
    let age = now - latest.checkedAt.seconds
    return age < 0 || age >= (isQuiet ? Self.interval : Self.longestInterval)
  }

  /// `faults` are the lines of the database's report; empty if it found nothing.
  public func record(_ faults: [String]) async throws {
    let text = faults.prefix(Self.mostFaults).joined(separator: "\n")
    try await store.write { now, connection in
      _ = try connection.run(
        """
        INSERT INTO integrity_check (one, checked_at, faults)
        VALUES (1, \(now), \(text))
        ON CONFLICT (one) DO UPDATE SET
          checked_at = excluded.checked_at, faults = excluded.faults
        """)
    }
  }

  /// `start` is that of the server, before which it couldn't check anything.
  public func problem(since start: Instant) async throws -> Problem? {
    let latest = try await latest()
    guard latest?.faults.isEmpty ?? true else { return .damaged }
    let last = max(latest?.checkedAt ?? start, start)
    return store.clock.now().seconds - last.seconds > Self.longestAge ? .overdue : nil
  }

  /// Returns the latest result if it found corruption, for owners of the instance.
  public func damage(
    visibleTo administrator: Administrator
  ) async throws -> Result? {
    guard administrator.may(.manageTrust, project: nil, tenant: nil) else { return nil }
    guard let latest = try await latest(), !latest.faults.isEmpty else { return nil }
    return latest
  }
}

/// Why PostgreSQL's index doesn't help all searches of users.
public enum SearchIndexFault: Sendable {
  /// There's none, since PostgreSQL had no extension `pg_trgm` that the schema could use when it was
  /// created: each search reads the texts of all users.
  case missing
  /// It has only the letters of ASCII, since the database was created with the LC_CTYPE C: searches
  /// for other letters read the texts of all users.
  case onlyASCII
}

extension Identity {
  public var integrityChecks: IntegrityChecks { IntegrityChecks(store: store) }

  /// SQLite has no such faults.
  public static func searchIndexFaults(
    of database: any Database
  ) async throws -> [SearchIndexFault] {
    guard database.dialect.sharesDatabase else { return [] }
    return try await database.read { connection in
      let index = try connection.first(
        "SELECT 1 FROM \(SQL.indexes) WHERE name = 'account_text_by_part'"
      ) { _ in true }
      let isASCII = try connection.first(
        "SELECT \(SQL.characterLocale) IN ('C', 'POSIX')"
      ) { try $0.next() as Bool }
      return (index == nil ? [.missing] : []) + (isASCII == true ? [.onlyASCII] : [])
    }
  }
}
