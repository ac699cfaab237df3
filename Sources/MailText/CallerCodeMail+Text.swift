import Identity
import Localization

extension CallerCodeMail {
  var subject: Message {
    agent == nil
      ? Message(
        "{application}: code for your enrollment link", ["application": .application(pool)])
      : Message(
        "{application}: code for your call with support", ["application": .application(pool)])
  }

  var body: Message {
    guard let agent else {
      return Message(
        """
        Enter this code on the page of your enrollment link, to set up an authenticator app for \
        your {application} account {email}:

        {code}

        The code expires in 10 minutes. Don't share it with anyone. Support never asks for it.

        If you didn't open a link to set up an authenticator app, someone else has your link. They \
        can't use it without this code. Contact the {application} support team.

        """,
        ["application": .application(pool), "email": .text(email), "code": .text(grouped)])
    }
    return Message(
      """
      {agent} from the {application} support team is asking you to read this code aloud, to \
      confirm that you own {email} before your account is changed:

      {code}

      The code expires in 10 minutes. Don't read it to anyone you didn't call, and don't type it \
      anywhere.

      If you aren't talking to support, someone may be pretending to be you. Contact the \
      {application} support team.

      """,
      [
        "application": .application(pool), "email": .text(email),
        "agent": .text(SafeName.unlinked(agent)), "code": .text(grouped),
      ])
  }
}
