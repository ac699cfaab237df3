import Identity
import Localization

extension AdministratorRecord {
  /// Which second factors the administrator has.
  var factorsText: Message {
    let passkeys = Message("administrators.passkeys", ["count": .number(self.passkeys)])
    guard factors.contains(.totp) else { return passkeys }
    let app = Factor.Kind.totp.name
    guard factors.contains(.passkey) else { return app }
    return Message(
      "administrators.app-and-passkeys",
      ["app": .message(app), "passkeys": .message(passkeys)])
  }
}
