import Identity
import Localization

extension EnrollmentLinkMail {
  var subject: Message {
    Message("{application}: set up your authenticator app", ["application": .application(pool)])
  }

  var body: Message {
    let (application, advice) = (
      Message.Value.application(pool), Message.Value.reporting(reportLink, pool)
    )
    switch cause {
    case .agent:
      return Message(
        """
        Hello,

        The {application} support team sent you this link to set up an authenticator app for your \
        account {email}. Open it on a computer, and have the phone with the app ready:

        {link}

        The link can be used once and expires in 30 minutes. Don't share the link or anything its \
        page shows. Support never asks for either. If you didn't expect this email, don't open \
        the link.

        {advice}

        """,
        [
          "application": application, "email": .text(email), "link": .text(link), "advice": advice,
        ])
    case .refusedSignIn:
      return Message(
        """
        Hello,

        Someone signed in to {application} as {email}. The account now requires a second factor and \
        has none, so the sign-in was refused. If this was you, open this link to set up an \
        authenticator app, then sign in again. Open it on a computer, and have the phone with the \
        app ready:

        {link}

        The link can be used once and expires in 30 minutes. Don't share the link or anything its \
        page shows. Support never asks for either. If you didn't try to sign in, don't open the \
        link, and change your password.

        {advice}

        """,
        [
          "application": application, "email": .text(email), "link": .text(link), "advice": advice,
        ])
    case .campaign(let sentence, let end):
      let greeting =
        sentence.isEmpty
        ? Message("Hello,") : Message("Hello,\n\n{sentence}", ["sentence": .text(sentence)])
      return Message(
        """
        {greeting}

        Set up an authenticator app for your {application} account {email}. Open this link on a \
        computer, and have the phone with the app ready:

        {link}

        The page asks for your password or emails you a code first. The link can be used once, \
        until {until}. Don't share the link or anything its page shows. Support never asks for \
        either. If you didn't expect this email, don't open the link.

        {advice}

        """,
        [
          "greeting": .message(greeting), "application": application, "email": .text(email),
          "link": .text(link), "until": .moment(end), "advice": advice,
        ])
    }
  }
}
