import Database
import DatabaseSQLite
import Identity

/// Checks the database file for corruption about once a day, in a quiet moment; a server's database
/// is checked by its operators.
struct IntegrityWatch: Sendable {
  private let identity: Identity
  private let database: SQLiteDatabase?
  private let log: Log

  /// How often it looks whether a check is due.
  private static let pause = Duration.seconds(600)
  /// The number of writes between two looks up to which the server is quiet.
  private static let fewWrites = 600
  /// The time after which a check is abandoned.
  private static let limit = Duration.seconds(1_800)

  init(_ instance: Instance, log: Log) {
    (identity, self.log) = (instance.identity, log)
    database = instance.database as? SQLiteDatabase
  }

  func run() async {
    guard let database else { return }
    async let _ = reportDamage(of: database)
    var writes = database.statistics.writes
    var abandoned: Instant?
    while (try? await Task.sleep(for: Self.pause)) != nil {
      let now = database.statistics.writes
      defer { writes = now }
      do {
        let isQuiet = now - writes <= Self.fewWrites
        guard try await identity.integrityChecks.isDue(isQuiet: isQuiet, abandoned: abandoned)
        else { continue }
        if try await !check(database) { abandoned = identity.clock.now() }
      } catch {
        log.add(.taskFailed(.checkIntegrity, reason: "\(error)"))
      }
    }
  }

  /// Reports the first statement that finds the file damaged, long before the next check does.
  private func reportDamage(of database: SQLiteDatabase) async {
    for await error in database.damages { log.add(.databaseDamaged([error.message])) }
  }

  /// Checks the file, and returns whether the check was completed.
  private func check(_ database: SQLiteDatabase) async throws -> Bool {
    let faults = try await database.quickCheck(
      most: IntegrityChecks.mostFaults, limit: Self.limit)
    guard let faults else {
      // The server may just be stopping.
      if !Task.isCancelled { log.add(.integrityCheckTooLong) }
      return false
    }
    if !faults.isEmpty {
      log.add(.databaseDamaged(faults))
    }
    try await identity.integrityChecks.record(faults)
    return true
  }
}
