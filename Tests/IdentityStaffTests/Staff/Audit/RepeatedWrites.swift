import Database
import Synchronization
import TestDatabases
import Testing

/// A database that runs each write twice, undoing the first time, as PostgreSQL repeats a
/// transaction that conflicts with another one.
struct RepeatedWrites: Database {
  let base: any Database
  private let differences = Differences()

  private final class Differences: Sendable {
    let found = Mutex<[String]>([])
    let isOn = Mutex(false)
  }

  /// Undoes the first run, with what it did.
  private struct Undone: Error {
    let effect: Effect
  }

  /// What a write did: the number of rows in each table, and the audit entries with their fields.
  private struct Effect: Equatable {
    let rows: [String: Int]
    let audit: [String]

    init(_ connection: borrowing Connection) throws {
      var rows = try TestDatabase.contents(connection).mapValues(\.count)
      // As many as a random UID has different beginnings.
      rows["beginning"] = nil
      self.rows = rows
      audit = try connection.all(
        """
        SELECT /* test */ a.action, a.object_kind, a.note, c.field
        FROM audit a LEFT JOIN audit_change c USING (audit_id) ORDER BY a.audit_id, c.field
        """
      ) { row in
        let texts: [String?] = try (0..<4).map { _ in try row.next() }
        return texts.map { $0 ?? "" }.joined(separator: " ")
      }
    }
  }

  init(_ base: any Database) { self.base = base }

  /// Runs a body whose writes are repeated, and returns how a second run differed from the first.
  func repeating(_ body: () async -> Void) async -> [String] {
    differences.isOn.withLock { $0 = true }
    await body()
    differences.isOn.withLock { $0 = false }
    return differences.found.withLock { $0 }
  }

  func write<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    guard differences.isOn.withLock({ $0 }) else { return try await base.write(body) }
    var first: Effect?
    do {
      try await base.write { connection in
        _ = try body(connection)
        throw Undone(effect: try Effect(connection))
      }
    } catch let undone as Undone { first = undone.effect } catch {}
    let (value, second) = try await base.write { connection in
      (try body(connection), try Effect(connection))
    }
    if first != second {
      differences.found.withLock { $0.append("\(String(describing: first)), then \(second)") }
    }
    return value
  }

  var dialect: Dialect { base.dialect }
  var statistics: DatabaseStatistics { base.statistics }

  func read<T: Sendable>(
    _ body: @Sendable (borrowing Connection) throws -> T
  ) async throws -> T { try await base.read(body) }

  func snapshot<T>(
    _ body: nonisolated(nonsending) () async throws -> T
  ) async rethrows -> T { try await base.snapshot(body) }

  func checkpoint() async throws { try await base.checkpoint() }

  func compact(atMost bytes: Int) async throws { try await base.compact(atMost: bytes) }

  func settledKey(
    _ column: StaticString, of table: StaticString
  ) async throws -> Int64? { try await base.settledKey(column, of: table) }
}
