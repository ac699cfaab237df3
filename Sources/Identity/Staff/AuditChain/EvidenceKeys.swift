public import Crypto
import Database

public struct EvidenceKey: Sendable {
  /// The public key, whose fingerprint is the key's ID.
  public let publicKey: Ed25519PublicKey
  public let createdAt: Instant
  /// When another key replaced it; nil for the key that signs.
  public let retiredAt: Instant?

  public var id: String { publicKey.fingerprint }
}

/// The current key with its private key.
struct EvidenceSigner: Sendable {
  let key: EvidenceKey
  fileprivate let privateKey: Ed25519PrivateKey

  /// Signs a message, which begins with what it's for.
  func sign(_ message: [UInt8]) throws -> [UInt8] { try privateKey.sign(message) }
}

/// The keys that sign evidence files and the audit log.
///
/// A retired key no longer signs but stays published, so that an old file can always be verified.
public struct EvidenceKeys: Sendable {
  let store: Store
  private let sealer: Sealer

  init(store: Store, keys ring: KeyRing) throws(CryptoError) {
    self.store = store
    sealer = try Sealer(ring, purpose: "evidence key", random: store.random)
  }

  /// Lists all keys, the signing key first, then the retired ones, latest first.
  public func list() async throws -> [EvidenceKey] {
    try await store.read { connection in try Self.list(connection) }
  }

  /// Returns the key that signs, and creates it if there's none.
  public func current() async throws -> EvidenceKey {
    try await sealedKey().key
  }

  /// Returns the key that signs with its sealed private key, and creates it if there's none.
  ///
  /// The caller may read from a snapshot that lacks a new key, so both are returned together.
  private func sealedKey() async throws -> SealedKey {
    if let key = try await store.read({ try Self.signer($0) }) { return key }
    let seed = Secret(store.random.bytes(Ed25519PrivateKey.length))
    return try await store.write { now, connection in
      // Another process may have created one in the meantime.
      if let key = try Self.signer(connection) { return key }
      let new = try insert(seed, at: now, connection)
      let entry = AuditEntry(.evidenceKeyCreate, .signingKey, new.key.id, name: new.key.id)
      try entry.record(by: Author(actor: .server), at: now, connection)
      return new
    }
  }

  private struct SealedKey {
    let key: EvidenceKey
    let sealed: [UInt8]
  }

  private static func signer(_ connection: borrowing Connection) throws -> SealedKey? {
    guard let key = try list(connection).first, key.retiredAt == nil else { return nil }
    return try connection.first(
      "SELECT sealed_key FROM evidence_key WHERE key_id = \(key.id)"
    ) { SealedKey(key: key, sealed: try $0.next()) }
  }

  /// Replaces the key that signs; the previous one is retired.
  public func rotate(by author: Author) async throws -> EvidenceKey {
    let now = store.clock.now()
    let seed = Secret(store.random.bytes(Ed25519PrivateKey.length))
    return try await store.write(by: author) { connection in
      let before = try Self.list(connection).first
      try connection.run(
        "UPDATE evidence_key SET retired_at = \(now) WHERE retired_at IS NULL")
      let key = try insert(seed, at: now, connection).key
      var entry = AuditEntry(.evidenceKeyRotate, .signingKey, key.id, name: key.id)
      entry.add(.evidenceKey, from: .optional(before?.id), to: .text(key.id))
      try entry.record(by: author, at: now, connection)
      return key
    }
  }

  func signer() async throws -> EvidenceSigner {
    let key = try await sealedKey()
    // Within a read, so that a key that can't be opened is reported.
    return try await store.read { _ in
      let seed = try StoredSecret.evidenceKey(key.key.id).opening {
        try sealer.open(key.sealed, with: Array(key.key.id.utf8))
      }
      return EvidenceSigner(key: key.key, privateKey: try Ed25519PrivateKey(seed: seed))
    }
  }

  private func insert(
    _ seed: Secret, at now: Instant, _ connection: borrowing Connection
  ) throws -> SealedKey {
    let key = EvidenceKey(
      publicKey: try Ed25519PrivateKey(seed: seed).publicKey, createdAt: now, retiredAt: nil)
    let sealed = try sealer.seal(seed.revealedBytes, with: Array(key.id.utf8))
    try connection.run(
      """
      INSERT INTO evidence_key (key_id, public_key, sealed_key, created_at)
      VALUES (\(key.id), \(key.publicKey.bytes), \(sealed), \(now))
      """)
    return SealedKey(key: key, sealed: sealed)
  }

  static func list(_ connection: borrowing Connection) throws -> [EvidenceKey] {
    try connection.all(
      """
      SELECT public_key, created_at, retired_at FROM evidence_key
      ORDER BY retired_at IS NOT NULL, retired_at DESC
      """
    ) { row in
      guard let key = Ed25519PublicKey(bytes: try row.next()) else {
        throw Failure("a malformed evidence key")
      }
      return EvidenceKey(
        publicKey: key, createdAt: try row.next(),
        retiredAt: try row.next())
    }
  }
}

extension EvidenceKeys: ReencryptableStore {
  static let name = "evidence_key"

  func reseal(
    after position: String, limit: Int, _ connection: borrowing Connection
  ) throws -> ResealedPart {
    try ResealedPart(
      of: "evidence_key", by: "key_id", "sealed_key", after: position, limit: limit, connection
    ) { id, sealed in
      try StoredSecret.evidenceKey(id).opening {
        try sealer.resealed(sealed, with: Array(id.utf8))
      }
    }
  }
}
