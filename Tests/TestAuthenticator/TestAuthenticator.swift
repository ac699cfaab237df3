public import Crypto
import Synchronization
public import WebAuthn

/// Makes a passkey and signs with it, as an authenticator and a browser do together.
public final class TestAuthenticator: Sendable {
  /// What differs from a correct response.
  public struct Choices: Sendable {
    /// The origin in the client data; nil for the right one.
    public var origin: String?
    /// The host in the authenticator data; nil for the right one.
    public var partyID: String?
    /// The ceremony in the client data; nil for the right one.
    public var type: String?
    /// Further members of the client data, such as `,"crossOrigin":true`.
    public var members = ""
    /// Whether the user touched the authenticator.
    public var isUserPresent = true
    /// Whether the user entered a PIN, for example.
    public var isUserVerified = true
    /// Whether the passkey can be copied to other devices.
    public var isBackupEligible = false
    /// Whether it has been.
    public var isBackedUp = false
    /// CBOR of extensions; none if it's empty.
    public var extensions: [UInt8] = []

    /// Creates the choices of a correct response.
    public init() {}
  }

  private struct State {
    var signCount: UInt32?
    var choices = Choices()
  }

  /// The credential ID.
  public let id: [UInt8]
  /// The model.
  public let aaguid: [UInt8]
  /// The key of the passkey.
  public let key: Ed25519PrivateKey
  private let state: Mutex<State>

  /// The count of signatures; nil for an authenticator that doesn't count.
  public var signCount: UInt32? { state.withLock { $0.signCount } }

  /// What the authenticator does differently.
  public var choices: Choices {
    get { state.withLock { $0.choices } }
    set { state.withLock { $0.choices = newValue } }
  }

  /// Creates an authenticator; equal numbers are the same one, with a copy of its key.
  public init(_ number: UInt8 = 1, signCount: UInt32? = 0) throws {
    id = [UInt8](repeating: number, count: 20)
    aaguid = [UInt8](repeating: number, count: 16)
    key = try Ed25519PrivateKey(seed: Secret([UInt8](repeating: number, count: 32)))
    state = Mutex(State(signCount: signCount))
  }

  /// The public key in COSE.
  public var coseKey: [UInt8] {
    [0xA4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20] + key.publicKey.bytes
  }

  /// Makes the passkey.
  public func register(
    _ challenge: [UInt8], for party: RelyingParty
  ) -> RegistrationResponse {
    let length = [UInt8(id.count >> 8), UInt8(truncatingIfNeeded: id.count)]
    let data = authenticatorData(party, attested: aaguid + length + id + coseKey)
    return RegistrationResponse(
      clientData: clientData(choices.type ?? "webauthn.create", challenge, party),
      attestation: Self.attestation(data))
  }

  /// An attestation object without a statement.
  public static func attestation(_ data: [UInt8]) -> [UInt8] {
    [0xA3] + text("fmt") + text("none") + text("attStmt") + [0xA0] + text("authData")
      + [0x59, UInt8(data.count >> 8), UInt8(truncatingIfNeeded: data.count)] + data
  }

  /// Signs in with the passkey.
  public func signIn(
    _ challenge: [UInt8], for party: RelyingParty
  ) throws -> AssertionResponse {
    let client = clientData(choices.type ?? "webauthn.get", challenge, party)
    let data = authenticatorData(party, attested: [])
    return AssertionResponse(
      clientData: client, authenticatorData: data,
      signature: try key.sign(data + HashFunction.sha256.digest(client)))
  }

  private func clientData(
    _ type: String, _ challenge: [UInt8], _ party: RelyingParty
  ) -> [UInt8] {
    Array(
      """
      {"type":"\(type)","challenge":"\(Base64URL.encode(challenge))",\
      "origin":"\(choices.origin ?? party.origin)"\(choices.members)}
      """.utf8)
  }

  private func authenticatorData(
    _ party: RelyingParty, attested: [UInt8]
  ) -> [UInt8] {
    let (choices, count) = state.withLock { state in
      if let count = state.signCount { state.signCount = count + 1 }
      return (state.choices, state.signCount ?? 0)
    }
    var flags: UInt8 = 0
    if choices.isUserPresent { flags |= 0x01 }
    if choices.isUserVerified { flags |= 0x04 }
    if choices.isBackupEligible { flags |= 0x08 }
    if choices.isBackedUp { flags |= 0x10 }
    if !attested.isEmpty { flags |= 0x40 }
    if !choices.extensions.isEmpty { flags |= 0x80 }
    return HashFunction.sha256.digest(Array((choices.partyID ?? party.id).utf8)) + [flags]
      + [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) } + attested
      + choices.extensions
  }

  private static func text(_ text: String) -> [UInt8] {
    [0x60 + UInt8(text.utf8.count)] + text.utf8
  }
}
