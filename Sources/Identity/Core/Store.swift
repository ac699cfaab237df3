import Crypto
import Database

/// A use case's error that has a case for "the database cannot do it now".
protocol UseCaseError: Error {
  /// The case for a database that failed; the cause is for the log alone.
  static func unavailable(_ cause: Failure) -> Self
}

/// Why something could not be done that is nobody's fault who asked: for the log, never shown.
public struct Failure: Error, Sendable, CustomStringConvertible {
  /// What happened, without values of users.
  public let description: String

  init(_ error: any Error) {
    description = String(describing: error)
  }

  init(_ description: String) { self.description = description }
}

/// What every use case works with.
struct Store: Sendable {
  let database: any Database
  let profile: Profile
  let clock: WallClock
  let random: RandomSource
  let outbox: Outbox
  let links: ActionLinks
  let administratorTOTP: AdministratorTOTP

  /// Runs `body` in one transaction and translates what the database throws, once.
  func write<T: Sendable, E: UseCaseError>(
    _ error: E.Type, _ body: @escaping @Sendable (borrowing Connection) throws -> T
  ) async throws(E) -> T {
    do {
      return try await database.write(body)
    } catch let known as E {
      throw known
    } catch {
      await report(error)
      throw E.unavailable(Failure(error))
    }
  }

  /// Reads from one snapshot and translates what the database throws, once.
  func read<T: Sendable, E: UseCaseError>(
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

  /// Writes a secret down that didn't open, in a write of its own: the one that needed it is undone.
  private func report(_ error: any Error) async {
    guard let failure = error as? UnreadableSecret else { return }
    let now = clock.now()
    // When this fails too, the log has the failure of the use case.
    try? await database.write { try UnreadableSecrets.record(failure, at: now, $0) }
  }

  /// The digest under which a token is kept, so that the database does not hold the token.
  ///
  /// Tokens are random and long, so a plain digest is enough.
  static func digest(_ token: String) -> [UInt8] { HashFunction.sha256.digest(Array(token.utf8)) }
}

/// A part of a list and the key at which the next part begins.
public struct Page<Element: Sendable>: Sendable {
  /// The elements, in the list's order.
  public let items: [Element]
  /// What to pass as `after` for the next part; nil at the end.
  public let next: String?

  /// Makes a part.
  public init(items: [Element], next: String?) {
    self.items = items
    self.next = next
  }

  /// How many elements a part has at most when `limit` were asked for: never none, and never so
  /// many that reading them takes the memory of the server.
  static func size(_ limit: Int) -> Int { min(max(limit, 1), 100_000) }

  /// Makes a part of at most `limit` elements from one that was read with one more.
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
