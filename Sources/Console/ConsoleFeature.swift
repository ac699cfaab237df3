import HTTP
import Identity
import Templating

/// A part of the console, which declares its own routes: their paths, what they require, and what
/// handles them.
protocol ConsoleFeature: Sendable {
  /// - Throws: `TemplateError`, for the first template that is missing or invalid.
  static func addRoutes(to table: inout RouteTable, _ parts: ConsoleParts) throws
}

struct ConsoleParts: Sendable {
  let identity: Identity
  private let templates: TemplateLibrary
  let frames: Frames
  let authorizer: RequestAuthorizer
  let guides: Guides
  let actions: ActionForms
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
    actions = try ActionForms(
      identity, SupportRedirect(frames: frames, cookies: authorizer.cookies), templates)
  }

  func template<View: ViewModel>(
    _ name: String, for view: View.Type
  ) throws(TemplateError) -> Template<View> {
    try templates.template(name, for: view)
  }
}
