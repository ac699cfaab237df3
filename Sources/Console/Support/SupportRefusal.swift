import HTTP
import Identity
import Localization
import Templating

/// Why an agent can't act at all, and what they can do about it.
struct SupportRefusal: ViewModel {
  let sentence: Message
  var link: Link?
  /// Whether the page offers to ask an owner to unblock the agent.
  var asksForRelease = false

  init(_ sentence: Message) { self.sentence = sentence }

  init?(_ eligibility: SupportEligibility, _ signedIn: SignedIn) {
    if let refusal = eligibility.refusal {
      self.init(ActionErrorText.sentence(refusal))
    } else if eligibility.isHeld {
      self.init(ActionErrorText.sentence(.held))
    } else if eligibility.actionsLeft == 0 {
      self.init(
        Message(
          one: """
            You’ve reached the limit of {count} action per hour. You can continue an hour after \
            it.
            """,
          other: """
            You’ve reached the limit of {count} actions per hour. You can continue an hour after \
            the first of them.
            """,
          ["count": .number(eligibility.settings.actionsPerHour)]))
      asksForRelease = true
    } else {
      self.init(lackingCode: eligibility.asksForCode, signedIn)
    }
  }

  init?(lackingCode isDue: Bool, _ signedIn: SignedIn) {
    guard isDue, !signedIn.session.factors.contains(.totp) else { return nil }
    if let address = signedIn.passkeyReauthentication {
      sentence = Message(
        """
        This action requires recent re-authentication. Use your passkey first, then submit the \
        form.
        """)
      link = Link(text: Message("Use your passkey"), href: address)
      return
    }
    if let provider = signedIn.providerReauthentication {
      sentence = Message("Confirm your identity to continue.")
      link = Link(
        text: Message("Confirm with {name}", ["name": .name(Formatted.short(provider.name))]),
        href: provider.href)
      return
    }
    sentence = ActionErrorText.sentence(.noSecondFactor)
    link = Link(
      text: Message("Set up your authenticator app"), href: ConsolePaths.ownFactor())
  }

  static let keys: Keys<Self> = [
    .text(\.sentence),
    .optional(\.link),
    .flag(\.asksForRelease),
    .text("roles") { _ in Message.value(Permission.protectUsers.roleNames) },
  ]
}
