import Identity
import Localization
import Templating

extension AdministratorRecord {
  var factorsText: Message {
    let passkeys = Message(
      one: "{count} passkey", other: "{count} passkeys", ["count": .number(self.passkeys)])
    guard factors.contains(.totp) else { return passkeys }
    let app = Factor.Kind.totp.name
    guard factors.contains(.passkey) else { return app }
    return .value(.sequence([app, passkeys]))
  }

  var state: (text: Message, chip: Markup) {
    if !canSignIn {
      let text = Message("can’t sign in")
      return (text, Chip.bad(text))
    }
    if administrator.grants.isEmpty {
      let text = Message("no role")
      return (text, Chip.look(text))
    }
    if lastSignInAt == nil {
      let text = Message("never signed in")
      return (text, Chip.off(text))
    }
    let text = Message("active")
    return (text, Chip.on(text))
  }
}
