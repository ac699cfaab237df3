/// The response of an authenticator that signed in with a passkey.
public struct AssertionResponse: Sendable {
  /// The client data, as bytes of JSON.
  public let clientData: [UInt8]
  /// The authenticator data.
  public let authenticatorData: [UInt8]
  /// The signature.
  public let signature: [UInt8]

  /// Creates a response from outside bytes.
  public init(clientData: [UInt8], authenticatorData: [UInt8], signature: [UInt8]) {
    (self.clientData, self.authenticatorData) = (clientData, authenticatorData)
    self.signature = signature
  }

  /// Verifies the response (Web Authentication Level 2, section 7.2).
  ///
  /// - Parameters:
  ///   - key: The public key of the passkey.
  ///   - lastCount: The count of signatures at the last use.
  ///   - challenge: The challenge that was given to the page.
  ///   - party: The relying party.
  /// - Returns: What changes with each use.
  /// - Throws: ``WebAuthnError``.
  public func verify(
    with key: PasskeyKey, lastCount: UInt32, challenge: [UInt8], for party: RelyingParty
  ) throws(WebAuthnError) -> PasskeyUse {
    guard authenticatorData.count <= WebAuthnLimits.authenticatorData,
      signature.count <= WebAuthnLimits.signature
    else { throw .tooLong }
    let client = try ClientData(clientData, for: .signIn, challenge: challenge, party: party)
    let data = try AuthenticatorData(authenticatorData, party: party)
    guard key.verify(signature, of: authenticatorData + client.digest) else {
      throw .wrongSignature
    }
    // Authenticators that don't count always say 0.
    guard data.signCount == 0 && lastCount == 0 || data.signCount > lastCount else {
      throw .countNotHigher
    }
    return PasskeyUse(signCount: data.signCount, isBackedUp: data.isBackedUp)
  }
}

/// What changes with each use of a passkey.
public struct PasskeyUse: Sendable, Equatable {
  /// The count of signatures.
  public let signCount: UInt32
  /// Whether the passkey has been copied to other devices.
  public let isBackedUp: Bool
}
