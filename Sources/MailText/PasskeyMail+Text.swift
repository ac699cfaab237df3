import Identity
import Localization

extension PasskeyMail {
  var subject: Message {
    switch change {
    case .passkeyAdded: Message("mail.subject-passkey-added")
    case .passkeyRemoved: Message("mail.subject-passkey-removed")
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
    }
  }
}
