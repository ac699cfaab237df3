import CBOR
import Crypto

/// The public key of a passkey, for ES256 on P-256 or EdDSA on Ed25519.
public struct PasskeyKey: Sendable {
  /// The algorithms that are offered to authenticators, as their COSE numbers, preferred first
  /// (RFC 9053 section 2).
  public static let algorithms: [Int] = [-8, -7]

  private enum Kind: Sendable {
    case es256(PublicKey)
    case eddsa(Ed25519PublicKey)
  }
  private let kind: Kind

  /// The COSE number of the algorithm.
  public var algorithm: Int {
    switch kind {
    case .es256: -7
    case .eddsa: -8
    }
  }

  /// Parses a COSE key (RFC 9053 section 7, Web Authentication Level 2 section 5.8.5).
  ///
  /// - Throws: ``WebAuthnError/unsupportedKey``.
  public init(cose bytes: [UInt8]) throws(WebAuthnError) {
    let key: CBOR
    do { key = try CBOR(bytes) } catch { throw .unsupportedKey }
    // Key type, algorithm, curve, and the coordinates.
    let x = key[-2]?.byteString ?? []
    switch (key[1]?.integer, key[3]?.integer, key[-1]?.integer) {
    case (2, -7, 1):
      let point: PublicKey
      do { point = try PublicKey(x: x, y: key[-3]?.byteString ?? []) } catch {
        throw .unsupportedKey
      }
      kind = .es256(point)
    case (1, -8, 6):
      guard let point = Ed25519PublicKey(bytes: x) else { throw .unsupportedKey }
      kind = .eddsa(point)
    default: throw .unsupportedKey
    }
  }

  /// Verifies a signature in the format of WebAuthn (section 6.5.6).
  func verify(_ signature: [UInt8], of message: [UInt8]) -> Bool {
    switch kind {
    case .es256(let key): key.verify(der: signature, of: message)
    case .eddsa(let key): key.verify(signature, of: message)
    }
  }
}
