import Crypto
import Foundation
import Identity
import JSON

/// A key that signs JSON Web Tokens, as a back end or a provider of identity has one.
struct TestTokenIssuer: Sendable {
  let key: RSAKey

  /// Made once, since it takes a tenth of a second.
  static let back = made()

  private static func made() -> TestTokenIssuer {
    do { return TestTokenIssuer(key: try RSAKey.generate()) } catch {
      fatalError("no RSA key: \(error)")
    }
  }

  /// The public key as PEM.
  func pem() throws -> String {
    let numbers = try key.publicNumbers()
    let der = try PublicKey(modulus: numbers.modulus, exponent: numbers.exponent).der()
    let text = Data(der).base64EncodedString(options: .lineLength64Characters)
    return "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n"
  }

  /// The public key as a JSON Web Key Set.
  func keySet() throws -> JSON {
    let numbers = try key.publicNumbers()
    return [
      "keys": [
        [
          "kty": "RSA", "kid": "k1", "n": .string(Base64URL.encode(numbers.modulus)),
          "e": .string(Base64URL.encode(numbers.exponent)),
        ]
      ]
    ]
  }

  /// A token with this payload, signed.
  func token(_ payload: JSON) throws -> String {
    let text = Self.unsigned(payload, algorithm: "RS256")
    return text + Base64URL.encode(try key.sign(Array(text.dropLast().utf8)))
  }

  /// A token without a signature: two parts and a dot.
  static func unsigned(_ payload: JSON, algorithm: String = "none") -> String {
    let header: JSON = ["alg": .string(algorithm), "typ": "JWT"]
    return [header, payload].map { Base64URL.encode($0.serialized()) + "." }.joined()
  }
}
