import CBOR
import Crypto

/// What the authenticator says and signs (Web Authentication Level 2, section 6.1).
struct AuthenticatorData {
  /// The part of a registration that has the new credential (section 6.5.1).
  struct Credential {
    let aaguid: [UInt8]
    let id: [UInt8]
    /// The public key in COSE, as it's stored.
    let key: [UInt8]
  }

  let signCount: UInt32
  /// Whether the passkey can be copied to other devices, and whether it has been.
  let isBackupEligible: Bool
  let isBackedUp: Bool
  let credential: Credential?

  private enum Flag {
    static let userPresent: UInt8 = 0x01
    static let userVerified: UInt8 = 0x04
    static let backupEligible: UInt8 = 0x08
    static let backedUp: UInt8 = 0x10
    static let attested: UInt8 = 0x40
    static let extensions: UInt8 = 0x80
  }

  /// Parses the bytes and checks for whom they are, and that the user was present and verified.
  init(_ bytes: [UInt8], party: RelyingParty) throws(WebAuthnError) {
    guard bytes.count >= 37 else { throw .malformed }
    guard Array(bytes[..<32]) == HashFunction.sha256.digest(Array(party.id.utf8)) else {
      throw .otherRelyingParty
    }
    let flags = bytes[32]
    guard flags & Flag.userPresent != 0 else { throw .userNotPresent }
    guard flags & Flag.userVerified != 0 else { throw .userNotVerified }
    isBackupEligible = flags & Flag.backupEligible != 0
    isBackedUp = flags & Flag.backedUp != 0
    // Level 3, section 6.1.3: what can't be backed up isn't.
    guard isBackupEligible || !isBackedUp else { throw .malformed }
    signCount = bytes[33..<37].reduce(0) { $0 << 8 | UInt32($1) }
    var rest = Array(bytes[37...])
    credential = flags & Flag.attested != 0 ? try Self.credential(&rest) : nil
    if flags & Flag.extensions != 0 {
      guard case .map = try Self.item(&rest) else { throw .malformed }
    }
    guard rest.isEmpty else { throw .malformed }
  }

  private static func credential(_ rest: inout [UInt8]) throws(WebAuthnError) -> Credential {
    guard rest.count >= 18 else { throw .malformed }
    let aaguid = Array(rest[..<16])
    let length = Int(rest[16]) << 8 | Int(rest[17])
    guard (1...WebAuthnLimits.credentialID).contains(length), rest.count >= 18 + length else {
      throw .malformed
    }
    let id = Array(rest[18..<(18 + length)])
    rest.removeFirst(18 + length)
    let before = rest
    _ = try item(&rest)
    return Credential(
      aaguid: aaguid, id: id, key: Array(before.prefix(before.count - rest.count)))
  }

  /// Removes the CBOR item at the start of the bytes.
  private static func item(_ rest: inout [UInt8]) throws(WebAuthnError) -> CBOR {
    do {
      let (item, length) = try CBOR.first(of: rest)
      rest.removeFirst(length)
      return item
    } catch { throw .malformed }
  }
}
