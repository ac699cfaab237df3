import Identity
import Localization
import Templating

extension AdministratorRecord {
  var factorsText: Message {
    let passkeys = Message("administrators.passkeys", ["count": .number(self.passkeys)])
    guard factors.contains(.totp) else { return passkeys }
    let app = Factor.Kind.totp.name
    guard factors.contains(.passkey) else { return app }
    return Message(
      "administrators.app-and-passkeys",
      ["app": .message(app), "passkeys": .message(passkeys)])
  }

  var state: (text: Message, chip: Markup) {
    if !canSignIn {
      let text = Message("administrators.cant-sign-in")
      return (text, Chip.bad(text))
    }
    if administrator.grants.isEmpty {
      let text = Message("administrators.without-role")
      return (text, Chip.look(text))
    }
    if lastSignInAt == nil {
      let text = Message("administrators.never-signed-in")
      return (text, Chip.off(text))
    }
    let text = Message("administrators.active")
    return (text, Chip.on(text))
  }
}
