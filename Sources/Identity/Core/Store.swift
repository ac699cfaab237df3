import Crypto
package import Database
import JSON
import Synchronization
import Text

/// Why any use case can fail, whatever it does.
public enum CallError: Error, Sendable {
  /// What the call names doesn't exist, perhaps not anymore.
  case notFound
  /// The pool was deleted, perhaps after the call found it.
  case poolDeleted(Pool)
  /// Sign-in was disabled in the pool, perhaps after the call found it.
  case poolDisabled(Pool)
  /// The author's service token was revoked, or its creator's role ended, after the request began.
  case tokenRevoked
  /// The network created too many accounts; retry after this time.
  case tooManySignUps(until: Instant)
}

/// An internal failure that isn't the caller's fault; it's logged and never shown.
public struct Failure: Error, Sendable, CustomStringConvertible {
  /// The description, without user data.
  public let description: String
  /// The description of a database's error without its code and SQL; for operators.
  public let reason: String
  /// Whether the same call can succeed later, although nobody changes the configuration.
  public let isTemporary: Bool
  /// Whether the database was locked, or had too many other writes; nothing was stored.
  public let isBusy: Bool

  /// Creates the failure of the server that an error is; nil for what a use case refuses.
  public init?(of error: any Error) {
    guard
      error is Failure || error is DatabaseError || error is CryptoError
        || error is UnreadableSecret
    else { return nil }
    self.init(error)
  }

  public init(_ error: any Error) {
    if let failure = error as? Failure {
      self = failure
      return
    }
    description = String(describing: error)
    reason = (error as? DatabaseError)?.message ?? description
    isTemporary = (error as? DatabaseError)?.isTemporary == true
    isBusy = (error as? DatabaseError)?.code == .busy
  }

  package init(_ description: String) {
    self.description = description
    reason = description
    isTemporary = false
    isBusy = false
  }
}

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

  /// Runs `body` in one transaction, like ``write(_:)``, if its author's credential is still valid
  /// then.
  ///
  /// A service token is read when its request begins, and can be revoked before the write: while other
  /// writes of the request run, or a password is hashed.
  package func write<T: Sendable>(
    by author: Author, _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws -> T {
    guard case .serviceToken = author.actor else { return try await write(body) }
    let now = clock.now()
    return try await write { connection in
      guard try author.isInForce(at: now, connection) else { throw CallError.tokenRevoked }
      return try body(connection)
    }
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

public struct Page<Element: Sendable>: Sendable {
  public let items: [Element]
  /// The cursor to pass as `after` for the next page; nil on the last page.
  public let next: String?

  public init(items: [Element], next: String?) {
    self.items = items
    self.next = next
  }

  /// Returns the page size for a requested limit, from 1 to 100,000: a larger page could exhaust
  /// the server's memory.
  static func size(_ limit: Int) -> Int { min(max(limit, 1), 100_000) }

  /// Creates a page of up to `limit` items from a list read with one extra item.
  init(_ items: [Element], limit: Int, key: (Element) -> String) {
    if items.count > limit {
      let shown = Array(items.prefix(limit))
      self.items = shown
      next = shown.last.map(key)
    } else {
      self.items = items
      next = nil
    }
  }
}

/// A value of the whole server, such as a setting or the progress of a task.
struct InstanceValue: Sendable {
  /// The name in the table `instance`.
  let name: String

  init(_ name: String) { self.name = name }

  func read(_ connection: borrowing Connection) throws -> String? {
    try connection.first("SELECT value FROM instance WHERE name = \(name)") { try $0.next() }
  }

  func readNumber(_ connection: borrowing Connection) throws -> Int64? {
    try read(connection).flatMap { Int64($0) }
  }

  /// Stores the value; nil deletes it.
  func store(_ value: String?, _ connection: borrowing Connection) throws {
    guard let value else {
      try connection.run("DELETE FROM instance WHERE name = \(name)")
      return
    }
    try connection.run(
      """
      INSERT INTO instance (name, value) VALUES (\(name), \(value))
      ON CONFLICT (name) DO UPDATE SET value = excluded.value
      """)
  }
}

/// A stable code with values, as one column stores it: a JSON array of texts.
///
/// Text that earlier versions stored in such a column isn't an array and is read as nil.
struct StoredCode: Equatable {
  let code: String
  let values: [String]

  init(_ code: String, _ values: [String] = []) {
    (self.code, self.values) = (code, values)
  }

  init?(_ stored: String) {
    guard let json = try? JSON.parse(Array(stored.utf8)), let array = json.arrayValue else {
      return nil
    }
    let texts = array.compactMap { $0.textValue?.text }
    guard texts.count == array.count, let code = texts.first else { return nil }
    self.init(code, Array(texts.dropFirst()))
  }

  var text: String {
    let json = JSON.array(([code] + values).map { JSON.string($0) })
    return String(decoding: json.serialized(), as: UTF8.self)
  }
}

/// What happened in a request that the server logs, beyond its response.
public enum RequestEvent: Sendable {
  /// It failed for a reason that isn't shown to the client.
  case failed(cause: String)
  case denied(Actor, lacking: Permission)
  /// An administrator's sign-in with the provider failed because of the provider.
  case providerFailed(diagnosis: String)
}
