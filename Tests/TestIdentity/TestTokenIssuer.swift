import Crypto
import Foundation
import Identity

/// A key that signs JSON Web Tokens, such as a backend's or an identity provider's.
struct TestTokenIssuer: Sendable {
  let key: RSAKey

  /// Keys generated once, because each takes a tenth of a second.
  static let back = generate()
  static let other = generate()

  private static func generate() -> TestTokenIssuer {
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
  func keySet(id: String = "k1") throws -> String {
    let numbers = try key.publicNumbers()
    return """
      {"keys":[{"kty":"RSA","kid":"\(id)","use":"sig","n":"\(Base64URL.encode(numbers.modulus))",\
      "e":"\(Base64URL.encode(numbers.exponent))"}]}
      """
  }

  /// Returns a signed token with this payload.
  func token(_ payload: String, header: String = #"{"alg":"RS256","typ":"JWT"}"#) throws -> String {
    let text = Self.unsigned(payload, header: header)
    return text + Base64URL.encode(try key.sign(Array(text.dropLast().utf8)))
  }

  /// Returns a token without a signature: two parts and a dot.
  static func unsigned(
    _ payload: String, header: String = #"{"alg":"none","typ":"JWT"}"#
  ) -> String {
    "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(payload.utf8)))."
  }

  /// Returns a JSON object of the members, without some and with others appended.
  static func object(
    _ members: [(String, String)], without: [String], and more: String
  ) -> String {
    let kept = members.filter { !without.contains($0.0) }.map { #""\#($0.0)":\#($0.1)"# }
    return "{" + (kept + (more.isEmpty ? [] : [more])).joined(separator: ",") + "}"
  }
}
