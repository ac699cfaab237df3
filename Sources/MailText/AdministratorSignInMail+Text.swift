import Identity
import Localization

extension AdministratorSignInMail {
  var subject: Message { Message("New sign-in to your administrator account") }

  var body: Message {
    Message(
      """
      Someone signed in to the console as {email} from a browser that hasn't been used with this \
      account in the last 90 days.

      Browser: {browser}
      IP address: {address}
      Time: {at}

      If this was you, no action is needed. If it wasn't, end the session, and change your \
      password if you have one:
      {link}

      """,
      [
        "email": .text(email), "browser": .message(BrowserText.name(origin.userAgent)),
        "address": .text(origin.address), "at": .moment(at), "link": .text(link),
      ])
  }
}
