import Database

/// A change to how an administrator signs in.
public struct SignInMethodMail: Sendable {
  public enum Change: Sendable {
    case passkeyAdded(name: String)
    case passkeyRemoved(name: String)
    case authenticatorSetUp
    case authenticatorReplaced
    case authenticatorRemoved
    case passwordChanged
    case recoveryCodesMade
    case providerLinked(name: String)
    /// Someone removed the sign-in provider, and with it the link.
    case providerRemoved(name: String)
    /// Someone else set a new password.
    case passwordReset
    /// Someone else removed all second factors and the recovery codes.
    case secondFactorsReset(authenticator: Bool, passkeys: Int)

    /// The message's stored purpose; each has its own limit, so that one change can't hide another.
    var purpose: MessagePurpose {
      switch self {
      case .passkeyAdded, .passkeyRemoved: .passkey
      case .authenticatorSetUp, .authenticatorReplaced, .authenticatorRemoved:
        .administratorAuthenticator
      case .passwordChanged, .passwordReset: .administratorPassword
      case .recoveryCodesMade: .administratorRecoveryCodes
      case .providerLinked, .providerRemoved: .administratorProvider
      case .secondFactorsReset: .administratorSecondFactors
      }
    }
  }

  public let change: Change
  /// Who made the change; nil for the administrator.
  public let by: Actor?
  public let email: String
  public let at: Instant

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
