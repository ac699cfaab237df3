import Crypto
import Database
import Synchronization

/// The public part of a key that signs tokens.
public struct PublicSigningKey: Sendable {
  /// The key ID, `kid`.
  public let id: String
  /// The modulus, big-endian.
  public let modulus: [UInt8]
  /// The public exponent, big-endian.
  public let exponent: [UInt8]
  /// A self-signed certificate for the key, in PEM format.
  public let certificatePEM: String
}

/// The keys that sign tokens with RS256.
///
/// Private keys are stored sealed in the database. They're opened at startup, and again when
/// another process creates or retires a key.
public final class SigningKeys: Sendable {
  struct Key: Sendable {
    let key: RSAKey
    let shown: PublicSigningKey
    let times: SigningKeyTimes
  }

  let store: Store
  let sealer: Sealer
  private let keys = Mutex<[Key]>([])
  private let lastLook = Mutex<Instant?>(nil)

  init(store: Store, keys ring: KeyRing) throws(CryptoError) {
    self.store = store
    sealer = try Sealer(ring, purpose: "signing key", random: store.random)
  }

  /// Opens the keys, and creates the first one if there are none.
  public func prepare() async throws {
    var found = try await load()
    if found.isEmpty {
      let key = try NewSigningKey(sealer, store.random, at: store.clock.now())
      try await store.write { now, connection in
        // Another server may have created one in the meantime.
        guard try Self.times(connection).isEmpty else { return }
        try key.insert(signsFrom: now, at: now, connection)
        let entry = AuditEntry(.signingKeyCreate, .signingKey, key.id, name: key.id)
        try entry.record(by: Author(actor: .commandLine), at: now, connection)
      }
      found = try await load()
    }
    hold(found)
  }

  /// Checks whether another process created or retired a key, and opens new ones.
  public func refresh() async throws {
    let times = try await store.read { connection in try Self.times(connection) }
    guard keys.withLock({ $0.map(\.times) }) != times else { return }
    hold(try await load())
  }

  /// Looks up an unknown key that a token names.
  ///
  /// Lookups are rate-limited, because a token can name any key.
  public func learn(_ id: String) async throws {
    guard find(id) == nil else { return }
    let now = store.clock.now()
    let isDue = lastLook.withLock { last in
      if let last, last <= now, now < last.advanced(bySeconds: Self.secondsBetweenLooks) {
        return false
      }
      last = now
      return true
    }
    if isDue { try await refresh() }
  }

  /// The minimum interval between lookups of keys that tokens name, in seconds.
  static let secondsBetweenLooks: Int64 = 2

  private func hold(_ found: [Key]) { keys.withLock { $0 = found } }

  private func load() async throws -> [Key] {
    let sealer = sealer
    return try await store.read { connection in
      try connection.all(
        """
        SELECT \(SigningKeyTimes.columns), sealed_key, certificate FROM signing_key
        ORDER BY signs_from DESC, verifies_until IS NOT NULL, key_id
        """
      ) { row in
        let times = try SigningKeyTimes(&row)
        let sealed: [UInt8] = try row.next()
        let der = try StoredSecret.signingKey(times.id).opening {
          try sealer.open(sealed, with: Array(times.id.utf8))
        }
        let key = try RSAKey(privateDER: der)
        let numbers = try key.publicNumbers()
        return Key(
          key: key,
          shown: PublicSigningKey(
            id: times.id, modulus: numbers.modulus, exponent: numbers.exponent,
            certificatePEM: try row.next()), times: times)
      }
    }
  }

  /// Reads when each key signs and is valid; the key that signs last comes first.
  static func times(_ connection: borrowing Connection) throws -> [SigningKeyTimes] {
    try connection.all(
      """
      SELECT \(SigningKeyTimes.columns) FROM signing_key ORDER BY signs_from DESC, verifies_until IS NOT NULL, key_id
      """
    ) { try SigningKeyTimes(&$0) }
  }

  /// - Throws: ``Failure`` before `prepare`.
  public func currentID() throws -> String {
    let now = store.clock.now()
    let keys = keys.withLock { $0 }
    guard let key = keys.first(where: { $0.times.signsFrom <= now }) ?? keys.last else {
      throw Failure("no signing key")
    }
    return key.shown.id
  }

  /// Signs a message with the current signing key; takes about 0.7 ms.
  ///
  /// The header of the message names `keyID`, as returned by ``currentID()``.
  public func sign(_ message: [UInt8], keyID: String) throws -> [UInt8] {
    guard let key = find(keyID) else { throw Failure("unknown signing key") }
    return try key.key.sign(message)
  }

  /// Verifies a signature with one of the currently valid keys.
  public func verify(_ message: [UInt8], signature: [UInt8], keyID: String) -> Bool {
    guard isBelieved(keyID) else { return false }
    return find(keyID)?.key.verify(signature, of: message) ?? false
  }

  /// Returns whether signatures of a key are currently valid.
  public func isBelieved(_ id: String) -> Bool {
    find(id)?.times.isBelieved(at: store.clock.now()) ?? false
  }

  /// Returns the keys that verifiers need; the signing key comes first.
  public func publicKeys() -> [PublicSigningKey] {
    let now = store.clock.now()
    let believed = keys.withLock { $0 }.filter { $0.times.isBelieved(at: now) }
    // Keys that will sign later come last, in the order in which they start.
    let signed = believed.filter { $0.times.signsFrom <= now }
    let waiting = believed.filter { $0.times.signsFrom > now }
    return (signed + waiting.reversed()).map(\.shown)
  }

  private func find(_ id: String) -> Key? {
    keys.withLock { keys in keys.first { $0.shown.id == id } }
  }
}

/// When a key signs and is valid.
public struct SigningKeyTimes: Sendable, Equatable {
  /// The key ID, `kid`.
  public let id: String
  /// When the key was created and first published.
  public let createdAt: Instant
  /// When the key starts signing, until another one does.
  public let signsFrom: Instant
  /// The end of the time in which the key is published and its signatures are valid; nil until a
  /// successor is created.
  public let verifiesUntil: Instant?

  static let columns: SQL = "key_id, created_at, signs_from, verifies_until"

  init(_ row: inout Row) throws {
    id = try row.next()
    createdAt = try row.next()
    signsFrom = try row.next()
    verifiesUntil = try row.next()
  }

  func isBelieved(at now: Instant) -> Bool { verifiesUntil.map { now < $0 } ?? true }
}

/// A new signing key that isn't stored yet.
struct NewSigningKey: Sendable {
  let id: String
  private let sealed: [UInt8]
  private let certificate: String

  init(_ sealer: Sealer, _ random: RandomSource, at now: Instant) throws {
    let key = try RSAKey.generate()
    id = Hex.encode(random.bytes(20))
    let serial = random.bytes(7).reduce(Int64(1)) { $0 << 8 | Int64($1) }
    // The certificate is valid for ten years, because validity depends only on whether the key is
    // published.
    certificate = try key.certificatePEM(
      commonName: "securetoken.countersign", serial: serial, from: now.seconds,
      until: now.seconds + 10 * 366 * 86_400)
    sealed = try sealer.seal(try key.privateDER().revealedBytes, with: Array(id.utf8))
  }

  func insert(
    signsFrom: Instant, at now: Instant, _ connection: borrowing Connection
  ) throws {
    try connection.run(
      """
      INSERT INTO signing_key (key_id, sealed_key, certificate, created_at, signs_from)
      VALUES (\(id), \(sealed), \(certificate), \(now), \(signsFrom))
      """)
  }
}
