import Crypto
public import JSON

/// A JSON Web Token (RFC 7519) in the compact form of RFC 7515 section 3.1, taken apart.
///
/// Nothing of it is believed by that: ``isSigned(by:)`` is for whoever knows the key.
public struct JSONWebToken: Sendable {
  /// The first part.
  public let header: JSON.Object
  /// The second part.
  public let payload: JSON.Object
  /// The bytes that the signature is of.
  public let message: [UInt8]
  /// The third part; empty for an unsigned token.
  public let signature: [UInt8]

  /// The longest token that is looked at, in bytes.
  public static let longest = 16_384

  /// Takes a token apart; nil for anything but three parts of base64url, of which the first two are
  /// JSON objects.
  public init?(_ text: String) {
    guard text.utf8.count < Self.longest else { return nil }
    let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false)
    guard parts.count == 3, let header = Self.object(parts[0]),
      let payload = Self.object(parts[1]), let signature = Base64URL.decode(parts[2])
    else { return nil }
    self.header = header
    self.payload = payload
    self.signature = signature
    message = Array(text.utf8.prefix(parts[0].utf8.count + 1 + parts[1].utf8.count))
  }

  private static func object(_ part: Substring) -> JSON.Object? {
    guard let bytes = Base64URL.decode(part) else { return nil }
    return (try? JSON.parse(bytes))?.objectValue
  }

  /// The algorithm that the header claims.
  public var algorithm: String? { header["alg"]?.textValue?.text }
  /// The id of the key that the header names.
  public var keyID: String? { header["kid"]?.textValue?.text }
  /// Whether the header demands something that this reader does not know (RFC 7515 section 4.1.11).
  public var isCritical: Bool { header["crit"] != nil }

  /// Whether it was signed by the owner of a key.
  ///
  /// The key says which algorithm counts; a header that claims another one is refused.
  public func isSigned(by key: PublicKey) -> Bool {
    guard algorithm == key.algorithm.rawValue, !isCritical, !signature.isEmpty else {
      return false
    }
    return key.verify(signature, of: message)
  }

  /// A text of the payload.
  func text(_ name: String) -> String? { payload[name]?.textValue?.text }

  /// A time of the payload, in seconds since 1970; a fraction is cut, as RFC 7519 section 2 allows
  /// one.
  func seconds(_ name: String) -> Int64? {
    guard let number = payload[name]?.numberValue else { return nil }
    guard let whole = number.int64 else {
      guard let fraction = number.double, abs(fraction) < 1e12 else { return nil }
      return Int64(fraction)
    }
    return abs(whole) < 1 << 40 ? whole : nil
  }
}
