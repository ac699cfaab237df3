import Crypto
import Database
import Synchronization

/// The public side of a key that signs tokens.
public struct PublicSigningKey: Sendable {
  /// The key's id, `kid`.
  public let id: String
  /// The modulus, big-endian.
  public let modulus: [UInt8]
  /// The public exponent, big-endian.
  public let exponent: [UInt8]
  /// A self-signed certificate with the key, as PEM.
  public let certificatePEM: String
}

/// Why nothing can be signed.
public enum KeyError: Error, Sendable {
  /// There is no key, or it cannot be used; the cause is for the log.
  case unavailable(Failure)
}

extension KeyError: UseCaseError {}

/// The keys that sign tokens with RS256.
///
/// Private keys are sealed in the database. They are opened once, at the start.
public final class SigningKeys: Sendable {
  private struct Key: Sendable {
    let key: RSAKey
    let shown: PublicSigningKey
  }

  private let store: Store
  private let sealer: Sealer
  private let keys = Mutex<[Key]>([])

  init(store: Store, keys ring: KeyRing) throws(CryptoError) {
    self.store = store
    sealer = try Sealer(ring, purpose: "signing key", random: store.random)
  }

  /// Opens the keys, and makes the first one where there is none.
  ///
  /// - Throws: ``KeyError``.
  public func prepare() async throws(KeyError) {
    var found = try await load()
    if found.isEmpty {
      try await makeKey()
      found = try await load()
    }
    let loaded = found
    keys.withLock { $0 = loaded }
  }

  private func makeKey() async throws(KeyError) {
    let now = store.clock.now()
    do {
      let key = try RSAKey.generate()
      let id = Hex.encode(store.random.bytes(20))
      let serial = store.random.bytes(7).reduce(Int64(1)) { $0 << 8 | Int64($1) }
      // Ten years: what counts is that the key is in the list that verifiers fetch.
      let certificate = try key.certificatePEM(
        commonName: "securetoken.countersign", serial: serial, from: now.seconds,
        until: now.seconds + 10 * 366 * 86_400)
      let sealed = try sealer.seal(try key.privateDER().revealedBytes, with: Array(id.utf8))
      try await store.write(KeyError.self) { connection in
        try connection.run(
          """
          INSERT INTO signing_key (key_id, sealed_key, certificate, created_at)
          VALUES (\(id), \(sealed), \(certificate), \(now.microseconds))
          """)
        let entry = AuditEntry("key.create", "signing key", id, name: id)
        try entry.record(by: Author(actor: .commandLine), at: now, connection)
      }
    } catch let error as KeyError {
      throw error
    } catch {
      throw .unavailable(Failure(error))
    }
  }

  private func load() async throws(KeyError) -> [Key] {
    let sealer = sealer
    return try await store.read(KeyError.self) { connection in
      try connection.all(
        """
        SELECT key_id, sealed_key, certificate FROM signing_key
        ORDER BY created_at DESC, key_id
        """
      ) { row in
        let id: String = try row.value(0)
        let der = try sealer.open(try row.value(1), with: Array(id.utf8))
        let key = try RSAKey(privateDER: der)
        let numbers = try key.publicNumbers()
        return Key(
          key: key,
          shown: PublicSigningKey(
            id: id, modulus: numbers.modulus, exponent: numbers.exponent,
            certificatePEM: try row.value(2)))
      }
    }
  }

  /// The id of the key that signs now.
  ///
  /// - Throws: ``KeyError`` before `prepare`.
  public func currentID() throws(KeyError) -> String { try current().shown.id }

  /// Signs a message with the key that signs now; about 0.7 ms.
  ///
  /// - Parameters:
  ///   - message: What is signed, which names `keyID` in its header.
  ///   - keyID: The key, as ``currentID()`` gave it.
  /// - Returns: The signature.
  /// - Throws: ``KeyError``.
  public func sign(_ message: [UInt8], keyID: String) throws(KeyError) -> [UInt8] {
    guard let key = find(keyID) else { throw .unavailable(Failure("unknown signing key")) }
    do { return try key.key.sign(message) } catch { throw .unavailable(Failure(error)) }
  }

  /// Tells whether a signature is that of one of the keys.
  public func verify(_ message: [UInt8], signature: [UInt8], keyID: String) -> Bool {
    find(keyID)?.key.verify(signature, of: message) ?? false
  }

  /// The keys that verifiers need, the one that signs first.
  public func publicKeys() -> [PublicSigningKey] { keys.withLock { $0.map(\.shown) } }

  private func find(_ id: String) -> Key? {
    keys.withLock { keys in keys.first { $0.shown.id == id } }
  }

  private func current() throws(KeyError) -> Key {
    guard let key = keys.withLock({ $0.first }) else {
      throw .unavailable(Failure("no signing key"))
    }
    return key
  }
}
