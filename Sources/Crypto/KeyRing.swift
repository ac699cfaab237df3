import Synchronization

/// The master keys of an instance, newest first.
///
/// They're stored outside the database. The newest key encrypts; the others only decrypt existing
/// data. A ring is shared: when it adopts other keys, each of its ``Sealer``s uses them from then
/// on.
///
/// The text form, one key per line, is `countersign-master-key-1 ID KEY`, with the ID as eight
/// hexadecimal digits and the 32 key bytes as base64url.
public final class KeyRing: Sendable {
  struct Key: Sendable {
    let id: UInt32
    let secret: Secret
  }

  struct Keys: Sendable {
    /// Increases with each change, to detect outdated derived keys.
    var generation = 0
    var keys: [Key]
  }

  private let held: Mutex<Keys>
  private static let label = "countersign-master-key-1"

  var keys: Keys { held.withLock { $0 } }
  var generation: Int { held.withLock { $0.generation } }

  private init(_ keys: [Key]) { held = Mutex(Keys(keys: keys)) }

  /// Creates a ring with one new random key.
  public convenience init(random: RandomSource) { self.init([Self.newKey(random, beside: [])]) }

  /// Parses the text form.
  ///
  /// Blank lines and lines that start with `#` are ignored.
  ///
  /// - Throws: ``CryptoError/malformed(_:)``, which names the line but not its contents.
  public convenience init(text: String) throws(CryptoError) { self.init(try Self.read(text)) }

  private static func read(_ text: String) throws(CryptoError) -> [Key] {
    var keys: [Key] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let words = line.split(whereSeparator: \.isWhitespace)
      if words.isEmpty || words[0].hasPrefix("#") { continue }
      guard
        words.count == 3, words[0] == Self.label, words[1].utf8.count == 8,
        let id = UInt32(words[1], radix: 16), let bytes = Base64URL.decode(words[2]),
        bytes.count == 32
      else { throw .malformed("line \(index + 1) of the master key isn't a key") }
      guard !keys.contains(where: { $0.id == id }) else {
        throw .malformed("line \(index + 1) of the master key repeats a key id")
      }
      keys.append(Key(id: id, secret: Secret(bytes)))
    }
    guard !keys.isEmpty else { throw .malformed("the master key is empty") }
    return keys
  }

  private static func newKey(_ random: RandomSource, beside keys: [Key]) -> Key {
    var id: UInt32
    repeat {
      id = random.bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    } while keys.contains { $0.id == id }
    return Key(id: id, secret: Secret(random.bytes(32)))
  }

  /// The text form, to be stored where only the server's user can read it.
  public var text: Secret {
    var lines =
      "# Without this file every second factor and signing key is lost. Back it up separately.\n"
    for key in keys.keys {
      lines += "\(Self.label) \(Self.name(key.id)) \(Base64URL.encode(key.secret.revealedBytes))\n"
    }
    return Secret(lines)
  }

  /// Returns an identifier of each key that reveals nothing about it, to detect a mismatched data
  /// folder and key.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  public func mark() throws(CryptoError) -> [String] {
    var marks: [String] = []
    for key in keys.keys {
      let code = try HMAC.code(.sha256, key: key.secret, message: Array("countersign mark".utf8))
      marks.append(Hex.encode(Array(code.prefix(8))))
    }
    return marks
  }

  /// The IDs of the keys, newest first, as eight hexadecimal digits.
  public var ids: [String] { keys.keys.map { Self.name($0.id) } }

  static func name(_ id: UInt32) -> String {
    let digits = String(id, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
  }
}

extension KeyRing {
  /// Returns a ring with a new random key before this one's keys.
  public func rotated(random: RandomSource) -> KeyRing {
    let old = keys.keys
    return KeyRing([Self.newKey(random, beside: old)] + old)
  }

  /// Returns a ring with only the newest key.
  public func newestAlone() -> KeyRing { KeyRing(Array(keys.keys.prefix(1))) }

  /// Returns a ring without the newest key, unless that's the only one.
  public func former() -> KeyRing {
    let all = keys.keys
    return KeyRing(all.count > 1 ? Array(all.dropFirst()) : all)
  }

  /// Returns a ring with the same keys that encrypts with an older one.
  ///
  /// - Parameter id: The ID of the key, as eight hexadecimal digits.
  /// - Returns: The ring; nil if the key isn't in this one.
  public func encrypting(with id: String) -> KeyRing? {
    let all = keys.keys
    guard let key = all.first(where: { Self.name($0.id) == id }) else { return nil }
    return KeyRing([key] + all.filter { $0.id != key.id })
  }

  /// Replaces this ring's keys with those of another ring.
  ///
  /// Data encrypted with a key that isn't in the other ring can't be decrypted from then on.
  public func adopt(_ other: KeyRing) {
    let new = other.keys.keys
    held.withLock { held in
      held.generation += 1
      held.keys = new
    }
  }
}

/// The keys of one purpose, which HMAC-SHA-256 derives from the master keys, newest first.
///
/// They're derived again when the ring changes.
final class DerivedKeys: Sendable {
  struct Key: Sendable {
    let id: UInt32
    let secret: Secret

    /// The ID as four bytes, the most significant first.
    var idBytes: [UInt8] {
      [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: id >> UInt32($0)) }
    }
  }

  private struct Kept: Sendable {
    let generation: Int
    let keys: [Key]
  }

  private let ring: KeyRing
  private let label: String
  private let kept: Mutex<Kept>

  /// Derives the keys for a label, which contains the purpose and never changes.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  init(_ ring: KeyRing, label: String) throws(CryptoError) {
    self.ring = ring
    self.label = label
    kept = Mutex(try Self.derive(ring.keys, label))
  }

  /// Returns the keys of the ring's present keys.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto fails.
  func current() throws(CryptoError) -> [Key] {
    let known = kept.withLock { $0 }
    guard known.generation != ring.generation else { return known.keys }
    let new = try Self.derive(ring.keys, label)
    kept.withLock { $0 = new }
    return new.keys
  }

  private static func derive(_ held: KeyRing.Keys, _ label: String) throws(CryptoError) -> Kept {
    var keys: [Key] = []
    for key in held.keys {
      let derived = try HMAC.code(.sha256, key: key.secret, message: Array(label.utf8))
      keys.append(Key(id: key.id, secret: Secret(derived)))
    }
    return Kept(generation: held.generation, keys: keys)
  }
}
