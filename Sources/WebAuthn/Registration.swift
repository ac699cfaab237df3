import CBOR

/// The response of an authenticator that made a passkey.
public struct RegistrationResponse: Sendable {
  /// The client data, as bytes of JSON.
  public let clientData: [UInt8]
  /// The attestation object.
  public let attestation: [UInt8]

  /// Creates a response from outside bytes.
  public init(clientData: [UInt8], attestation: [UInt8]) {
    (self.clientData, self.attestation) = (clientData, attestation)
  }

  /// Verifies the response (Web Authentication Level 2, section 7.1).
  ///
  /// Which kind of authenticator made the passkey isn't asked for, so an attestation statement is
  /// ignored.
  ///
  /// - Parameters:
  ///   - challenge: The challenge that was given to the page.
  ///   - party: The relying party.
  /// - Returns: The passkey.
  /// - Throws: ``WebAuthnError``.
  public func verify(
    challenge: [UInt8], for party: RelyingParty
  ) throws(WebAuthnError) -> RegisteredPasskey {
    guard attestation.count <= WebAuthnLimits.attestation else { throw .tooLong }
    _ = try ClientData(clientData, for: .registration, challenge: challenge, party: party)
    let object: CBOR
    do { object = try CBOR(attestation) } catch { throw .malformed }
    guard let bytes = object["authData"]?.byteString else { throw .malformed }
    let data = try AuthenticatorData(bytes, party: party)
    guard let credential = data.credential else { throw .malformed }
    _ = try PasskeyKey(cose: credential.key)
    return RegisteredPasskey(
      id: credential.id, key: credential.key, signCount: data.signCount,
      aaguid: credential.aaguid, isBackupEligible: data.isBackupEligible,
      isBackedUp: data.isBackedUp)
  }
}

/// A new passkey.
public struct RegisteredPasskey: Sendable {
  /// The credential ID, at most ``WebAuthnLimits/credentialID`` bytes.
  public let id: [UInt8]
  /// The public key in COSE, for ``PasskeyKey/init(cose:)``.
  public let key: [UInt8]
  /// The count of signatures; 0 if the authenticator doesn't count.
  public let signCount: UInt32
  /// The identifier of the authenticator's model, 16 bytes; zeros if it isn't told.
  public let aaguid: [UInt8]
  /// Whether the passkey can be copied to other devices.
  public let isBackupEligible: Bool
  /// Whether it has been copied.
  public let isBackedUp: Bool
}
