import Identity
import JSON

/// The documents with which applications verify ID tokens.
///
/// The emulator's tokens are not signed, so there they are empty.
extension Methods {
  /// Certificates as PEM by key id: what the admin SDKs read.
  func certificates() -> JSON {
    .object(JSON.Object(publicKeys.map { ($0.id, .string($0.certificatePEM)) }))
  }

  /// A JSON Web Key Set of RFC 7517: what everything else reads.
  func keySet() -> JSON {
    let keys = publicKeys.map { key -> JSON in
      [
        "kty": "RSA", "alg": "RS256", "use": "sig", "kid": .string(key.id),
        "n": .string(Base64URL.encode(key.modulus)), "e": .string(Base64URL.encode(key.exponent)),
      ]
    }
    return ["keys": .array(keys)]
  }

  /// OpenID Connect Discovery for the tokens of a project: the issuer that they name, and where
  /// the keys are.
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
}
