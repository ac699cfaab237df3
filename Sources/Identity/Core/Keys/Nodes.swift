import Crypto
public import Database

/// The servers on one database ("nodes"), as each reports itself: where its master key is, and which
/// keys it has.
///
/// A master key encrypts only once every live node has it. A file has one server, which reports
/// nothing.
public struct Nodes: Sendable {
  public struct Node: Sendable, Equatable {
    /// The host, and the file or variable with the master key.
    public let place: String
    public let keys: [String]
  }

  /// How long a server is considered live after a report, in seconds.
  public static let length: Int64 = 30

  let store: Store
  let ring: KeyRing
  private let id = RandomSource.system.uuid()

  /// - Returns: False if the server lacks the master key that encrypts.
  public func report(_ place: String) async throws -> Bool {
    guard store.database.dialect.sharesDatabase else { return true }
    let until = store.clock.now().advanced(bySeconds: Self.length)
    let ids = ring.ids
    let id = id
    return try await store.write { connection in
      try connection.run(
        """
        INSERT INTO node (node_id, place, master_keys, until)
        VALUES (\(id), \(place), \(ids.joined(separator: " ")), \(until))
        ON CONFLICT (node_id) DO UPDATE SET place = excluded.place,
          master_keys = excluded.master_keys, until = excluded.until
        """)
      // In one transaction with the report: a new key is recorded in one that reads all reports.
      guard let latest = try MasterKeys.latest(connection) else { return true }
      return ids.contains(latest.id)
    }
  }

  /// Ends the reports of this server, and deletes those of servers that ended without doing so.
  public func leave() async throws {
    guard store.database.dialect.sharesDatabase else { return }
    let id = id
    try await store.write { now, connection in
      try connection.run("DELETE FROM node WHERE node_id = \(id)")
      try connection.run("DELETE FROM node WHERE until < \(now)")
    }
  }

  public func lacking(_ key: String) async throws -> [Node] {
    try await store.read { now, connection in
      try Self.lacking(key, at: now, connection)
    }
  }

  static func lacking(
    _ key: String, at now: Instant, _ connection: borrowing Connection
  ) throws -> [Node] {
    try live(at: now, connection).filter { !$0.keys.contains(key) }
  }

  public static func count(
    on database: any Database, at now: Instant
  ) async throws -> Int {
    try await database.read { try live(at: now, $0).count }
  }

  static func live(at now: Instant, _ connection: borrowing Connection) throws -> [Node] {
    try connection.all(
      "SELECT place, master_keys FROM node WHERE until > \(now) ORDER BY place"
    ) { row in
      Node(
        place: try row.next(),
        keys: (try row.next() as String).split(separator: " ").map(String.init))
    }
  }
}
