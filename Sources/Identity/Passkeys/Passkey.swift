public import Crypto
import Database
public import WebAuthn

/// A passkey that an administrator signs in with.
public struct Passkey: Sendable {
  /// The maximum length of a name, in characters.
  public static let longestName = 60
  public static let most = 10

  /// The ID, which isn't the credential ID.
  public let id: ID<Passkey>
  public let name: String
  public let createdAt: Instant
  public let lastUsedAt: Instant?
  /// Whether it has been copied to other devices, such as by a password manager.
  public let isBackedUp: Bool
}

/// What a page passes to the browser's passkey functions.
public struct PasskeyChallenge: Sendable {
  /// The random bytes that the authenticator signs.
  public let bytes: [UInt8]
  /// The encrypted challenge that the form carries to the next step; valid once, for ten minutes,
  /// and for one session or browser.
  public let ticket: Secret
  /// The credential IDs: those to sign in with, all if it's empty, or those that exist already.
  public let credentials: [[UInt8]]
}

/// What the browser's passkey functions returned for a sign-in.
public struct PasskeyResponse: Sendable {
  public let credential: [UInt8]
  /// The handle of the user; empty if the authenticator has none.
  public let userHandle: [UInt8]
  public let assertion: AssertionResponse

  public init(credential: [UInt8], userHandle: [UInt8], assertion: AssertionResponse) {
    (self.credential, self.userHandle) = (credential, userHandle)
    self.assertion = assertion
  }
}

public struct NewPasskey: Sendable {
  public let passkey: Passkey
  /// Ten new recovery codes, stored only as digests, if it's the administrator's only second factor
  /// and there were no codes; otherwise empty.
  public let recoveryCodes: [Secret]
}

public enum PasskeyError: Error, Sendable {
  /// The challenge expired, was used, or belongs to another session or browser.
  case ended
  /// The session to be re-authenticated has ended; nothing was used up or recorded.
  case sessionEnded
  /// The response isn't valid, or not one of the administrator's passkeys.
  case refused
  case usedCode
  case exists
  case tooMany
  case nameRequired
  case nameTooLong
  /// The administrator has to re-authenticate first, or the session has ended.
  case reauthenticationRequired
  /// An incorrect password, or no password where one is required.
  case wrongPassword
  case throttled(until: Instant)
  /// Too many passwords are being hashed; retry after a second.
  case busy
  case notFound
  case mandatory(PasskeyNecessity)
}

/// Why an administrator's passkey can't be removed.
public enum PasskeyNecessity: Sendable, Equatable {
  /// A second factor is required, and this is the last one.
  case lastSecondFactor
  /// The role requires a passkey, and this is the last one.
  case lastPasskey
  /// No owner without an end date could sign in.
  case lastOwner
  /// The account is the break-glass account, and can't sign in otherwise.
  case breakGlass
}

/// Why a passkey was refused, in the audit log.
enum PasskeyRefusal: String {
  /// The passkey isn't registered, or belongs to another administrator.
  case unknown
  case invalid
  /// The count of signatures went backward: the key may have been copied.
  case copied
  /// Sign-in with passwords and passkeys is off.
  case signInOff = "sign-in-off"
}
