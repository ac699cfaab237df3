import Dispatch
public import HTTP
public import Identity
public import Localization
import Synchronization
public import Templating
import Text

/// The admin console: server-rendered pages for `Identity` that work without JavaScript.
///
/// Every page requires a session unless its route is added with `open`. Forms are accepted only
/// from the console's own pages: the session, its CSRF token, and the origin that the browser
/// reports are checked before a page runs.
public struct Console: Sendable {
  private let identity: Identity
  private let router: Router
  /// What happens before pages of connected projects.
  private let first: Router
  private let authorizer: RequestAuthorizer
  private let failures: Failures
  private let sessionRoutes: Set<Route.Label>
  private let headers: SecurityHeaders
  private let cookies: ConsoleCookies
  let routes: [ConsoleRoute]

  /// Creates the console; binds every template.
  ///
  /// `guides` is the folder of the guides in one language, such as `Templates/guides/en`. `log`
  /// receives the causes of errors whose details aren't shown on pages, and missing permissions.
  ///
  /// - Throws: `TemplateError` or ``ConsoleError``, for the first file that is missing or invalid.
  public init(
    identity: Identity, templates: TemplateLibrary, publicURL: PublicURL, assets: ConsoleAssets,
    guides: String,
    log: @escaping @Sendable (RequestID, RequestEvent) -> Void = { _, _ in }
  ) throws {
    try self.init(
      identity: identity, templates: templates, publicURL: publicURL, assets: assets,
      guides: try Guides(folder: guides), log: log)
  }

  init(
    identity: Identity, templates: TemplateLibrary, publicURL: PublicURL, assets: ConsoleAssets,
    guides: Guides,
    log: @escaping @Sendable (RequestID, RequestEvent) -> Void = { _, _ in }
  ) throws {
    self.identity = identity
    let cookies = ConsoleCookies(publicURL: publicURL)
    self.cookies = cookies
    let frames = Frames(
      assets: assets, publicURL: publicURL, identity: identity,
      catalog: templates.catalog,
      menu: try templates.template("parts/pool-menu", for: PoolMenu.self),
      sidebar: Sidebar(try templates.template("parts/sidebar", for: SidebarView.self)),
      flashes: Flashes(
        storage: identity.consoleStorage, cookies: cookies, catalog: templates.catalog))
    let authorizer = RequestAuthorizer(
      identity: identity, publicURL: publicURL, cookies: cookies,
      catalog: templates.catalog)
    let failures = try Failures(
      templates: templates, frames: frames, authorizer: authorizer, publicURL: publicURL, log: log)
    let parts = try ConsoleParts(
      identity: identity, templates: templates, frames: frames, authorizer: authorizer,
      guides: guides, userActions: Self.userActions)
    self.authorizer = authorizer
    routes = try Self.routes(RouteTable(authorizer: authorizer, failures: failures), parts)
    frames.sidebar.declare(routes)
    let pages = routes.map(\.route)
    var router = Router { request, _ in
      if request.isReading, !request.isForFile,
        let page = ReturnAddress.page(above: request.target.rawPath, among: pages)
      {
        // The address of a form, reloaded or opened from the history.
        return .redirect(to: page)
      }
      return failures.page(.methodNotAllowed, requestID: request.id.text)
    }
    var first = Router()
    for route in routes {
      router.add(route.route)
      if let before = route.before { first.add(before) }
    }
    (self.router, self.first) = (router, first)
    sessionRoutes = Set(routes.filter { $0.access != .open }.map(\.route.label))
    self.failures = failures
    headers = SecurityHeaders(publicURL: publicURL)
  }

  /// What the console consists of, without `entrances`.
  private static let features: [any ConsoleFeature.Type] = [
    ProjectsRoutes.self, OverviewRoutes.self, TenantsRoutes.self, PolicyRoutes.self,
    PolicyVersionsRoutes.self, ReviewRoutes.self, ReportsRoutes.self, ComparisonRoutes.self,
    ExemptionsRoutes.self, ConnectionRoutes.self,
    UsersRoutes.self,
    CodeAttemptsRoutes.self, ActivityRoutes.self,
    SupportRoutes.self, UserDataRoutes.self, RemovalsRoutes.self,
    CampaignRoutes.self,
    ApprovalsRoutes.self, BackupCodesRoutes.self, EnrollmentLinksRoutes.self,
    SettingsRoutes.self, KeysRoutes.self, TokensRoutes.self, ProvidersRoutes.self,
    TrustedTokenKeysRoutes.self, DeletionRoutes.self, AuditRoutes.self,
    MessagesRoutes.self, GuidanceRoutes.self, GuidesRoutes.self, SignInSimulatorRoutes.self,
    AdministratorsRoutes.self, ClockRoutes.self, AccountRoutes.self,
    SignInProviderRoutes.self, SignOutRoutes.self,
    SetupRoutes.self, ActionLinkRoutes.self, ReportedChangesRoutes.self,
  ]

  /// Features that lead to the pages of the others, and so come after them.
  private static let entrances: [any ConsoleFeature.Type] = [
    PasskeysRoutes.self, OwnFactorRoutes.self, ReauthenticationRoutes.self,
    ProviderEntranceRoutes.self, SignInRoutes.self,
  ]

  private static let userActions = UserActions(
    onCodes: [
      UnlockCodes.self, CreateTemporaryCode.self, SendEnrollmentLink.self,
      RevokeTemporaryCode.self, RevokeRecoveryCodes.self,
    ],
    onFactor: [
      SuspendFactor.self, ResumeFactor.self, RenameFactor.self, Resynchronize.self,
      ClearOffset.self, RemoveFactor.self,
    ],
    onRemoval: [RestoreFactors.self, PurgeFactors.self],
    onAccount: [
      EndSessions.self, EnableUser.self, VerifyEmail.self, ProtectUser.self, ExportUserData.self,
      ExemptUser.self, RemoveAllFactors.self, DisableUser.self, DeleteUser.self, EraseUser.self,
    ])

  // In two halves at the same time: binding the templates takes a quarter of the server's start.
  private static func routes(_ table: RouteTable, _ parts: ConsoleParts) throws -> [ConsoleRoute] {
    let middle = features.count / 2
    let halves = [features[..<middle], features[middle...]]
    let results = Mutex<[Int: Result<[ConsoleRoute], any Error>]>([:])
    DispatchQueue.concurrentPerform(iterations: halves.count) { half in
      let result = Result {
        var table = table
        for feature in halves[half] { try feature.addRoutes(to: &table, parts) }
        return table.all
      }
      results.withLock { $0[half] = result }
    }
    var whole = table
    try results.withLock { results in
      for half in halves.indices { whole.add(try results[half]?.get() ?? []) }
    }
    for entrance in entrances { try entrance.addRoutes(to: &whole, parts) }
    return whole.all
  }

  public var routeLabels: [Route.Label] { routes.map(\.route.label) }

  public func respond(to request: Request) async -> Response {
    let new = ResponseCookies()
    var response = await ResponseCookies.$current.withValue(new) {
      guard request.isReading, !request.isForFile, !request.isOfProvider, hasSession(request) else {
        return await page(for: request)
      }
      _ = await first.respond(to: request)
      return await identity.atOneMoment { await page(for: request) }
    }
    new.apply(to: &response)
    // A script can't read where a redirect leads, and would take the next page's flash by following it.
    if request.isFromScript, response.status == .seeOther { response.status = .noContent }
    headers.apply(to: &response)
    return response
  }

  /// Whether a request has the token of a session: other pages read little or nothing, and mustn't
  /// wait for a connection to the database.
  private func hasSession(_ request: Request) -> Bool {
    cookies.sessionToken(of: request) != nil
  }

  private func page(for request: Request) async -> Response {
    if let response = await router.respond(to: request) { return response }
    return await failures.page(Refusal.notFound, for: request)
  }

  /// The page for an error that the HTTP server detects, such as a body that's too large.
  ///
  /// `status` is 400 or higher; `requestID` is nil if the request has none.
  public func failure(_ status: Status, requestID: RequestID? = nil) -> Response {
    var response = failures.page(status, requestID: requestID?.text)
    headers.apply(to: &response)
    return response
  }

  /// The page for a request whose body is large, by its header, before the body is read; nil if it
  /// has a session, or one that expired lately.
  ///
  /// It's 401 where a session is required, else 413.
  public func refusal(ofLarge request: Request) async -> Response? {
    do {
      if try await authorizer.hasSession(request) { return nil }
    } catch {
      var response = await failures.page(error, for: request)
      headers.apply(to: &response)
      return response
    }
    let isRequired =
      router.label(request.method, request.target).map { sessionRoutes.contains($0) } ?? false
    return failure(isRequired ? .unauthorized : .contentTooLarge, requestID: request.id)
  }
}

extension Request {
  /// Whether the console's script sends the request, to show a form over a page.
  fileprivate var isFromScript: Bool { fields["X-Requested-With"] != nil }

  /// Whether the request is a step of a sign-in with the provider, which writes, and waits for the
  /// provider.
  fileprivate var isOfProvider: Bool { target.segments.starts(with: ["sign-in", "provider"]) }

  /// Whether the request downloads a list as a file.
  ///
  /// Downloads read the database in many parts. If each ran in one read transaction, a few of them
  /// would occupy all database readers.
  fileprivate var isForFile: Bool { target.segments.last?.hasSuffix(".csv") ?? false }
}

/// The console in every installed locale; each request gets the best one for its client.
public struct Consoles: Sendable {
  private let consoles: [Console]
  private let locales: [String]

  /// `catalogs` has at least one; the first is the default.
  public init(_ catalogs: [Catalog], console: (Catalog) throws -> Console) rethrows {
    precondition(!catalogs.isEmpty, "no catalog")
    consoles = try catalogs.map(console)
    locales = catalogs.map(\.locale)
  }

  public var routeLabels: [Route.Label] { consoles[0].routeLabels }

  /// Responds to a request in the best locale for its `Accept-Language` field.
  public func respond(to request: Request) async -> Response {
    var response = await console(for: request).respond(to: request)
    if consoles.count > 1 { response.fields.add(.vary, "Accept-Language") }
    return response
  }

  private func console(for request: Request) -> Console {
    guard consoles.count > 1 else { return consoles[0] }
    let preferences = LanguagePreferences(request.fields[.acceptLanguage] ?? "")
    return consoles[preferences.best(among: locales)]
  }

  public func refusal(ofLarge request: Request) async -> Response? {
    await console(for: request).refusal(ofLarge: request)
  }

  public func failure(_ status: Status, requestID: RequestID? = nil) -> Response {
    consoles[0].failure(status, requestID: requestID)
  }
}

extension Console {
  /// Returns the maximum size of a request body in bytes; nil for the default.
  ///
  /// Bulk removals accept larger bodies, because a pasted list can have all columns of a table.
  public static func bodyLimit(_ target: Target) -> Int? {
    let segments = target.segments
    guard segments.last == "bulk-removals" else { return nil }
    let isOfPool = segments.first == "projects" && (segments.count == 3 || segments.count == 5)
    return isOfPool ? 4 << 20 : nil
  }
}
