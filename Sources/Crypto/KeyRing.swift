/// The master keys of an instance, the newest first.
///
/// They live outside the database.
///
/// The text form, one key a line, is `countersign-master-key-1 ID KEY` with the id as eight
/// hexadecimal digits and the 32 key bytes as base64url.
public struct KeyRing: Sendable {
  struct Key: Sendable {
    let id: UInt32
    let secret: Secret
  }

  let keys: [Key]
  private static let label = "countersign-master-key-1"

  /// Makes a ring of one new random key.
  public init(random: RandomSource) {
    let id = random.bytes(4).reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    keys = [Key(id: id, secret: Secret(random.bytes(32)))]
  }

  /// Reads the text form.
  ///
  /// Blank lines and lines that start with `#` are passed over.
  ///
  /// - Throws: ``CryptoError/malformed(_:)`` which names the line, never its contents.
  public init(text: String) throws(CryptoError) {
    var keys: [Key] = []
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated()
    {
      let words = line.split(whereSeparator: \.isWhitespace)
      if words.isEmpty || words[0].hasPrefix("#") { continue }
      guard
        words.count == 3, words[0] == Self.label, words[1].utf8.count == 8,
        let id = UInt32(words[1], radix: 16), let bytes = Base64URL.decode(words[2]),
        bytes.count == 32
      else { throw .malformed("line \(index + 1) of the master key is not a key") }
      guard !keys.contains(where: { $0.id == id }) else {
        throw .malformed("line \(index + 1) of the master key repeats a key id")
      }
      keys.append(Key(id: id, secret: Secret(bytes)))
    }
    guard !keys.isEmpty else { throw .malformed("the master key is empty") }
    self.keys = keys
  }

  /// The text form, to be stored where only the server's user can read it.
  public var text: Secret {
    var lines =
      "# Without this file every second factor and signing key is lost. Keep a copy apart.\n"
    for key in keys {
      let digits = String(key.id, radix: 16)
      let id = String(repeating: "0", count: 8 - digits.count) + digits
      lines += "\(Self.label) \(id) \(Base64URL.encode(key.secret.revealedBytes))\n"
    }
    return Secret(lines)
  }

  /// A mark of the newest key that says nothing about it, to notice that a data folder and a key
  /// do not belong together.
  ///
  /// - Throws: ``CryptoError/failed(_:)`` when libcrypto refuses.
  public func mark() throws(CryptoError) -> [String] {
    var marks: [String] = []
    for key in keys {
      let code = try HMAC.code(.sha256, key: key.secret, message: Array("countersign mark".utf8))
      marks.append(Hex.encode(Array(code.prefix(8))))
    }
    return marks
  }
}
