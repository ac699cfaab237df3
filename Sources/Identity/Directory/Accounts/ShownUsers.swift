import Database
import Synchronization

/// Many users whom lists showed to an administrator within an hour.
public struct ShownUsersMail: Sendable {
  public let pool: Pool
  /// The name of the administrator.
  public let administrator: String
  public let count: Int
  public let at: Instant
  /// The URL of the pool in the console.
  public let link: String
}

/// Counts the users whom lists show to an administrator, so that nobody reads through a pool unseen.
///
/// There's a counter for each administrator, pool, and hour, and after the hour an entry of the audit
/// log with its number, which names no users. A user is counted each time.
enum ShownUsers {
  /// The number of users of a pool in an hour above which owners are told at once.
  static let mostUntold = 1_000
  /// How long a counter waits for its entry, in seconds, such as while the server is stopped.
  private static let memory: Int64 = 90 * 86_400
  private static let hour: Int64 = 3_600

  static func count(
    _ pools: [DownloadedUsers.PoolCount], by author: Author, at now: Instant, _ store: Store,
    _ connection: borrowing Connection
  ) throws {
    guard case .administrator(let id, let administrator) = author.actor else { return }
    for pool in pools where pool.count > 0 {
      let name = CounterName.shownUsers(
        to: id, inHour: now.seconds / hour, of: pool.project, pool.tenant)
      let total = try connection.first(
        """
        INSERT INTO throttle (name, failures, blocked_until, expires_at)
        VALUES (\(name.text), \(pool.count), 0, \(now.advanced(bySeconds: memory)))
        ON CONFLICT (name) DO UPDATE SET failures = throttle.failures + excluded.failures
        RETURNING failures
        """
      ) { try $0.next() as Int }
      guard let total, total > mostUntold, total - pool.count <= mostUntold else { continue }
      guard let found = try pool.find(connection) else { continue }
      let mail = ShownUsersMail(
        pool: found, administrator: administrator, count: total, at: now,
        link: store.links.overview(of: found))
      try store.outbox.notifyOwners(.usersShown, .usersShown(mail), of: found, at: now, connection)
    }
  }

  /// Writes the entries of the hours that are over, a limited number at a time.
  ///
  /// - Returns: True if there may be more.
  static func recordHours(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    let (first, end) = CounterName.shownUsers(beforeHour: now.seconds / hour)
    let names = try connection.all(
      """
      SELECT name FROM throttle WHERE name >= \(first) AND name < \(end)
      ORDER BY name LIMIT \(CleanupLimit.rows)
      """
    ) { try $0.next() as String }
    for name in names {
      let count = try connection.first(
        "DELETE FROM throttle WHERE name = \(name) RETURNING failures"
      ) { try $0.next() as Int }
      let parts = name.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
      guard let count, parts.count == 5, let hours = Int64(parts[1]) else { continue }
      let (id, tenant) = (ID<Administrator>(parts[2]), parts[4])
      let pool = DownloadedUsers.PoolCount(
        ID(parts[3]), tenant.isEmpty ? nil : ID(tenant), count: count)
      let reader = try Administrators.present(id, at: now, connection)
      var entry = pool.entry(
        .accountList, name: try pool.find(connection)?.name ?? pool.objectID)
      entry.add(.time, .instant(Instant(seconds: hours * hour)))
      try entry.record(
        by: Author(actor: .administrator(id, name: reader?.displayName ?? "")), at: now, connection)
    }
    return names.count == CleanupLimit.rows
  }
}

/// Lists of users that were shown while the database couldn't be written, which keeps no
/// administrator from reading: they're counted with the next ones.
final class UncountedUsers: Sendable {
  struct List: Sendable {
    let pool: DownloadedUsers.PoolCount
    let author: Author
  }

  /// The number of lists that are kept, the last ones.
  private static let most = 10_000

  private let lists = Mutex<[List]>([])

  func take() -> [List] {
    lists.withLock { lists in
      let all = lists
      lists = []
      return all
    }
  }

  func keep(_ more: [List]) { lists.withLock { $0 = Array(($0 + more).suffix(Self.most)) } }
}

extension Accounts {
  /// Counts users whom a list in the console is about to show.
  public func recordShown(_ users: DownloadedUsers, by author: Author) async throws {
    let (now, store) = (store.clock.now(), store)
    let pools = users.counts.filter { $0.count > 0 }
    guard !pools.isEmpty else { return }
    let lists = uncounted.take() + pools.map { UncountedUsers.List(pool: $0, author: author) }
    do {
      try await store.write(by: author) { connection in
        for list in lists {
          try ShownUsers.count([list.pool], by: list.author, at: now, store, connection)
        }
      }
    } catch {
      uncounted.keep(lists)
      // A full disk must not break read-only pages.
      guard error is DatabaseError else { throw error }
    }
  }
}
