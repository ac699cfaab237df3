import Crypto
import Database

/// Why any use case can fail, whatever it does.
public enum CallError: Error, Sendable {
  /// What the call names doesn't exist, perhaps not anymore.
  case notFound
  /// The pool was deleted, perhaps after the call found it.
  case poolDeleted(Pool)
  /// Sign-in was disabled in the pool, perhaps after the call found it.
  case poolDisabled(Pool)
  /// The author's service token was revoked, or its creator's role ended, after the request began.
  case tokenRevoked
  /// The network created too many accounts; retry after this time.
  case tooManySignUps(until: Instant)
}

/// An internal failure that isn't the caller's fault; it's logged and never shown.
public struct Failure: Error, Sendable, CustomStringConvertible {
  /// The description, without user data.
  public let description: String
  /// The description of a database's error without its code and SQL; for operators.
  public let reason: String
  /// Whether the same call can succeed later, although nobody changes the configuration.
  public let isTemporary: Bool
  /// Whether the database was locked, or had too many other writes; nothing was stored.
  public let isBusy: Bool

  /// Creates the failure of the server that an error is; nil for what a use case refuses.
  public init?(of error: any Error) {
    guard
      error is Failure || error is DatabaseError || error is UnreadableSecret
        || error is CryptoError && error as? CryptoError != .busy
    else { return nil }
    self.init(error)
  }

  public init(_ error: any Error) {
    if let failure = error as? Failure {
      self = failure
      return
    }
    description = String(describing: error)
    reason = (error as? DatabaseError)?.message ?? description
    isTemporary = (error as? DatabaseError)?.isTemporary == true
    isBusy = (error as? DatabaseError)?.code == .busy
  }

  package init(_ description: String) {
    self.description = description
    reason = description
    isTemporary = false
    isBusy = false
  }
}
