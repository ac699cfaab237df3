public import Crypto
public import Database

/// What the console keeps from one page for a later one, until it's taken or expires.
///
/// Everything is encrypted. It's stored in the database, so that any server on it can answer the
/// next request, except notices, which the browser keeps.
public struct ConsoleStorage: Sendable {
  let store: Store
  let sealer: Sealer

  public enum Kind: String, Sendable, CaseIterable, SQLConvertible {
    /// A code that the next page shows once.
    case code
    /// The fields of a form, for the page that contains it.
    case fields
    /// A form that was submitted after its session expired, or before a re-authentication.
    case draft
    /// A project that's being connected, with its credential.
    case connection

    /// How long it's kept, in seconds.
    public var lifetime: Int64 {
      switch self {
      case .code: 120
      case .fields: 300
      case .draft: 600
      case .connection: 3_600
      }
    }

    /// The maximum size in bytes.
    public var largest: Int {
      switch self {
      case .code: 1 << 10
      case .fields: 16 << 10
      case .connection: 64 << 10
      // As much as the server accepts of a list for a bulk removal, with its path.
      case .draft: (4 << 20) + (16 << 10)
      }
    }
  }

  public struct Owner: Sendable {
    let digest: [UInt8]

    /// The administrator in one session, also after its token was renewed.
    public static func session(_ session: ConsoleSession) -> Owner {
      Owner(digest: Store.digest("session \(session.csrfToken)"))
    }

    /// The administrator in any session.
    public static func administrator(_ id: ID<Administrator>) -> Owner {
      Owner(digest: Store.digest("administrator \(id.text)"))
    }
  }

  /// How long a notice is valid, in seconds.
  public static let noticeLifetime: Int64 = 300
  /// The maximum number of entries of an owner; the next one replaces the one that expires first.
  public static let most = 8
  /// The maximum size of an encrypted notice, in bytes.
  private static let longestNotice = 4_096

  /// Keeps something, replacing what was kept in its place.
  ///
  /// It's found only with the same subject.
  ///
  /// - Returns: False if it's too large.
  public func keep(
    _ content: Secret, as kind: Kind, about subject: String, for owner: Owner
  ) async throws -> Bool {
    guard content.count <= kind.largest else { return false }
    let place = Place(owner, kind, subject)
    let now = store.clock.now()
    let end = now.advanced(bySeconds: kind.lifetime)
    let sealed = try sealer.seal(content.revealedBytes, with: place.associated)
    try await store.write { connection in
      try connection.run(
        """
        INSERT INTO console_storage (owner_digest, kind, subject_digest, sealed, expires_at)
        VALUES (\(place.owner), \(kind), \(place.subject), \(sealed), \(end))
        ON CONFLICT (owner_digest, kind, subject_digest) DO UPDATE SET
          sealed = excluded.sealed, expires_at = excluded.expires_at
        """)
      try Self.removeExcess(of: place.owner, connection)
    }
    return true
  }

  private static func removeExcess(
    of owner: [UInt8], _ connection: borrowing Connection
  ) throws {
    let kept = try connection.all(
      """
      SELECT kind, subject_digest, expires_at FROM console_storage
      WHERE owner_digest = \(owner)
      """
    ) { row in
      (
        kind: try row.next() as String, subject: try row.next() as [UInt8],
        end: try row.next() as Int64
      )
    }
    for entry in kept.sorted(by: { $0.end < $1.end }).dropLast(most) {
      try connection.run(
        """
        DELETE FROM console_storage WHERE owner_digest = \(owner) AND kind = \(entry.kind)
          AND subject_digest = \(entry.subject)
        """)
    }
  }

  /// Removes and returns what's kept; of several requests at once, only one gets it.
  ///
  /// - Returns: The content; nil if there's none or it has expired.
  public func take(
    _ kind: Kind, about subject: String, for owner: Owner
  ) async throws -> Secret? {
    let place = Place(owner, kind, subject)
    let sealed = try await store.write { now, connection in
      try connection.first(
        """
        DELETE FROM console_storage WHERE owner_digest = \(place.owner)
          AND kind = \(kind) AND subject_digest = \(place.subject)
        RETURNING sealed, expires_at
        """
      ) { try Self.sealed(&$0, at: now) } ?? nil
    }
    return opened(sealed, place)
  }

  /// - Returns: The content; nil if there's none or it has expired.
  public func find(
    _ kind: Kind, about subject: String, for owner: Owner
  ) async throws -> Secret? {
    let place = Place(owner, kind, subject)
    let sealed = try await store.read { now, connection in
      try connection.first(
        """
        SELECT sealed, expires_at FROM console_storage WHERE owner_digest = \(place.owner)
          AND kind = \(kind) AND subject_digest = \(place.subject)
        """
      ) { try Self.sealed(&$0, at: now) } ?? nil
    }
    return opened(sealed, place)
  }

  private static func sealed(_ row: inout Row, at now: Instant) throws -> [UInt8]? {
    let sealed: [UInt8] = try row.next()
    return now < (try row.next()) ? sealed : nil
  }

  /// A former master key may be gone, but then the content has expired as well.
  private func opened(_ sealed: [UInt8]?, _ place: Place) -> Secret? {
    sealed.flatMap { try? sealer.open($0, with: place.associated) }
  }

  static func purgeExpired(at now: Instant, _ connection: borrowing Connection) throws -> Bool {
    try connection.deletePart(
      "FROM console_storage WHERE expires_at <= \(now)", of: "console_storage",
      by: "owner_digest, kind, subject_digest")
  }

  private struct Place: Sendable {
    let owner: [UInt8]
    let subject: [UInt8]
    /// The associated data, so that a row can't be moved to another place.
    let associated: [UInt8]

    init(_ owner: Owner, _ kind: Kind, _ subject: String) {
      self.owner = owner.digest
      self.subject = Store.digest(subject)
      associated = Array("\(kind.rawValue) ".utf8) + self.owner + self.subject
    }
  }
}

// MARK: - Notices

extension ConsoleStorage {
  /// Encrypts a notice that the browser returns with the session's next request.
  ///
  /// - Returns: The encrypted notice, as text; nil if it's too long.
  public func sealedNotice(_ text: String, for session: ConsoleSession) -> String? {
    let now = store.clock.now()
    let plain = Array("\(now.seconds) \(text)".utf8)
    guard let box = try? sealer.seal(plain, with: Self.associated(session)) else { return nil }
    let sealed = Base64URL.encode(box)
    return sealed.utf8.count <= Self.longestNotice ? sealed : nil
  }

  /// - Returns: The text; nil if it isn't a notice for the session, or is too old.
  public func notice(_ sealed: String, for session: ConsoleSession) -> String? {
    guard sealed.utf8.count <= Self.longestNotice, let box = Base64URL.decode(sealed),
      let plain = try? sealer.open(box, with: Self.associated(session)).revealedText
    else { return nil }
    let parts = plain.split(separator: " ", maxSplits: 1)
    guard parts.count == 2, let start = Int64(parts[0]) else { return nil }
    let age = store.clock.now().seconds - start
    return (-Self.noticeLifetime...Self.noticeLifetime).contains(age) ? String(parts[1]) : nil
  }

  private static func associated(_ session: ConsoleSession) -> [UInt8] {
    Array("notice ".utf8) + Owner.session(session).digest
  }
}

// MARK: - Codes

extension ConsoleStorage {
  public func keep(
    _ code: TemporaryCode, of user: ID<Account>, in pool: Pool, for session: ConsoleSession
  ) async throws {
    let text = "\(code.expiresAt.microseconds) \(code.code.revealedText)"
    _ = try await keep(
      Secret(text), as: .code, about: Self.subject(user, pool), for: .session(session))
  }

  /// - Returns: The code; nil if there's none, it was shown already, or too long ago.
  public func takeCode(
    of user: ID<Account>, in pool: Pool, for session: ConsoleSession
  ) async throws -> TemporaryCode? {
    let found = try await take(.code, about: Self.subject(user, pool), for: .session(session))
    guard let parts = found?.revealedText.split(separator: " ", maxSplits: 1), parts.count == 2,
      let end = Int64(parts[0])
    else { return nil }
    return TemporaryCode(
      code: Secret(String(parts[1])), expiresAt: Instant(microseconds: end))
  }

  private static func subject(_ user: ID<Account>, _ pool: Pool) -> String {
    "\(pool.key) \(user.text)"
  }
}
