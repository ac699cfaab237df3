/// Why the response of an authenticator isn't accepted.
public enum WebAuthnError: Error, Sendable, Equatable {
  /// A part is longer than the limits of ``WebAuthnLimits``.
  case tooLong
  /// A part can't be parsed.
  case malformed
  /// The client data is for another ceremony: a registration instead of a sign-in, or vice versa.
  case otherCeremony
  /// The client data has another challenge.
  case otherChallenge
  /// The page was of another origin, or within a page of another origin.
  case otherOrigin
  /// The authenticator data is for another relying party.
  case otherRelyingParty
  /// The user wasn't present.
  case userNotPresent
  /// The user wasn't verified, for example by a PIN or a fingerprint.
  case userNotVerified
  /// The key isn't one for ES256 or EdDSA, or isn't valid.
  case unsupportedKey
  /// The signature isn't one of the key.
  case wrongSignature
  /// The count of signatures isn't higher than the last one, so the key may have been copied.
  case countNotHigher
}

/// The maximum lengths of the parts of a response, in bytes.
public enum WebAuthnLimits {
  /// A credential ID (Web Authentication Level 2, section 4, "Credential ID").
  public static let credentialID = 1_023
  static let clientData = 4_096
  /// The attestation object, which can contain certificates.
  public static let attestation = 16_384
  /// The authenticator data of a sign-in.
  static let authenticatorData = 2_048
  static let signature = 256
}
