import Identity
import Templating

/// A part of the console, which declares its own routes: their paths, what they require, and what
/// handles them.
protocol ConsoleFeature: Sendable {
  /// - Throws: `TemplateError`, for the first template that is missing or invalid.
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws
}

/// What pages are made of.
final class ConsoleParts: Sendable {
  let identity: Identity
  private let templates: TemplateLibrary
  let frames: Frames
  let authorizer: RequestAuthorizer
  let guides: Guides
  let actions: ActionForms
  let userActions: UserActions
  let prose = GuidanceProse()

  init(
    identity: Identity, templates: TemplateLibrary, frames: Frames, authorizer: RequestAuthorizer,
    guides: Guides, userActions: UserActions
  ) throws {
    self.identity = identity
    self.templates = templates
    self.frames = frames
    self.authorizer = authorizer
    self.guides = guides
    self.userActions = userActions
    actions = try ActionForms(identity, frames, templates)
  }

  func page<Page, View: ViewModel>(
    _ template: String, _ page: (ConsoleParts, Template<View>) -> Page
  ) throws(TemplateError) -> Page {
    page(self, try templates.template(template, for: View.self))
  }

  func template<View: ViewModel>(
    _ name: String, for view: View.Type = View.self
  ) throws(TemplateError) -> Template<View> {
    try templates.template(name, for: view)
  }
}

/// A page with one template, which ``ConsoleParts/page(_:_:)`` creates.
protocol ConsolePage: Sendable {
  associatedtype View: ViewModel

  var parts: ConsoleParts { get }
  var view: Template<View> { get }
}

extension ConsolePage {
  var identity: Identity { parts.identity }
  var frames: Frames { parts.frames }
  var actions: ActionForms { parts.actions }
  var authorizer: RequestAuthorizer { parts.authorizer }
  var publicURL: PublicURL { authorizer.publicURL }
}
