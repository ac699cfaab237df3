import Identity
import Localization

extension BreakGlassMail {
  var subject: Message { Message("Break-glass sign-in to the console") }

  var body: Message {
    Message(
      """
      {name} ({email}), the break-glass account, signed in to the console with a password or \
      passkey while password sign-in is off.

      Browser: {browser}
      IP address: {address}
      Time: {at}

      If you didn't expect this, end the session, change the password, and check the audit log:
      {link}

      """,
      [
        "name": .text(SafeName.unlinked(name)), "email": .text(email),
        "browser": .message(BrowserText.name(origin.userAgent)),
        "address": .text(origin.address), "at": .moment(at), "link": .text(link),
      ])
  }
}
