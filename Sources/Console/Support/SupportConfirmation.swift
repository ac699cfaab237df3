import HTTP
import Identity
import Localization
import Templating
import Text

struct SupportConfirmation {
  let user: Account
  /// The support rules of the pool; nil if the question didn't read them.
  var rules: SupportRules?
  /// The page's name in the window title, such as “Remove factor”.
  let title: Message
  let heading: Markup
  /// A warning that codes are locked, where the action has no effect until they're unlocked.
  var caution: LockCaution?
  /// What the page shows, for the action to compare with what there is by then.
  var carried: [HiddenField] = []
  var consequences: [Message]
  /// Whether the user is notified by email, which is the last consequence.
  var notifies = false
  /// The label of the submit button: a verb and its object.
  let button: Message
  var keep = Message("Cancel")
  var isDestructive = true
  /// Whether the action responds with a file, which a dialog couldn't show.
  var isDownload = false
  var choice: SupportChoice?
  var factsHeading: Message?
  var facts: [Fact] = []
  var reasons: [SupportReason] = SupportReason.losses
  var refusal: Message?
  /// Who can act instead; nil where that wouldn't help.
  var otherAdministrators: OtherAdministratorsView?
  var until: UntilField?
  var name: NameField?
  /// The field that confirms the user for an action that can't be undone.
  var confirmation: ConfirmationField?
}

extension SupportConfirmation {
  /// Returns an error with the field and the text that this page has for it.
  func placed(_ error: FieldError) -> FieldError {
    switch error.field {
    case "confirmation": confirmation?.fault ?? error
    case "until": FieldError(field: until?.source ?? error.field, text: error.text)
    default: error
    }
  }

  func notifying(carriesMail: Bool) -> SupportConfirmation {
    guard notifies, let mail = FactorText.mail(to: user, isCarried: carriesMail) else {
      return self
    }
    var question = self
    question.consequences.append(mail)
    return question
  }
}

struct SupportConfirmationView: ViewModel {
  let frame: FrameView
  let question: SupportConfirmation
  /// The address that the form is posted to, which is the page's own.
  let action: String
  let user: UserIdentity
  let form: SupportForm?
  let refusal: SupportRefusal?
  let csrf: String
  let back: String

  private var until: UntilField? {
    var field = question.until
    field?.error = frame.error(at: "until")
    field?.dayError = frame.error(at: "day")
    return field
  }

  private var name: NameField? {
    var field = question.name
    field?.error = frame.error(at: "name")
    return field
  }

  private var confirmation: ConfirmationField? {
    var field = question.confirmation
    field?.error = frame.error(at: "confirmation")
    return field
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .markup("heading") { $0.question.heading },
    .object(\.user),
    .optional(\.refusal),
    .optional("otherAdministrators") { $0.question.otherAdministrators },
    .optional(\.form),
    .optional("until") { $0.until },
    .optional("name") { $0.name },
    .optional("confirmation") { $0.confirmation },
    .text(\.action),
    .text(\.csrf),
    .list("carried") { $0.question.carried },
    .optional("caution") { $0.question.caution },
    .texts("consequences") { $0.question.consequences },
    .optional("choice") { $0.question.choice },
    .text("button") { $0.question.button },
    .text("look") { $0.question.isDestructive ? "destroy" : "primary" },
    .flag("isDownload") { $0.question.isDownload },
    .text("keep") { $0.question.keep },
    .text(\.back),
    .flag("hasFacts") { !$0.question.facts.isEmpty },
    .text("factsHeading") { $0.question.factsHeading },
    .list("facts") { $0.question.facts },
  ]
}

struct SupportChoice: ViewModel {
  let name: String
  let label: Message
  let options: [SupportOption]

  static let keys: Keys<Self> = [
    .text(\.name),
    .text(\.label),
    .list(\.options),
  ]
}

struct SupportOption: ViewModel {
  let value: String
  let label: Message
  let isChosen: Bool

  static let keys: Keys<Self> = [
    .text(\.value),
    .text(\.label),
    .flag(\.isChosen),
  ]
}

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
