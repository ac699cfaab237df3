import Identity
import Localization

extension ActionLinkMail {
  private var name: Message.Value { .text(SafeName.oneLine(project)) }

  var subject: Message {
    switch kind {
    case .passwordReset: Message("Choose a new password for {project}", ["project": name])
    case .verifyEmail: Message("Verify your email address for {project}", ["project": name])
    case .signIn: Message("Sign in to {project}", ["project": name])
    case .changeEmail: Message("Verify your new email address for {project}", ["project": name])
    case .recoverEmail: Message("Your email address for {project} was changed", ["project": name])
    case .revertFactor:
      Message("A second factor was added to your account at {project}", ["project": name])
    }
  }

  var body: Message {
    Message(
      """
      {reason}

      {link}

      {end}

      """,
      ["reason": .message(reason), "link": .text(link), "end": .message(end)])
  }

  private var reason: Message {
    switch kind {
    case .passwordReset:
      return Message(
        "Follow this link to choose a new password for the account {email} at {project}:",
        ["email": .text(email), "project": name])
    case .verifyEmail: return verification
    case .signIn:
      return Message(
        "Follow this link to sign in to {project} as {email}:",
        ["email": .text(email), "project": name])
    case .changeEmail:
      guard let newEmail else { return verification }
      return Message(
        """
        Follow this link to change the email address of your account at {project} to {newEmail}. \
        Until you do, it stays {email}.
        """,
        ["project": name, "newEmail": .text(newEmail), "email": .text(email)])
    case .recoverEmail:
      guard let newEmail else {
        return Message(
          """
          The email address {email} was removed from your account at {project}.

          If you didn't do this, follow this link to restore {email}, and then choose a new \
          password:
          """, ["project": name, "email": .text(email)])
      }
      return Message(
        """
        The email address of your account at {project} was changed from {email} to {newEmail}.

        If you didn't do this, follow this link to restore {email}, and then choose a new \
        password:
        """,
        ["project": name, "email": .text(email), "newEmail": .text(newEmail)])
    case .revertFactor:
      let quoted = Message("“{name}”", ["name": .text(SafeName.unlinked(factor ?? ""))])
      return Message(
        """
        The second factor {factor} was added to the account {email} at {project}.

        If you didn't do this, follow this link to remove it, and then choose a new password:
        """,
        ["factor": .message(quoted), "email": .text(email), "project": name])
    }
  }

  private var verification: Message {
    Message(
      "Follow this link to confirm that {email} is your email address at {project}:",
      ["email": .text(email), "project": name])
  }

  private var expires: Message {
    let hours = Int(kind.lifetime / 3_600)
    if hours == 1 { return Message("The link can be used once and expires in one hour.") }
    return hours < 48
      ? Message(
        one: "The link can be used once and expires in {count} hour.",
        other: "The link can be used once and expires in {count} hours.", ["count": .number(hours)])
      : Message(
        one: "The link can be used once and expires in {count} day.",
        other: "The link can be used once and expires in {count} days.",
        ["count": .number(hours / 24)])
  }

  private var end: Message {
    switch kind {
    case .recoverEmail, .revertFactor:
      Message("{expires} If you did this, no action is needed.", ["expires": .message(expires)])
    default:
      Message(
        "{expires} If you didn't request it, you can ignore this email.",
        ["expires": .message(expires)])
    }
  }
}
