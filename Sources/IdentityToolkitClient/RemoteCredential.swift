public import Crypto
import JSON
import Text

/// What a client proves to the remote that it may call it.
public enum RemoteCredential: Sendable {
  /// The key of a service account at Google.
  case serviceAccount(ServiceAccountKey)
  /// A service token of another Countersign.
  case serviceToken(Secret)

  /// The maximum size of a credential, in bytes.
  public static let longest = 16 << 10

  private static let longestToken = 256

  /// Reads the JSON file of a service account's key, or a service token, as they're pasted.
  public init(_ bytes: [UInt8], for kind: RemoteProject.Kind) throws(RemoteCredentialError) {
    switch kind {
    case .identityPlatform: self = .serviceAccount(try ServiceAccountKey(bytes))
    case .countersign:
      let token = bytes.filter { $0 > 0x20 }
      guard token.starts(with: "cst_".utf8), token.count <= Self.longestToken,
        token.allSatisfy({ $0 < 0x7F })
      else { throw .notToken }
      self = .serviceToken(Secret(token))
    }
  }
}

/// The reason that a text isn't a credential; none has its content, except the names that it gives.
public enum RemoteCredentialError: Error, Sendable, Equatable {
  /// It isn't a JSON object, such as a file that was cut off, or larger than
  /// ``RemoteCredential/longest``.
  case notJSON
  /// It's a credential of another type, such as `authorized_user`.
  case otherType(String)
  /// It's for another universe than `googleapis.com`.
  case otherUniverse(String)
  /// This member is missing, or not what Google writes.
  case invalid(String)
  /// The private key is cut off, changed, encrypted, or no RSA key of 2,048 to 8,192 bits.
  case invalidKey
  case notToken
}

/// The private key of a service account (RFC 7523), from the JSON file that Google creates.
///
/// Of the addresses in the file, none is read.
public struct ServiceAccountKey: Sendable {
  /// The address of the service account.
  package let email: String
  package let keyID: String
  /// The ID of the project that the service account belongs to; nil if the file has none.
  package let project: String?
  let key: RSAKey

  private static let longestWord = 256

  init(_ bytes: [UInt8]) throws(RemoteCredentialError) {
    guard bytes.count <= RemoteCredential.longest, let file = try? JSON.parse(bytes),
      file.objectValue != nil
    else { throw .notJSON }
    let type = try Self.word("type", of: file)
    guard type.isSameBytes(as: "service_account") else { throw .otherType(type) }
    if file["universe_domain"] != nil {
      let universe = try Self.word("universe_domain", of: file)
      guard universe.isSameBytes(as: "googleapis.com") else { throw .otherUniverse(universe) }
    }
    email = try Self.word("client_email", of: file)
    guard email.utf8.contains(UInt8(ascii: "@")) else { throw .invalid("client_email") }
    keyID = try Self.word("private_key_id", of: file)
    project = try? Self.word("project_id", of: file)
    guard let pem = file["private_key"]?.textValue?.text else { throw .invalid("private_key") }
    guard let key = Self.key(pem) else { throw .invalidKey }
    self.key = key
  }

  /// Returns a member of printable ASCII without spaces.
  private static func word(
    _ name: String, of file: JSON
  ) throws(RemoteCredentialError) -> String {
    guard let text = file[name]?.textValue?.text(atMost: longestWord), !text.isEmpty,
      text.utf8.allSatisfy({ (33...126).contains($0) })
    else { throw .invalid(name) }
    return text
  }

  /// Parses the first key of a PEM text; nil for anything else.
  private static func key(_ pem: String) -> RSAKey? {
    guard let begin = pem.firstRange(of: "PRIVATE KEY-----"),
      let end = pem[begin.upperBound...].firstRange(of: "-----END")
    else { return nil }
    // A key that's copied from a variable often has a backslash and an n for each line break.
    let lines = String(pem[begin.upperBound..<end.lowerBound]).replacing("\\n", with: "")
    guard let der = Base64URL.decode(lines.filter { !$0.isWhitespace }),
      let key = try? RSAKey(privateDER: Secret(der)), let numbers = try? key.publicNumbers(),
      (PublicKey.shortest...PublicKey.longest).contains(numbers.modulus.count * 8)
    else { return nil }
    return key
  }
}
