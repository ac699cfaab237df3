import Identity
import Localization

extension CallerCodeMail {
  var subject: Message {
    Message("{application}: code for your call with support", ["application": .application(pool)])
  }

  var body: Message {
    Message(
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
