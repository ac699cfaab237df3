import Crypto
import Identity
import JSON

extension Declaration {
  static let evidenceKeys = Declaration(
    "keys.evidenceKeys",
    "The keys that verify evidence of policy reviews, the current one first; retired keys stay.",
    gives: [
      "keys": .list([
        "kty": .word("OKP").required, "crv": .word("Ed25519").required,
        "use": .word("sig").required,
        "kid": .text.required, "x": .text.required, "pem": .text.required,
        "createdAt": .text.required, "retiredAt": .text,
      ]).required
    ])
}

extension Methods {
  /// Returns the public keys of evidence files as a JSON Web Key Set (RFC 8037), each also in PEM
  /// format and with the SHA-256 digest of its DER form as its ID.
  func evidenceKeys() async throws -> JSON {
    let list = try await identity.evidenceKeys.list().map { key -> JSON in
      var object: JSON.Object = [
        "kty": "OKP", "crv": "Ed25519", "use": "sig", "kid": .string(key.id),
        "x": .string(Base64URL.encode(key.publicKey.bytes)), "pem": .string(key.publicKey.pem),
        "createdAt": .string(key.createdAt.rfc3339Milliseconds),
      ]
      if let retired = key.retiredAt {
        object.append("retiredAt", .string(retired.rfc3339Milliseconds))
      }
      return .object(object)
    }
    return ["keys": .array(list)]
  }
}
