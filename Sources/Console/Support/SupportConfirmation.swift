import HTTP
import Identity
import Templating

/// What a page of the desk asks before somebody acts on a user's account.
struct SupportConfirmation {
  /// The page in the window's title, such as “Remove a factor”.
  let title: String
  let heading: Markup
  /// What has to be done besides, before it is of use.
  var caution: LockCaution?
  /// What will happen.
  var consequences: [String]
  /// The verb with its object.
  let button: String
  /// What the way back is called.
  let keep: String
  /// Where the form goes: the page's own address.
  let action: String
  var isDestructive = true
  /// One thing more that the agent chooses.
  var choice: SupportChoice?
  /// What stands beside the form.
  var factsHeading = ""
  var facts: [Fact] = []
  /// The reasons that make sense for it.
  var reasons: [SupportReason] = SupportReason.losses
  /// What the role must have.
  var permission: Permission = .removeFactors
  /// True for what a user’s lock on changes of second factors does not keep anybody from.
  var passesLock = false
  /// Why this agent cannot, whatever they give.
  var refusal: String?
  /// Who can instead; nil where that is no help.
  var colleagues: ColleaguesView?
  /// The moment that a suspension asks for.
  var until: UntilField?
  /// The name that a factor is given.
  var name: NameField?
  /// True where the form's note is a note about the user, and all that it is about.
  var isNote = false
  /// Whether the account is changed, or only written about.
  var measure: SupportActionKind = .change
  /// Who is meant, for what cannot be taken back.
  var confirmation: ConfirmationField?
}

/// A question with names in it: what stands around them are literals.
extension HTML {
  /// Adds a name as people read it in a heading: short, and isolated.
  mutating func name(_ text: String) {
    add(HTML.isolated(Words.short(text)))
  }

  /// A heading of one name between two pieces of text.
  static func heading(_ start: StaticString, _ name: String, _ end: StaticString = "?") -> Markup {
    var html = HTML()
    html.raw(start)
    html.raw(" ")
    html.name(name)
    html.raw(end)
    return html.markup
  }
}

struct SupportConfirmationView: ViewModel {
  let frame: FrameView
  let question: SupportConfirmation
  let user: UserIdentity
  /// The form; nil when the agent cannot act whatever they give.
  let form: SupportForm?
  /// Why they cannot.
  let refusal: SupportRefusal?
  let csrf: String
  /// Where one goes without acting.
  let back: String

  private var until: UntilField? {
    var field = question.until
    field?.error = frame.error(at: "until")
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
    .object("frame") { $0.frame },
    .markup("heading") { $0.question.heading },
    .object("user") { $0.user },
    .optional("refusal") { $0.refusal },
    .optional("colleagues") { $0.question.colleagues },
    .optional("form") { $0.form },
    .optional("until") { $0.until },
    .optional("name") { $0.name },
    .optional("confirmation") { $0.confirmation },
    .text("action") { $0.question.action },
    .text("csrf") { $0.csrf },
    .optional("caution") { $0.question.caution },
    .texts("consequences") { $0.question.consequences },
    .optional("choice") { $0.question.choice },
    .text("button") { $0.question.button },
    .text("look") { $0.question.isDestructive ? "destroy" : "primary" },
    .text("keep") { $0.question.keep },
    .text("back") { $0.back },
    .flag("hasFacts") { !$0.question.facts.isEmpty },
    .text("factsHeading") { $0.question.factsHeading },
    .list("facts") { $0.question.facts },
  ]
}

/// One thing that an agent chooses besides: from a list that has a usual answer.
struct SupportChoice: ViewModel {
  /// The field's name in the form.
  let name: String
  let label: String
  let options: [SupportOption]

  static let keys: Keys<Self> = [
    .text("name") { $0.name },
    .text("label") { $0.label },
    .list("options") { $0.options },
  ]
}

struct SupportOption: ViewModel {
  let value: String
  let label: String
  let isChosen: Bool

  static let keys: Keys<Self> = [
    .text("value") { $0.value },
    .text("label") { $0.label },
    .flag("isChosen") { $0.isChosen },
  ]
}

/// Why an agent cannot act at all, and the way on.
struct SupportRefusal: ViewModel {
  let sentence: String
  var link: Link?
  /// True when an owner can be asked to release them, which this very form does.
  var asksForRelease = false

  /// What a page says by itself.
  init(_ sentence: String) { self.sentence = sentence }

  /// Why an agent cannot act on an account now, whatever they give; nil when they can.
  init?(_ standing: SupportEligibility, _ session: ConsoleSession) {
    if let refusal = standing.refusal {
      self.init(ActionErrorText.sentence(refusal))
    } else if standing.isHeld {
      self.init(ActionErrorText.sentence(.held))
    } else if standing.actionsLeft == 0 {
      self.init(
        "You have done \(Words.count(standing.settings.actionsPerHour, "action", "actions")) in an hour, which is as much as this place allows. Wait for the hour to pass, or ask an owner to look at it and release you."
      )
      asksForRelease = true
    } else {
      self.init(lackingCode: standing.asksForCode, session)
    }
  }

  /// Why an administrator cannot give a code of their own that is due; nil when they can.
  init?(lackingCode isDue: Bool, _ session: ConsoleSession) {
    guard isDue, session.secondFactor != .enrolled else { return nil }
    sentence = ActionErrorText.sentence(.noSecondFactor)
    link = Link(text: "Set up your authenticator", href: ConsolePaths.ownFactor())
  }

  static let keys: Keys<Self> = [
    .text("sentence") { $0.sentence },
    .optional("link") { $0.link },
    .flag("asksForRelease") { $0.asksForRelease },
  ]
}
