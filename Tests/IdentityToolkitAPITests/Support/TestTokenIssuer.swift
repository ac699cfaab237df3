import Crypto
import Foundation
import Identity
import JSON

/// A key that signs JSON Web Tokens, like that of a backend or an identity provider.
struct TestTokenIssuer: Sendable {
  let key: RSAKey

  /// Generated once, since it takes a tenth of a second.
  static let back = generate()

  private static func generate() -> TestTokenIssuer {
    do { return TestTokenIssuer(key: try RSAKey.generate()) } catch {
      fatalError("no RSA key: \(error)")
    }
  }

  /// Returns the public key as PEM.
  func pem() throws -> String {
    let numbers = try key.publicNumbers()
    let der = try PublicKey(modulus: numbers.modulus, exponent: numbers.exponent).der()
    let text = Data(der).base64EncodedString(options: .lineLength64Characters)
    return "-----BEGIN PUBLIC KEY-----\n\(text)\n-----END PUBLIC KEY-----\n"
  }

  /// Returns the public key as a JSON Web Key Set.
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

  /// Returns a signed token with the payload.
  func token(_ payload: JSON) throws -> String {
    let text = Self.unsigned(payload, algorithm: "RS256")
    return text + Base64URL.encode(try key.sign(Array(text.dropLast().utf8)))
  }

  /// Returns a token without a signature: two parts and a trailing dot.
  static func unsigned(_ payload: JSON, algorithm: String = "none") -> String {
    let header: JSON = ["alg": .string(algorithm), "typ": "JWT"]
    return [header, payload].map { Base64URL.encode($0.serialized()) + "." }.joined()
  }
}
