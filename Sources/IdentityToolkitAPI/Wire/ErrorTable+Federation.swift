import HTTP
import Identity
import OpenIDConnect

extension WireError {
  init(_ error: CustomTokenError) {
    switch error {
    case .invalid(let fault): self.init("INVALID_CUSTOM_TOKEN : \(fault.detail)")
    case .credentialMismatch:
      self.init(
        "CREDENTIAL_MISMATCH : The custom token's issuer is not registered for this project.")
    case .tenantMismatch:
      self.init("TENANT_ID_MISMATCH : Specified tenant ID does not match the custom token.")
    case .missingUID: self.init("MISSING_IDENTIFIER")
    case .invalidUIDLength:
      self.init(
        "INVALID_IDENTIFIER : Invalid user ID length. Expect to have length between 1 and "
          + "\(CustomTokens.longestUID).")
    case .invalidClaims: self.init("INVALID_CLAIMS")
    case .forbiddenClaim(let name): self.init(AccountError.forbiddenClaim(name))
    case .enrollmentRequired: self = .enrollmentRequired
    case .userDisabled: self.init("USER_DISABLED")
    }
  }

  init(_ error: FederationError) {
    switch error {
    case .invalidResponse(let fault): self.init("INVALID_IDP_RESPONSE : \(fault.detail)")
    case .invalidNonce(let fault): self.init("MISSING_OR_INVALID_NONCE : \(fault.detail)")
    case .providerNotFound:
      self.init("OPERATION_NOT_ALLOWED : The identity provider configuration is not found.")
    case .providerDisabled:
      self.init("OPERATION_NOT_ALLOWED : The identity provider configuration is disabled.")
    case .unsupported:
      self.init(
        notImplemented: "Sign-in with SAML is not supported; SAML configurations are stored only.")
    case .invalidPendingToken: self.init("INVALID_PENDING_TOKEN")
    case .alreadyLinked: self.init("FEDERATED_USER_ID_ALREADY_LINKED")
    case .providerAlreadyLinked: self.init("PROVIDER_ALREADY_LINKED")
    case .emailExists: self.init("EMAIL_EXISTS")
    case .userNotFound: self.init("USER_NOT_FOUND")
    case .userDisabled: self.init("USER_DISABLED")
    case .signUpDisabled: self.init("ADMIN_ONLY_OPERATION")
    }
  }

  init(notImplemented detail: String) {
    self.init(
      "NOT_IMPLEMENTED : \(detail)", status: .notImplemented, reason: "notImplemented",
      isFrontEnd: true)
  }

  init(_ error: ProviderError) {
    switch error {
    case .invalidID:
      self.init(providerID: "Oauth_idp_config_id", prefix: "oidc.")
    case .exists(let id):
      let kind = IdentityProviders.kind(of: id) == .saml ? "InboundSamlConfig" : "OAuthIdpConfig"
      self.init(
        "CONFIGURATION_EXISTS : The \(kind) already exists with config_id: \(id)",
        status: .conflict, reason: "conflict")
      isTaken = true
    case .tooMany:
      self.init("QUOTA_EXCEEDED : At most \(IdentityProviders.most) providers can be configured.")
    case .notFound:
      self.init("CONFIGURATION_NOT_FOUND", status: .notFound, reason: "notFound")
    case .changedMeanwhile: self.init("ABORTED", status: .conflict, reason: "conflict")
    case .nameTooLong:
      self.init(
        "INVALID_DISPLAY_NAME : A display name can have at most \(Account.longestName) characters.")
    case .missingIssuer: self.init("MISSING_ISSUER")
    case .invalidIssuer:
      self.init("INVALID_ISSUER : Issuer in OAuthIdpConfig should be a valid URL.")
    case .missingClientID:
      self.init("MISSING_OAUTH_CLIENT_ID : Client_id in OAuthIdpConfig cannot be empty.")
    case .invalidClientID: self.init("INVALID_OAUTH_CLIENT_ID")
    case .missingClientSecret:
      self.init("INVALID_CONFIG : client_secret cannot be empty for code flow.")
    case .invalidResponseType: self.init(Self.oneResponseType)
    case .severalResponseTypes:
      self.init(
        Self.oneResponseType
          + " Setting both types to be true ('{code: true, idToken: true}') is not yet supported.")
    case .invalidKeys(let fault):
      self.init("INVALID_CONFIG : jwks \(Self.words(fault))")
    case .missingRelyingParty: self.init("MISSING_SAML_RELYING_PARTY_CONFIG")
    case .invalidMember(let name):
      self.init("INVALID_CONFIG : \(name) is missing or invalid.")
    }
  }

  private static let oneResponseType =
    "INVALID_CONFIG : response_type should have exactly one of 'idToken' and 'code' being true."

  /// The ID isn't valid for a provider of this protocol.
  init(providerID name: String, prefix: String) {
    self.init(
      "INVALID_CONFIG_ID : \(name) must start with '\(prefix)' and can only have alphanumeric "
        + "characters, hyphens, underscores or periods. The part after '\(prefix)' must also start "
        + "with a lowercase letter, end with an alphanumeric character, and have at least 2 "
        + "characters.")
  }

  private static func words(_ fault: KeySet.Fault) -> String {
    switch fault {
    case .unreadable: "is neither a JSON Web Key Set nor PEM."
    case .noKey: "has no RSA or P-256 signing key."
    case .isPrivate: "contains a private key; use public keys only."
    case .unusable: "contains an RSA key that isn't 2048 to 8192 bits long."
    case .tooMany: "contains more than \(KeySet.most) keys."
    }
  }
}

extension InvalidCustomToken {
  fileprivate var detail: String {
    switch self {
    case .notJSON: "The emulator accepts only strict JSON and JSON Web Tokens as custom tokens."
    case .malformed: "Invalid assertion format. 3 dot separated segments required."
    case .otherAudience: "The token doesn't have the audience of custom tokens."
    case .otherAlgorithm: "The token must be signed with RS256."
    case .otherSubject: "Issuer and subject must both be the service account that signed the token."
    case .wrongSignature: "The signature doesn't match a registered key."
    case .missingTimes: "The token has no iat or exp."
    case .tooLong: "A custom token can be valid for at most one hour."
    case .expired: "The token has expired."
    case .future:
      "The token was issued in the future; check the clock of the server that signed it."
    case .invalidUID:
      "A uid must not have control characters."
    }
  }
}

extension InvalidResponse {
  fileprivate var detail: String {
    switch self {
    case .malformed: "The id_token is not a JSON Web Token."
    case .unusableSubject: "The subject of the id_token can't be stored."
    case .noKeys: "No keys of this provider are registered."
    case .wrongSignature: "The signature of the id_token doesn't match a registered key."
    case .otherIssuer: "The id_token is from another issuer."
    case .otherAudience: "The id_token is for another client."
    case .otherParty: "The id_token was issued to another client."
    case .missingTimes: "The id_token has no iat or exp."
    case .expired: "The id_token has expired."
    case .future: "The id_token was issued in the future."
    case .unparsable:
      "Unable to parse id_token. The emulator accepts only strict JSON and JSON Web Tokens."
    case .missingSubject: "Invalid Idp Response: id_token missing required fields. It has no sub."
    case .subjectNotText: "The sub of the id_token must be a string."
    case .providerChanged: "The provider has changed since it verified the id_token."
    }
  }
}

extension InvalidNonce {
  fileprivate var detail: String {
    switch self {
    case .notInRequest: "Nonce is missing in the request."
    case .different: "The SHA-256 hash of the raw nonce doesn't match the nonce of the id_token."
    }
  }
}
