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
    /// The account was linked with a person at the sign-in provider.
    case providerLinked(name: String)
    /// Someone removed the sign-in provider, and with it the link.
    case providerRemoved(name: String)
    /// Someone else set a new password.
    case passwordReset
    /// Someone else removed all second factors and the recovery codes.
    case secondFactorsReset(authenticator: Bool, passkeys: Int)

    /// The message's stored purpose; each has its own limit, so that one change can't hide another.
    var purpose: String {
      switch self {
      case .passkeyAdded, .passkeyRemoved: "passkey"
      case .authenticatorSetUp, .authenticatorReplaced, .authenticatorRemoved:
        "administrator-authenticator"
      case .passwordChanged, .passwordReset: "administrator-password"
      case .recoveryCodesMade: "administrator-recovery-codes"
      case .providerLinked, .providerRemoved: "administrator-provider"
      case .secondFactorsReset: "administrator-second-factors"
      }
    }
  }

  /// The change.
  public let change: Change
  /// Who made the change; nil for the administrator.
  public let by: Actor?
  /// The administrator's email address.
  public let email: String
  /// The time of the change.
  public let at: Instant

  /// Creates the facts.
  public init(change: Change, by: Actor? = nil, email: String, at: Instant) {
    (self.change, self.by, self.email, self.at) = (change, by, email, at)
  }
}

extension Outbox {
  /// Notifies an administrator of a change to how they sign in, made by themselves or by another
  /// actor.
  func notify(
    _ administrator: Administrator, _ change: SignInMethodMail.Change, by actor: Actor? = nil,
    at now: Instant, _ connection: borrowing Connection
  ) throws {
    let mail = SignInMethodMail(change: change, by: actor, email: administrator.email, at: now)
    try add(change.purpose, .signInMethod(mail), to: administrator, at: now, connection)
  }
}
