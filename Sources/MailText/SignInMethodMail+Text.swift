import Identity
import Localization

extension SignInMethodMail {
  var subject: Message {
    switch change {
    case .passkeyAdded: Message("Passkey added to your Countersign account")
    case .passkeyRemoved: Message("Passkey removed from your Countersign account")
    case .authenticatorSetUp: Message("Authenticator app set up for your Countersign account")
    case .authenticatorReplaced: Message("Authenticator app replaced for your Countersign account")
    case .authenticatorRemoved: Message("Authenticator app removed from your Countersign account")
    case .passwordChanged: Message("Password changed for your Countersign account")
    case .recoveryCodesMade: Message("New recovery codes for your Countersign account")
    case .providerLinked: Message("Sign-in provider linked with your Countersign account")
    case .providerRemoved: Message("Sign-in provider unlinked from your Countersign account")
    case .providerNeedsMFA: Message("Countersign asks for more at sign-in with the provider")
    case .passwordReset: Message("Password of your Countersign account reset")
    case .secondFactorsReset: Message("Second factors of your Countersign account reset")
    }
  }

  var body: Message {
    switch change {
    case .passkeyAdded(let name):
      Message(
        """
        The passkey “{name}” was added to the administrator account {email} on {time}.

        If this wasn't you, tell another administrator immediately. Anyone with the passkey can \
        sign in.

        """,
        ["name": .text(SafeName.unlinked(name)), "email": .text(email), "time": .moment(at)])
    case .passkeyRemoved(let name):
      Message(
        """
        The passkey “{name}” was removed from the administrator account {email} on {time}.

        If this wasn't you, tell another administrator immediately.

        """,
        ["name": .text(SafeName.unlinked(name)), "email": .text(email), "time": .moment(at)])
    case .authenticatorSetUp:
      Message(
        """
        An authenticator app was set up for the administrator account {email} on {time}, with new \
        recovery codes.

        If this wasn't you, tell another administrator immediately.

        """, ["email": .text(email), "time": .moment(at)])
    case .authenticatorReplaced:
      Message(
        """
        The authenticator app of the administrator account {email} was replaced on {time}, with \
        new recovery codes.

        If this wasn't you, tell another administrator immediately.

        """, ["email": .text(email), "time": .moment(at)])
    case .authenticatorRemoved:
      Message(
        """
        The authenticator app was removed from the administrator account {email} on {time}.

        If this wasn't you, tell another administrator immediately.

        """, ["email": .text(email), "time": .moment(at)])
    case .passwordChanged:
      Message(
        """
        The password of the administrator account {email} was changed on {time}.

        If this wasn't you, tell another administrator immediately. Anyone with the new password \
        can use it to sign in.

        """, ["email": .text(email), "time": .moment(at)])
    case .recoveryCodesMade:
      Message(
        """
        New recovery codes were generated for the administrator account {email} on {time}. \
        Earlier codes no longer work.

        If this wasn't you, tell another administrator immediately. Each code can be used once \
        instead of your second factor.

        """, ["email": .text(email), "time": .moment(at)])
    case .providerLinked(let name):
      Message(
        """
        The administrator account {email} was linked with an account at {provider} on {time}.

        If this wasn't you, tell another administrator immediately. Anyone with the account at \
        {provider} can use it to sign in.

        """,
        ["provider": .text(SafeName.unlinked(name)), "email": .text(email), "time": .moment(at)])
    case .providerRemoved(let name):
      Message(
        """
        The link of the administrator account {email} with an account at {provider} was removed \
        on {time}, because the sign-in provider was removed.

        By: {by}

        If you didn't expect this, tell another administrator immediately.

        """,
        [
          "provider": .text(SafeName.unlinked(name)), "email": .text(email), "by": actor,
          "time": .moment(at),
        ])
    case .providerNeedsMFA(let name):
      Message(
        """
        Countersign was upgraded. Until now, otp or hwk alone in an ID token of {provider} was \
        accepted as MFA, though each is only one factor. From {time} on, the token must have mfa, \
        or two methods of different kinds, such as pwd and otp.

        Administrators without that also use their authenticator app or passkey in Countersign, \
        or set one up right after they sign in.

        If {provider} indicates MFA with other values, enter them in the console: Instance \
        settings, Sign-in provider.

        """, ["provider": .text(SafeName.unlinked(name)), "time": .moment(at)])
    case .passwordReset:
      Message(
        """
        The password of the administrator account {email} was reset on {time}.

        By: {by}

        All sessions ended. If you didn't expect this, tell another administrator immediately. \
        Anyone with the new password can use it to sign in.

        """,
        ["email": .text(email), "by": actor, "time": .moment(at)])
    case .secondFactorsReset(let authenticator, let passkeys):
      Message(
        """
        The second factors of the administrator account {email} were reset on {time}.

        Removed: {factors}
        By: {by}

        Recovery codes no longer work, and all sessions ended. If you didn't expect this, tell \
        another administrator immediately.

        """,
        [
          "factors": .sequence(Self.factors(authenticator, passkeys)), "email": .text(email),
          "by": actor, "time": .moment(at),
        ])
    }
  }

  private static func factors(_ authenticator: Bool, _ passkeys: Int) -> [Message] {
    let app = authenticator || passkeys == 0 ? [Message("authenticator app")] : []
    return passkeys == 0
      ? app
      : app + [
        Message(one: "{count} passkey", other: "{count} passkeys", ["count": .number(passkeys)])
      ]
  }

  private var actor: Message.Value {
    guard case .administrator(_, let name) = by else {
      return .message(Message("an operator, with the countersign command"))
    }
    return .text(SafeName.unlinked(name))
  }
}
