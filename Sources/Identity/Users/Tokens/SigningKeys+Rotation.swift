import Crypto
import Database

public enum KeyRotationError: Error, Sendable {
  /// Another key is already published and will sign from this time on.
  case anotherIsWaiting(Instant)
  case isTheOnlyOne
}

public enum SigningKeyState: String, Sendable {
  /// Published, but not signing yet.
  case waiting
  case signing
  /// No longer signing, but its signatures are still valid.
  case verifying
}

extension SigningKeys {
  /// How long verifiers may cache the published keys, in seconds, as stated in `Cache-Control`.
  public static let publicationLifetime: Int64 = 3_600
  /// The longest lifetime of anything signed, in seconds: a session cookie of two weeks.
  public static let longestSigned: Int64 = 14 * 86_400
  /// The tolerance for clock differences and for processes that learn about a key late, in seconds.
  static let slack: Int64 = 300
  /// The time after which every server on a database has loaded a new key, in seconds.
  static let adoption: Int64 = 10

  /// Lists the keys with their current states; the key that signs last comes first.
  public func list() async throws -> [(SigningKeyTimes, SigningKeyState)] {
    let now = store.clock.now()
    let times = try await store.read { connection in
      try Self.times(connection)
    }
    let signing = times.first { $0.signsFrom <= now }
    return times.filter { $0.isBelieved(at: now) }.map { key in
      (key, key.signsFrom > now ? .waiting : key == signing ? .signing : .verifying)
    }
  }

  /// Creates a key that replaces the signing one.
  ///
  /// It's published immediately and starts signing once every verifier has had time to fetch it.
  /// Signatures of earlier keys stay valid until everything they signed has expired.
  ///
  /// If it starts signing `immediately`, verifiers that haven't fetched it yet reject its tokens.
  @discardableResult
  public func rotate(
    immediately: Bool = false, by author: Author
  ) async throws -> SigningKeyTimes {
    let now = store.clock.now()
    // Other servers load the key within a few seconds.
    let adoption: Int64 = store.database.dialect.sharesDatabase ? Self.adoption : 0
    let signsFrom = now.advanced(
      bySeconds: immediately ? adoption : Self.publicationLifetime + Self.slack)
    let key = try NewSigningKey(sealer, store.random, at: now)
    let created = try await store.write(by: author) { connection in
      var before = try Self.times(connection)
      if let waiting = before.first(where: { $0.signsFrom > now }) {
        guard immediately else { throw KeyRotationError.anotherIsWaiting(waiting.signsFrom) }
        // It's in the same database as the key that's replaced at once, and may be known as well.
        try Self.delete(waiting, because: .early, by: author, at: now, connection)
        before.removeAll { $0.id == waiting.id }
      }
      let until = signsFrom.advanced(bySeconds: Self.longestSigned + Self.slack)
      for old in before where old.verifiesUntil == nil || old == before.first {
        try Self.believe(old.id, until: until, connection)
      }
      try key.insert(signsFrom: signsFrom, at: now, connection)
      var entry = AuditEntry(.signingKeyRotate, .signingKey, key.id, name: key.id)
      entry.add(.signingKey, from: .optional(before.first?.id), to: .text(key.id))
      entry.add(.signsFrom, .instant(signsFrom))
      try entry.record(by: author, at: now, connection)
      return try Self.times(connection).first { $0.id == key.id }
    }
    guard let created else { throw Failure("the new key vanished") }
    try await refresh()
    return created
  }

  /// Retires a key early; everything it signed is rejected from now on.
  ///
  /// If it's the signing key, a waiting one replaces it immediately. If it's the waiting key, the
  /// one before it keeps signing.
  public func retire(_ id: String, by author: Author) async throws {
    let now = store.clock.now()
    try await store.write(by: author) { connection in
      let all = try Self.times(connection)
      guard let key = all.first(where: { $0.id == id }) else { throw CallError.notFound }
      // The first key has no successor: it's the signing key or will be.
      guard let next = all.first(where: { $0.id != id }) else {
        throw KeyRotationError.isTheOnlyOne
      }
      let isSigning = key == all.first { $0.signsFrom <= now }
      if next.verifiesUntil != nil {
        guard !isSigning else { throw KeyRotationError.isTheOnlyOne }
        try Self.believe(next.id, until: nil, connection)
      } else if isSigning {
        try connection.run(
          "UPDATE signing_key SET signs_from = \(now) WHERE key_id = \(next.id)")
      }
      try Self.delete(key, because: .early, by: author, at: now, connection)
    }
    try await refresh()
  }

  /// Retires keys after everything they signed has expired.
  func retireExpired() async throws {
    let now = store.clock.now()
    let due = try await store.read { connection in
      try Self.times(connection).contains { !$0.isBelieved(at: now) }
    }
    guard due else { return }
    try await store.write { connection in
      for key in try Self.times(connection) where !key.isBelieved(at: now) {
        try Self.delete(
          key, because: .expired, by: Author(actor: .server), at: now, connection)
      }
    }
    try await refresh()
  }

  private static func believe(
    _ id: String, until moment: Instant?, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      "UPDATE signing_key SET verifies_until = \(moment) WHERE key_id = \(id)")
  }

  /// Why a key is retired; the raw value is the code in the audit log.
  private enum Retirement: String {
    /// By an administrator, before everything it signed has expired.
    case early
    case expired
  }

  /// Deletes the key with its private key, which is in the same row.
  private static func delete(
    _ key: SigningKeyTimes, because reason: Retirement, by author: Author, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    try connection.run("DELETE FROM signing_key WHERE key_id = \(key.id)")
    var entry = AuditEntry(.signingKeyRetire, .signingKey, key.id, name: key.id)
    entry.add(.createdAt, lost: .instant(key.createdAt))
    entry.add(.retirement, .code(reason.rawValue))
    try entry.record(by: author, at: now, connection)
  }
}

extension SigningKeys: ReencryptableStore {
  static let name = "signing_key"

  func reseal(
    after position: String, limit: Int, _ connection: borrowing Connection
  ) throws -> ResealedPart {
    try ResealedPart(
      of: "signing_key", by: "key_id", "sealed_key", after: position, limit: limit, connection
    ) { id, sealed in
      try StoredSecret.signingKey(id).opening {
        try sealer.resealed(sealed, with: Array(id.utf8))
      }
    }
  }
}
