import HTTP
import Identity
import Localization
import Templating

/// What the page of a form asks.
struct FormPage: Sendable {
  /// The title of the window.
  let title: Message
  let crumbs: [Link]
  /// The steps of which the form is one, with links to those before it.
  var steps: [Link] = []
  /// HTML, as is the lead; nil for the title.
  var heading: Message?
  /// What the form is for.
  var lead: Message?
  /// What the user's codes say about the action; the only amber part.
  var diagnosis: Message?
  var consequencesHeading = Message("What happens")
  var consequences: [Message] = []
  /// How long others can undo the action, which its reason may exclude; nil if they can't.
  var undo: Message?
  /// What follows the consequences; HTML.
  var note: Message?
  /// What the form changes, above its fields.
  var summary: [Fact] = []
  /// The version of the settings that the form shows, if it mustn't replace another one unseen.
  var version: SettingsVersion?
  var conflict: SettingsConflict?
  /// Why there's no form.
  var obstacle: Notice?
  var fields: [Field] = []
  /// Whether the page only asks for confirmation, with the form's values as hidden fields.
  var isQuestion = false
  var hidden: [HiddenField] = []
  /// The label of the submit button: a verb and its object.
  let button: Message
  var isDestructive = false
  var isStricter = false
  /// Whether the form ends something for ever.
  var isFinal = false
  var keep = Message("Cancel")
  /// What the link back says where a refusal replaces the form.
  var leave = Message("Back to user")
  /// Where the cancel link leads.
  let back: String
  var factsHeading = Message.verbatim("")
  var facts: [Fact] = []
  /// What the facts lead to.
  var factsLink: Link?
  /// Whether a refusal replaces the form until an administrator without a code re-authenticates.
  var needsCodeFirst = false

  // What only actions on a user have.

  var user: (account: Account, pool: Pool)?
  /// The support rules of the pool; nil if the page didn't read them.
  var rules: SupportRules?
  /// A warning that codes are locked, where the action has no effect until they're unlocked.
  var caution: Notice?
  /// Whether the user is notified by email, by this server or by their own, which is the last
  /// consequence.
  var notifies = false
  /// The field that confirms the user for an action that can't be undone.
  var confirmation: Field?
  /// Whether the action responds with a file, which a dialog couldn't show.
  var isDownload = false
  var refusal: Message?
  /// Who can act instead; nil where that wouldn't help.
  var otherAdministrators: OtherAdministratorsView?
}

extension FormPage {
  /// Creates the page of an action on a user.
  ///
  /// `title` is its name in the window title, such as “Remove factor”.
  init(
    _ account: Account, in pool: Pool, title: Message, heading: Message,
    consequences: [Message], button: Message, isDestructive: Bool = true,
    factsHeading: Message = .verbatim(""), facts: [Fact] = []
  ) {
    self.init(
      title: Message(
        "{action} · {user} · Users", ["action": .message(title), "user": account.shortLabel]),
      crumbs: Link.crumbs(to: account, in: pool), heading: heading, consequences: consequences,
      button: button, isDestructive: isDestructive,
      back: ConsolePaths.user(pool, account.id.text), factsHeading: factsHeading, facts: facts)
    user = (account, pool)
  }
}

extension Account {
  var shortLabel: Message.Value { .name(Formatted.short(label)) }
}

struct FormView: ViewModel {
  let frame: FrameView
  let page: FormPage
  let action: String
  let fields: [Field]
  let authorization: ActionFields
  var support: SupportForm?
  var refusal: Notice?

  private var hasAside: Bool {
    !page.facts.isEmpty || page.user != nil && !page.consequences.isEmpty
  }

  static let keys: Keys<Self> = [
    .object(\.frame),
    .markup("heading") { Markup(html: $0.page.heading ?? $0.page.title) },
    .list("steps") { $0.page.steps },
    .markup("lead") { $0.page.lead.map(Markup.init(html:)) },
    .optional("user") { $0.page.user.map { UserIdentity($0.account, in: $0.pool) } },
    .flag("isTight") { $0.page.lead != nil || $0.page.user != nil },
    .optional("obstacle") { $0.page.obstacle },
    .optional(\.refusal),
    .optional("conflict") { $0.page.conflict },
    .text("version") { $0.page.version?.text },
    .flag("hasForm") { $0.page.obstacle == nil && $0.refusal == nil },
    .optional("otherAdministrators") { $0.page.otherAdministrators },
    .text(\.action),
    .flag("isDialog") { $0.page.user != nil && !$0.page.isDownload },
    .optional("caution") { $0.page.caution },
    .text("consequencesHeading") { $0.page.consequencesHeading },
    .texts("consequences") { $0.page.consequences },
    .text("undo") { $0.page.undo },
    .list(\.fields),
    .optional(\.support),
    .object(\.authorization),
    .text("button") { $0.page.button },
    .text("look") { $0.page.isDestructive ? "destroy" : "primary" },
    .flag("isFinal") { $0.page.isFinal },
    .markup("note") { $0.page.note.map(Markup.init(html:)) },
    .list("summary") { $0.page.summary },
    .flag("isQuestion") { $0.page.isQuestion },
    .text("diagnosis") { $0.page.diagnosis },
    .flag("hasAside") { $0.hasAside },
    .list("hidden") { $0.page.hidden },
    .text("keep") { $0.page.keep },
    .text("leave") { $0.page.leave },
    .text("back") { $0.page.back },
    .text("factsHeading") { $0.page.factsHeading },
    .list("facts") { $0.page.facts },
    .optional("factsLink") { $0.page.factsLink },
  ]
}

extension ActionForms {
  /// `kept` are fields that were typed before, and kept for this page.
  func show(
    _ page: FormPage, of action: ConsoleAction, in place: some FormPlace, at address: String,
    errors: [FieldError], kept: Form? = nil
  ) async throws -> Response {
    let signedIn = place.signedIn
    var page = page
    var eligibility: SupportEligibility?
    var refusal: Notice?
    if let (account, pool) = page.user {
      let found = try await identity.support.eligibility(
        signedIn.session, on: account, in: pool, performing: action, page.rules)
      eligibility = found
      refusal = page.refusal.map { Notice($0) } ?? Notice(found, signedIn)
      let carriesMail = identity.messages.carriesMail
      if page.notifies, let mail = FactorText.mail(to: account, in: pool, isCarried: carriesMail) {
        page.consequences.append(mail)
      }
    } else if page.needsCodeFirst {
      let isDue = try await identity.support.asksForCode(signedIn.session)
      refusal =
        page.refusal.map { Notice($0) } ?? Notice(lackingCode: isDue, signedIn)
    }
    var frame = try await place.frame(page.title, frames)
    frame.crumbs = page.crumbs
    // Without a form, there's no field for the error summary to link to.
    frame.errors = refusal == nil ? errors : []
    let view = FrameView(frame)
    let typed = kept ?? (signedIn.request.isReading ? nil : signedIn.form)
    let model = FormView(
      frame: view, page: page, action: address,
      fields: page.fields.map { $0.shown(typed, view) },
      authorization: try await fields(action, signedIn, view, eligibility),
      // A link may know the reason, and nothing else.
      support: eligibility.map {
        support(
          page, action.reasons, $0, view, typed ?? ["reason": signedIn.query.trimmed("reason")],
          at: address)
      }, refusal: refusal)
    let status: Status = errors.isEmpty ? .ok : .unprocessableContent
    return .html(form.render(model), status: page.conflict == nil ? status : .conflict)
  }

  private func support(
    _ page: FormPage, _ reasons: [SupportReason], _ eligibility: SupportEligibility,
    _ frame: FrameView, _ typed: Form?, at address: String
  ) -> SupportForm {
    let answers = typed.map(ActionInput.init) ?? ActionInput()
    var form = SupportForm(
      frame: frame, eligibility: eligibility, answers: answers, action: address,
      reasons: reasons, confirmation: page.confirmation?.shown(typed, frame))
    if let caller = eligibility.caller, let (account, pool) = page.user {
      form.caller = CallerView(
        caller: caller, frame: frame, typed: answers.callerCode,
        send: ConsolePaths.callerCode(pool, account.id.text), page: address,
        carriesMail: identity.messages.carriesMail)
    }
    return form
  }
}
