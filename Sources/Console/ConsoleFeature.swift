import HTTP
import Identity
import Templating

/// A part of the console, which declares its own routes: their paths, what they require, and what
/// handles them.
protocol ConsoleFeature: Sendable {
  /// Adds the routes.
  ///
  /// - Throws: `TemplateError`, for the first template that is missing or invalid.
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws
}

/// What features have in common.
struct ConsoleParts: Sendable {
  let identity: Identity
  private let templates: TemplateLibrary
  let frames: Frames
  let authorizer: RequestAuthorizer
  let guides: Guides
  /// The fields and errors of forms that perform actions.
  let actions: ActionForms
  /// The pages of actions on users.
  let support: SupportPages
  let prose = GuidanceProse()

  init(
    identity: Identity, templates: TemplateLibrary, frames: Frames, authorizer: RequestAuthorizer,
    guides: Guides
  ) throws {
    self.identity = identity
    self.templates = templates
    self.frames = frames
    self.authorizer = authorizer
    self.guides = guides
    let ending = SupportRedirect(frames: frames, cookies: authorizer.cookies)
    actions = try ActionForms(identity, ending, templates)
    support = SupportPages(
      identity: identity, ending: ending,
      view: try templates.template("support/question", for: SupportConfirmationView.self))
  }

  /// Binds a template to its view model.
  ///
  /// - Throws: `TemplateError` if the template is missing or invalid.
  func template<View: ViewModel>(
    _ name: String, for view: View.Type
  ) throws(TemplateError) -> Template<View> {
    try templates.template(name, for: view)
  }
}
