import Crypto
import Identity
import JSON

extension Methods {
  static let tokenCertificates = Declaration(
    "keys.tokenCertificates", "The certificates that verify ID tokens, by key ID.",
    gives: .map(.text))
  static let cookieCertificates = Declaration(
    "getPublicKeys", "The certificates that verify session cookies, by key ID.", gives: .map(.text))
  static let tokenKeys = Declaration(
    "keys.tokenKeys", "The JSON Web Key Set that verifies ID tokens.", gives: keySet)
  static let cookieKeys = Declaration(
    "getSessionCookiePublicKeys", "The JSON Web Key Set that verifies session cookies.",
    gives: keySet)
  static let discovery = Declaration(
    "keys.discovery", "The OpenID Connect Discovery document of a project's tokens.",
    gives: [
      "issuer": .text.required, "jwks_uri": .text.required,
      "response_types_supported": .list(.text).required,
      "subject_types_supported": .list(.text).required,
      "id_token_signing_alg_values_supported": .list(.text).required,
    ])

  private static let keySet: Schema = [
    "keys": .list([
      "kty": .word("RSA").required, "alg": .word("RS256").required, "use": .word("sig").required,
      "kid": .text.required, "n": .text.required, "e": .text.required,
    ]).required
  ]
}

/// The documents with which applications verify ID tokens.
///
/// In the emulator profile they're empty, because its tokens aren't signed.
extension Methods {
  /// Returns the certificates in PEM format by key ID, for the Admin SDKs.
  func certificates() -> JSON {
    .object(JSON.Object(publicKeys.map { ($0.id, .string($0.certificatePEM)) }))
  }

  /// Returns the JSON Web Key Set (RFC 7517), for all other clients.
  func keySet() -> JSON {
    let keys = publicKeys.map { key -> JSON in
      [
        "kty": "RSA", "alg": "RS256", "use": "sig", "kid": .string(key.id),
        "n": .string(Base64URL.encode(key.modulus)), "e": .string(Base64URL.encode(key.exponent)),
      ]
    }
    return ["keys": .array(keys)]
  }

  /// Returns the OpenID Connect Discovery document for the tokens of a project: their issuer and
  /// the location of the keys.
  func discovery(_ project: String) -> JSON {
    [
      "issuer": .string(IDTokens.issuer + project),
      "jwks_uri": .string(
        publicURL + "/service_accounts/v1/jwk/securetoken@system.gserviceaccount.com"),
      "response_types_supported": ["id_token"], "subject_types_supported": ["public"],
      "id_token_signing_alg_values_supported": ["RS256"],
    ]
  }

  private var publicKeys: [PublicSigningKey] {
    identity.profile == .emulator ? [] : identity.signingKeys.publicKeys()
  }

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
