import Database

/// A change to how an administrator signs in.
public struct SignInMethodMail: Sendable {
  /// The change.
  public enum Change: Sendable {
    /// A passkey was added.
    case passkeyAdded(name: String)
    /// A passkey was removed.
    case passkeyRemoved(name: String)
    /// An authenticator app was set up.
    case authenticatorSetUp
    /// Another authenticator app replaced the previous one.
    case authenticatorReplaced
    /// The authenticator app was removed.
    case authenticatorRemoved
    /// The password was changed.
    case passwordChanged
    /// New recovery codes were generated.
    case recoveryCodesMade

    /// The message's stored purpose; each has its own limit, so that one change can't hide another.
    var purpose: String {
      switch self {
      case .passkeyAdded, .passkeyRemoved: "passkey"
      case .authenticatorSetUp, .authenticatorReplaced, .authenticatorRemoved:
        "administrator-authenticator"
      case .passwordChanged: "administrator-password"
      case .recoveryCodesMade: "administrator-recovery-codes"
      }
    }
  }

  /// The change.
  public let change: Change
  /// The administrator's email address.
  public let email: String
  /// The time of the change.
  public let at: Instant

  /// Creates the facts.
  public init(change: Change, email: String, at: Instant) {
    (self.change, self.email, self.at) = (change, email, at)
  }
}

extension Outbox {
  /// Notifies an administrator of a change to how they sign in.
  func notify(
    _ administrator: Administrator, _ change: SignInMethodMail.Change, at now: Instant,
    _ connection: borrowing Connection
  ) throws {
    let mail = SignInMethodMail(change: change, email: administrator.email, at: now)
    try add(change.purpose, .signInMethod(mail), to: administrator, at: now, connection)
  }
}
