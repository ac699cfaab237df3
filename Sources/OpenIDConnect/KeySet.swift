import Crypto
import JSON
import Text

/// The public keys of an identity provider.
///
/// Keys can be entered as a JSON Web Key Set (RFC 7517), as a single JSON Web Key, as a JSON object
/// of certificates by key ID as Google publishes it, or as PEM; they're stored as a set. Keys that
/// this server can't use are omitted, as RFC 7517, section 5 specifies.
public struct KeySet: Sendable, Equatable {
  struct Entry: Sendable {
    let id: String?
    let key: PublicKey
  }

  let entries: [Entry]
  /// The set as JSON text; empty if there are no keys.
  public let text: String

  /// The maximum number of keys in a set.
  public static let most = 32
  /// The maximum length of the text to parse, in bytes.
  public static let longest = 65_536

  /// An error in parsing keys.
  public enum Fault: Error, Sendable, Equatable {
    /// The text is neither JSON in a supported form nor PEM.
    case unreadable
    /// The text contains no usable key.
    case noKey
    /// The text contains a private key, which must stay with the provider.
    case isPrivate
    /// An RSA key is too short or too long.
    case unusable
    /// The text is too long, or contains too many keys.
    case tooMany
  }

  /// Creates an empty set.
  public init() { self.init(entries: [], text: "") }

  private init(entries: [Entry], text: String) {
    self.entries = entries
    self.text = text
  }

  /// Parses keys; empty text creates an empty set.
  ///
  /// - Throws: ``Fault``.
  public init(_ text: String) throws(Fault) {
    guard text.utf8.count <= Self.longest else { throw .tooMany }
    let trimmed = text.drop { $0.isWhitespace }
    guard !trimmed.isEmpty else {
      self.init()
      return
    }
    let entries = trimmed.first == "{" ? try Self.json(text) : try Self.pem(text)
    guard !entries.isEmpty else { throw .noKey }
    guard entries.count <= Self.most else { throw .tooMany }
    var keys: [JSON] = []
    for entry in entries { keys.append(try Self.written(entry)) }
    let set: JSON = ["keys": .array(keys)]
    self.init(
      entries: entries, text: String(decoding: set.serialized(), as: UTF8.self))
  }

  /// Parses the keys that a provider publishes (RFC 7517 section 5); those that this server can't
  /// use are omitted, whatever the reason.
  ///
  /// - Throws: ``Fault/unreadable``, ``Fault/noKey``, ``Fault/tooMany``.
  public init(published text: String) throws(Fault) {
    guard text.utf8.count <= Self.longest else { throw .tooMany }
    guard let keys = (try? JSON.parse(Array(text.utf8)))?["keys"]?.arrayValue else {
      throw .unreadable
    }
    var usable: [JSON] = []
    for key in keys.prefix(Self.most) {
      if let entry = try? Self.webKey(key) { usable.append(try Self.written(entry)) }
    }
    guard !usable.isEmpty else { throw .noKey }
    let set: JSON = ["keys": .array(usable)]
    try self.init(String(decoding: set.serialized(), as: UTF8.self))
  }

  /// The number of keys.
  public var count: Int { entries.count }

  /// The IDs of the keys for display; for a key without an ID, the beginning of its fingerprint.
  public var names: [String] {
    entries.map { entry in
      entry.id
        ?? String(
          Hex.encode(HashFunction.sha256.digest((try? entry.key.der()) ?? [])).prefix(16))
    }
  }

  /// Returns true if both sets have the same keys with the same IDs.
  public static func == (left: Self, right: Self) -> Bool { left.text == right.text }

  /// Returns true if one of the keys signed the token: the key that the token names, or any key if
  /// the token names none or the key has no name.
  public func haveSigned(_ token: JSONWebToken) -> Bool {
    let named = token.keyID
    return entries.contains { entry in
      if let id = entry.id, let named, !id.isSameBytes(as: named) { return false }
      return token.isSigned(by: entry.key)
    }
  }
}

// MARK: - Parsing

extension KeySet {
  private static func json(_ text: String) throws(Fault) -> [Entry] {
    guard let object = (try? JSON.parse(Array(text.utf8)))?.objectValue else { throw .unreadable }
    if let keys = object["keys"] {
      guard let keys = keys.arrayValue else { throw .unreadable }
      var entries: [Entry] = []
      for key in keys { if let entry = try webKey(key) { entries.append(entry) } }
      return entries
    }
    if object["kty"] != nil { return try webKey(.object(object)).map { [$0] } ?? [] }
    var entries: [Entry] = []
    for (id, value) in object.members {
      guard let text = value.textValue?.text, text.contains("-----BEGIN") else { throw .unreadable }
      entries.append(Entry(id: id.text, key: try one(text)))
    }
    return entries
  }

  /// Parses a JSON Web Key; nil if its type isn't supported.
  private static func webKey(_ value: JSON) throws(Fault) -> Entry? {
    guard let key = value.objectValue, let kind = key["kty"]?.textValue?.text else {
      throw .unreadable
    }
    guard key["d"] == nil, key["k"] == nil else { throw .isPrivate }
    let use = key["use"]?.textValue?.text ?? "sig"
    guard use == "sig" else { return nil }
    func number(_ name: String) throws(Fault) -> [UInt8] {
      guard let text = key[name]?.textValue?.text, let bytes = Base64URL.decode(text) else {
        throw .unreadable
      }
      return bytes
    }
    let read: PublicKey
    do throws(PublicKey.Fault) {
      switch kind {
      case "RSA" where ["RS256", nil].contains(key["alg"]?.textValue):
        guard let modulus = try? number("n"), let exponent = try? number("e") else {
          throw .unreadable
        }
        read = try PublicKey(modulus: modulus, exponent: exponent)
      case "EC" where key["crv"] == "P-256" && ["ES256", nil].contains(key["alg"]?.textValue):
        guard let x = try? number("x"), let y = try? number("y") else { throw .unreadable }
        read = try PublicKey(x: x, y: y)
      default: return nil
      }
    } catch {
      throw Fault(error)
    }
    return Entry(id: key["kid"]?.textValue?.text, key: read)
  }

  private static func pem(_ text: String) throws(Fault) -> [Entry] {
    var entries: [Entry] = []
    var rest = text[...]
    while let start = rest.firstRange(of: "-----BEGIN ") {
      let block = rest[start.lowerBound...]
      guard let end = block.firstRange(of: "-----END "),
        let last = block[end.upperBound...].firstRange(of: "-----")
      else { throw .unreadable }
      entries.append(Entry(id: nil, key: try one(String(block[..<last.upperBound]) + "\n")))
      guard entries.count <= most else { throw .tooMany }
      rest = block[last.upperBound...]
    }
    guard !entries.isEmpty else { throw .unreadable }
    return entries
  }

  private static func one(_ pem: String) throws(Fault) -> PublicKey {
    do throws(PublicKey.Fault) { return try PublicKey(pem: pem) } catch { throw Fault(error) }
  }

  private static func written(_ entry: Entry) throws(Fault) -> JSON {
    let key = entry.key
    var object: JSON.Object = ["use": "sig", "alg": .string(key.algorithm.rawValue)]
    if let id = entry.id { object.append("kid", .string(id)) }
    switch key.algorithm {
    case .rs256:
      guard let numbers = try? key.numbers() else { throw .unreadable }
      object.append("kty", "RSA")
      object.append("n", .string(Base64URL.encode(numbers.modulus)))
      object.append("e", .string(Base64URL.encode(numbers.exponent)))
    case .es256:
      guard let point = try? key.point() else { throw .unreadable }
      object.append("kty", "EC")
      object.append("crv", "P-256")
      object.append("x", .string(Base64URL.encode(point.x)))
      object.append("y", .string(Base64URL.encode(point.y)))
    }
    return .object(object)
  }
}

extension KeySet.Fault {
  init(_ fault: PublicKey.Fault) {
    switch fault {
    case .isPrivate: self = .isPrivate
    case .unreadable: self = .unreadable
    case .unusable: self = .unusable
    case .otherKind: self = .noKey
    }
  }
}
