import Crypto
import JSON
import Text

/// What the browser says about a ceremony (Web Authentication Level 2, section 5.8.1).
struct ClientData {
  enum Ceremony: String {
    case registration = "webauthn.create"
    case signIn = "webauthn.get"
  }

  /// The SHA-256 digest of the bytes, which the authenticator signs.
  let digest: [UInt8]

  /// Checks the JSON as the browser serialized it (sections 7.1 and 7.2).
  init(
    _ bytes: [UInt8], for ceremony: Ceremony, challenge: [UInt8], party: RelyingParty
  ) throws(WebAuthnError) {
    guard bytes.count <= WebAuthnLimits.clientData else { throw .tooLong }
    let data: JSON
    do { data = try JSON.parse(bytes, maximumDepth: 4) } catch { throw .malformed }
    guard let type = data["type"]?.textValue, let given = data["challenge"]?.textValue,
      let origin = data["origin"]?.textValue
    else { throw .malformed }
    guard type == UntrustedText(ceremony.rawValue) else { throw .otherCeremony }
    guard constantTimeEqual(Array(given.utf8), Base64URL.encodedBytes(challenge)) else {
      throw .otherChallenge
    }
    guard origin == UntrustedText(party.origin), data["topOrigin"] == nil else {
      throw .otherOrigin
    }
    switch data["crossOrigin"] {
    case nil, .bool(false)?: break
    case .bool(true)?: throw .otherOrigin
    default: throw .malformed
    }
    digest = HashFunction.sha256.digest(bytes)
  }
}
