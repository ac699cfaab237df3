public import Crypto
public import JSON
import Text

/// A parsed JSON Web Token (RFC 7519) in compact serialization (RFC 7515, section 3.1).
///
/// Parsing doesn't verify anything; use ``isSigned(by:)`` with a known key.
public struct JSONWebToken: Sendable {
  /// The header, from the first part.
  public let header: JSON.Object
  /// The payload, from the second part.
  public let payload: JSON.Object
  /// The signed bytes.
  public let message: [UInt8]
  /// The signature, from the third part; empty for an unsigned token.
  public let signature: [UInt8]

  /// The maximum length of a token that someone else issued, in bytes.
  public static let longest = 16_384

  /// Parses a token; nil unless it has three base64url parts, the first two of which are JSON
  /// objects.
  ///
  /// - Parameters:
  ///   - text: The token.
  ///   - longest: The length that it must be below, in bytes.
  public init?(_ text: String, below longest: Int = Self.longest) {
    guard text.utf8.count < longest else { return nil }
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

  /// The algorithm in the header.
  public var algorithm: String? { header["alg"]?.textValue?.text }
  /// The key ID in the header.
  public var keyID: String? { header["kid"]?.textValue?.text }
  /// Whether the header has critical extensions, none of which this parser supports (RFC 7515,
  /// section 4.1.11).
  public var isCritical: Bool { header["crit"] != nil }

  /// Returns whether the token was signed with a key.
  ///
  /// The key determines the algorithm; a header with another algorithm is rejected.
  public func isSigned(by key: PublicKey) -> Bool {
    guard algorithm == key.algorithm.rawValue, !isCritical, !signature.isEmpty else {
      return false
    }
    return key.verify(signature, of: message)
  }

  /// Returns a string of the payload.
  public func text(_ name: String) -> String? { payload[name]?.textValue?.text }

  /// Returns a time of the payload, in seconds since 1970, without the fraction that RFC 7519,
  /// section 2, allows.
  public func seconds(_ name: String) -> Int64? {
    guard let number = payload[name]?.numberValue else { return nil }
    guard let whole = number.int64 else {
      guard let fraction = number.double, abs(fraction) < 1e12 else { return nil }
      return Int64(fraction)
    }
    // Not abs, which traps for the least integer.
    return whole.magnitude < 1 << 40 ? whole : nil
  }
}
