public import HTTP
public import Identity
public import Templating

/// The admin console: pages over `Identity`, rendered here, complete without a script.
///
/// Everything is private unless its route says `open`. A form is taken from the console's own pages
/// only: the session, its CSRF token and the browser's word on where the form came from are checked
/// before a page is reached.
public struct Console: Sendable {
  private let identity: Identity
  private let router: Router
  private let failures: Failures
  private let headers: SecurityHeaders
  let routes: [ConsoleRoute]

  /// Makes the console; every template is bound and every guide rendered before it returns.
  ///
  /// - Parameters:
  ///   - identity: The rules that the pages call.
  ///   - templates: The pages' templates.
  ///   - publicURL: The address under which people open the console.
  ///   - assets: Where the stylesheet and its like are served.
  ///   - guidance: The folder of the guides in one language, such as `Templates/guidance/en`.
  ///   - log: Takes one line about something that went wrong and is not told to people.
  /// - Throws: `TemplateError` or ``ConsoleError``, for the first file that does not fit.
  public init(
    identity: Identity, templates: TemplateLibrary, publicURL: PublicURL, assets: ConsoleAssets,
    guidance: String, log: @escaping @Sendable (String) -> Void = { _ in }
  ) throws {
    self.identity = identity
    let frames = Frames(
      assets: assets, publicURL: publicURL, identity: identity,
      menu: try templates.template("parts/scope-menu", for: ScopeMenu.self))
    let gate = Gate(
      identity: identity, publicURL: publicURL, cookies: ConsoleCookies(publicURL: publicURL))
    let failures = try Failures(
      templates: templates, frames: frames, gate: gate, publicURL: publicURL, log: log)
    let routes = try ConsoleRoutes(
      identity: identity, templates: templates, frames: frames,
      guides: try Guides(folder: guidance),
      languages: PreferencesPage.languages(besides: guidance), gate: gate, failures: failures)
    var router = Router { request, _ in
      failures.page(.methodNotAllowed, requestID: request.id.text)
    }
    for route in routes.table.all { router.add(route.route) }
    self.routes = routes.table.all
    self.router = router
    self.failures = failures
    headers = SecurityHeaders(publicURL: publicURL)
  }

  /// Answers a request; an address that is none of the console's gets the page 404.
  public func respond(to request: Request) async -> Response {
    var response =
      request.isReading && !request.isForFile
      ? await identity.atOneMoment { await page(for: request) } : await page(for: request)
    headers.apply(to: &response)
    return response
  }

  private func page(for request: Request) async -> Response {
    if let response = await router.respond(to: request) { return response }
    if request.isReading, let address = RenamedPaths.address(for: request.target) {
      return .redirect(to: address)
    }
    return await failures.page(.notFound, for: request)
  }

  /// The page for what the server itself found wrong, such as a body that is too large.
  ///
  /// - Parameters:
  ///   - status: The status of the answer, 400 or more.
  ///   - requestID: The request's name in the log, for people to quote; nil when it has none.
  /// - Returns: The page, with the fields that every page carries.
  public func failure(_ status: Status, requestID: RequestID? = nil) -> Response {
    var response = failures.page(status, requestID: requestID?.text)
    headers.apply(to: &response)
    return response
  }
}

extension Request {
  /// Whether it asks for a list as a file, which is read in many parts: held to one moment, a few of
  /// them would keep every reader of the database from everybody else.
  fileprivate var isForFile: Bool { target.segments.last?.hasSuffix(".csv") ?? false }
}
