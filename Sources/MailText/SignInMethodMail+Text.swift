import Identity
import Localization

extension SignInMethodMail {
  var subject: Message {
    switch change {
    case .passkeyAdded: Message("mail.subject-passkey-added")
    case .passkeyRemoved: Message("mail.subject-passkey-removed")
    case .authenticatorSetUp: Message("mail.subject-authenticator-set-up")
    case .authenticatorReplaced: Message("mail.subject-authenticator-replaced")
    case .authenticatorRemoved: Message("mail.subject-authenticator-removed")
    case .passwordChanged: Message("mail.subject-administrator-password")
    case .recoveryCodesMade: Message("mail.subject-administrator-recovery-codes")
    case .providerLinked: Message("mail.subject-administrator-provider-linked")
    case .providerRemoved: Message("mail.subject-administrator-provider-unlinked")
    case .passwordReset: Message("mail.subject-administrator-password-reset")
    case .secondFactorsReset: Message("mail.subject-administrator-second-factors-reset")
    }
  }

  var body: Message {
    switch change {
    case .passkeyAdded(let name):
      Message(
        "mail.passkey-added",
        ["name": .text(SafeName.unlinked(name)), "email": .text(email), "time": .moment(at)])
    case .passkeyRemoved(let name):
      Message(
        "mail.passkey-removed",
        ["name": .text(SafeName.unlinked(name)), "email": .text(email), "time": .moment(at)])
    case .authenticatorSetUp:
      Message("mail.authenticator-set-up", ["email": .text(email), "time": .moment(at)])
    case .authenticatorReplaced:
      Message("mail.authenticator-replaced", ["email": .text(email), "time": .moment(at)])
    case .authenticatorRemoved:
      Message("mail.authenticator-removed", ["email": .text(email), "time": .moment(at)])
    case .passwordChanged:
      Message("mail.administrator-password", ["email": .text(email), "time": .moment(at)])
    case .recoveryCodesMade:
      Message("mail.administrator-recovery-codes", ["email": .text(email), "time": .moment(at)])
    case .providerLinked(let name):
      Message(
        "mail.administrator-provider-linked",
        ["provider": .text(SafeName.unlinked(name)), "email": .text(email), "time": .moment(at)])
    case .providerRemoved(let name):
      Message(
        "mail.administrator-provider-removed",
        [
          "provider": .text(SafeName.unlinked(name)), "email": .text(email), "by": actor,
          "time": .moment(at),
        ])
    case .passwordReset:
      Message(
        "mail.administrator-password-reset",
        ["email": .text(email), "by": actor, "time": .moment(at)])
    case .secondFactorsReset(let authenticator, let passkeys):
      Message(
        "mail.administrator-second-factors-reset",
        [
          "factors": .message(Self.factors(authenticator, passkeys)), "email": .text(email),
          "by": actor, "time": .moment(at),
        ])
    }
  }

  private static func factors(_ authenticator: Bool, _ passkeys: Int) -> Message {
    guard passkeys > 0 else { return Message("mail.reset-authenticator") }
    return authenticator
      ? Message("mail.reset-authenticator-and-passkeys", ["count": .number(passkeys)])
      : Message("mail.reset-passkeys", ["count": .number(passkeys)])
  }

  private var actor: Message.Value {
    guard case .administrator(_, let name) = by else {
      return .message(Message("mail.by-command-line"))
    }
    return .text(SafeName.unlinked(name))
  }
}
