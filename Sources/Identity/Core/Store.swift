import Crypto
package import Database
import Synchronization

/// The dependencies of every use case.
///
/// A class, since every use case and every write keeps it.
package final class Store: Sendable {
  let database: any Database
  let profile: Profile
  let clock: WallClock
  let random: RandomSource
  let outbox: Outbox
  let links: ActionLinks
  let administratorTOTP: AdministratorTOTP
  let expectedTime: ExpectedTime
  let passwordAttempts = PasswordAttempts()
  let bulkWork = WorkSignal()
  let pacer = Pacer()
  /// Tells this process from all others that send changes.
  let process = RandomSource.system.uuid()
  private let refusesWrites = Mutex(false)

  /// Whether this program may write to the database: its schema isn't for newer ones only, and the
  /// file isn't damaged.
  var isUsable: Bool {
    get { refusesWrites.withLock { !$0 } }
    set { refusesWrites.withLock { $0 = !newValue } }
  }

  init(
    database: any Database, profile: Profile, clock: WallClock, random: RandomSource,
    outbox: Outbox, links: ActionLinks, administratorTOTP: AdministratorTOTP,
    expectedTime: ExpectedTime
  ) {
    self.database = database
    self.profile = profile
    self.clock = clock
    self.random = random
    self.outbox = outbox
    self.links = links
    self.administratorTOTP = administratorTOTP
    self.expectedTime = expectedTime
  }

  /// Runs `body` in one transaction, which an error rolls back.
  package func write<T: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    guard isUsable else { throw DatabaseError(.busy, "unusable") }
    do { return try await database.write(body) } catch let error as UnreadableSecret {
      await report(error)
      throw error
    }
  }

  /// Reads from one snapshot.
  package func read<T: Sendable>(
    _ body: @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    do { return try await database.read(body) } catch let error as UnreadableSecret {
      await report(error)
      throw error
    }
  }

  /// Runs `body` in one transaction, like ``write(_:)``, with the time of the call.
  func write<T: Sendable>(
    _ body: @escaping @Sendable (Instant, borrowing Connection) throws -> T
  ) async throws -> T {
    let now = clock.now()
    return try await write { connection in try body(now, connection) }
  }

  /// Reads from one snapshot, like ``read(_:)``, with the time of the call.
  func read<T: Sendable>(
    _ body: @Sendable (Instant, borrowing Connection) throws -> T
  ) async throws -> T {
    let now = clock.now()
    return try await read { connection in try body(now, connection) }
  }

  /// Records a secret that couldn't be decrypted, in a separate transaction because the original
  /// one is rolled back.
  private func report(_ failure: UnreadableSecret) async {
    let now = clock.now()
    // If this fails too, the first failure is still logged.
    try? await database.write { try UnreadableSecrets.record(failure, at: now, $0) }
  }

  /// Returns the digest that's stored instead of a token.
  ///
  /// Tokens are long and random, so a plain digest is enough.
  static func digest(_ token: String) -> [UInt8] { HashFunction.sha256.digest(Array(token.utf8)) }
}

/// The operating mode of a data folder.
public enum Profile: String, Sendable {
  /// Real signatures and real credentials.
  case standalone
  /// The behavior Firebase SDKs expect with `FIREBASE_AUTH_EMULATOR_HOST`; for development.
  case emulator

  static func stored(_ connection: borrowing Connection) throws -> Profile? {
    try connection.first("SELECT value FROM instance WHERE name = 'profile'") {
      Profile(rawValue: try $0.next())
    } ?? nil
  }
}
