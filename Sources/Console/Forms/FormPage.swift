import HTTP
import Identity
import Localization
import Templating

/// What the page of a form asks.
struct FormPage: Sendable {
  /// The title of the window.
  let title: Message
  let crumbs: [Link]
  /// HTML, as is the lead; nil for the title.
  var heading: Message?
  /// What the form is for.
  var lead: Message?
  var consequences: [Message] = []
  var fields: [Field] = []
  /// Whether the page only asks for confirmation, with the form's values as hidden fields.
  var isQuestion = false
  var hidden: [HiddenField] = []
  /// The label of the submit button: a verb and its object.
  let button: Message
  var isDestructive = false
  var keep = Message("Cancel")
  /// Where the cancel link leads.
  let back: String
  var factsHeading = Message.verbatim("")
  var facts: [Fact] = []
}

struct FormView: ViewModel {
  let frame: FrameView
  let page: FormPage
  let action: String
  let csrf: String
  let fields: [Field]
  let authorization: ActionFields

  static let keys: Keys<Self> = [
    .object(\.frame),
    .markup("heading") { Markup(html: $0.page.heading ?? $0.page.title) },
    .markup("lead") { $0.page.lead.map(Markup.init(html:)) },
    .text(\.action),
    .text(\.csrf),
    .flag("hasConsequences") { !$0.page.consequences.isEmpty },
    .texts("consequences") { $0.page.consequences },
    .list(\.fields),
    .object(\.authorization),
    .text("button") { $0.page.button },
    .text("look") { $0.page.isDestructive ? "destroy" : "primary" },
    .flag("isDestructive") { $0.page.isDestructive },
    .flag("isQuestion") { $0.page.isQuestion },
    .flag("isSplit") { $0.page.isQuestion || !$0.page.facts.isEmpty },
    .list("hidden") { $0.page.hidden },
    .text("keep") { $0.page.keep },
    .text("back") { $0.page.back },
    .flag("hasFacts") { !$0.page.facts.isEmpty },
    .text("factsHeading") { $0.page.factsHeading },
    .list("facts") { $0.page.facts },
  ]
}

extension ActionForms {
  func show(
    _ page: FormPage, of action: ConsoleAction, in place: some FormPlace, at address: String,
    errors: [FieldError]
  ) async throws -> Response {
    let signedIn = place.signedIn
    var frame = try await place.frame(page.title, frames)
    frame.crumbs = page.crumbs
    frame.errors = errors
    let view = FrameView(frame)
    let model = FormView(
      frame: view, page: page, action: address, csrf: signedIn.session.csrfToken,
      fields: page.fields.map { $0.shown(signedIn, view) },
      authorization: try await fields(action, signedIn, view))
    return .html(form.render(model), status: errors.isEmpty ? .ok : .unprocessableContent)
  }
}
