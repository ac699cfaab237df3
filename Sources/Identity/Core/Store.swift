import Crypto
package import Database

/// An error type of a use case, with a case for an unavailable database.
package protocol UseCaseError: Error {
  /// The database failed; the cause is only for the log.
  static func unavailable(_ cause: Failure) -> Self
  /// The user pool was deleted after the call found it.
  static func deleted(_ scope: Scope) -> Self
  /// Sign-in was disabled in the user pool after the call found it.
  static func signInDisabled(_ scope: Scope) -> Self
  /// The author's service token was revoked, or its creator's role ended, after the request began.
  static var revokedToken: Self { get }
  static func refusedSignUp(until: Instant) -> Self
  static func changedTooOften(until: Instant) -> Self
}

extension UseCaseError {
  package static func deleted(_ scope: Scope) -> Self {
    unavailable(Failure(DeletedScope(scope: scope)))
  }

  package static func signInDisabled(_ scope: Scope) -> Self {
    unavailable(Failure(DisabledScope(scope: scope)))
  }

  package static var revokedToken: Self { unavailable(Failure(RevokedToken())) }

  package static func refusedSignUp(until: Instant) -> Self {
    unavailable(Failure(TooManySignUps(until: until)))
  }

  package static func changedTooOften(until: Instant) -> Self {
    unavailable(Failure(SessionError.tooManyChanges(until: until)))
  }
}

/// Creating something in a user pool failed because the pool was deleted meanwhile.
struct DeletedScope: Error {
  let scope: Scope
}

/// Beginning a session failed because sign-in was disabled in its user pool meanwhile.
struct DisabledScope: Error {
  let scope: Scope
}

/// A write failed because its author's service token was revoked meanwhile.
struct RevokedToken: Error {}

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
  /// Whether the author's service token was revoked during the request; nothing was stored.
  public let isRevokedToken: Bool

  package init(_ error: any Error) {
    // A use case that another one calls.
    if let failure = Failure(of: error) {
      self = failure
      return
    }
    description = String(describing: error)
    reason = (error as? DatabaseError)?.message ?? description
    isTemporary = (error as? DatabaseError)?.isTemporary == true
    isBusy = (error as? DatabaseError)?.code == .busy
    isRevokedToken = error is RevokedToken
  }

  package init(_ description: String) {
    self.description = description
    reason = description
    isTemporary = false
    isBusy = false
    isRevokedToken = false
  }

  /// Returns the failure that made a use case unavailable; nil for another error.
  ///
  /// The error types of all use cases have the case ``UseCaseError/unavailable(_:)``, and no other
  /// common type that a caller could catch.
  public init?(of error: any Error) {
    guard let first = Mirror(reflecting: error).children.first, first.label == "unavailable",
      let failure = first.value as? Failure
    else { return nil }
    self = failure
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

  /// Runs `body` in one transaction, like ``write(_:_:)``, if its author's credential is still valid
  /// then.
  ///
  /// A service token is read when its request begins, and can be revoked before the write: while other
  /// writes of the request run, or a password is hashed.
  package func write<T: Sendable, E: UseCaseError>(
    by author: Author, _ error: E.Type,
    _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws(E) -> T {
    guard case .serviceToken = author.actor else { return try await write(error, body) }
    let now = clock.now()
    return try await write(error) { connection in
      guard try author.isInForce(at: now, connection) else { throw RevokedToken() }
      return try body(connection)
    }
  }

  /// Runs `body` in one transaction and translates database errors.
  package func write<T: Sendable, E: UseCaseError>(
    _ error: E.Type, _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws(E) -> T {
    do {
      return try await database.write(body)
    } catch let known as E {
      throw known
    } catch let deleted as DeletedScope {
      throw E.deleted(deleted.scope)
    } catch let disabled as DisabledScope {
      throw E.signInDisabled(disabled.scope)
    } catch is RevokedToken {
      throw E.revokedToken
    } catch let refused as TooManySignUps {
      throw E.refusedSignUp(until: refused.until)
    } catch SessionError.tooManyChanges(let until) {
      throw E.changedTooOften(until: until)
    } catch {
      await report(error)
      throw E.unavailable(Failure(error))
    }
  }

  /// Reads from one snapshot and translates database errors.
  package func read<T: Sendable, E: UseCaseError>(
    _ error: E.Type, _ body: @Sendable (borrowing Connection) throws -> T
  ) async throws(E) -> T {
    do {
      return try await database.read(body)
    } catch let known as E {
      throw known
    } catch {
      await report(error)
      throw E.unavailable(Failure(error))
    }
  }

  /// Records a secret that couldn't be decrypted, in a separate transaction because the original
  /// one is rolled back.
  private func report(_ error: any Error) async {
    guard let failure = error as? UnreadableSecret else { return }
    let now = clock.now()
    // If this fails too, the use case's failure is still logged.
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
