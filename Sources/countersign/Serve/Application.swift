import Console
import HTTP
import HTTPServer
import Identity
import IdentityToolkitAPI
import Localization
import Synchronization
import Templating

/// Everything that answers requests: health probes, static files, the API, and the console.
///
/// A class, since each request reads it from under a lock, which would copy every use case if it
/// were a value.
final class Application: Sendable {
  let publicURL: PublicURL
  private let files: StaticFiles
  private let api: IdentityToolkitAPI
  private let console: Consoles
  private let probes: Probes
  private let violations: ViolationReports
  private let isUsable: @Sendable () -> Bool

  init(
    identity: Identity, readiness: Readiness, violations: ViolationReports,
    publicURL address: String, assets: Assets,
    catalogs: [Catalog], anyHost: Bool, origins: EmulatorOrigins, limit: PoolRequestLimit?,
    pseudoLocale: PseudoLocale?,
    log: Log
  ) throws {
    probes = Probes(readiness: readiness)
    isUsable = { identity.isUsable }
    self.violations = violations
    let logRequest: @Sendable (RequestID, RequestEvent) -> Void = { log.add(.request($0, $1)) }
    guard let publicURL = PublicURL(address) else {
      throw ConfigurationError(
        Message(
          """
          --public-url must be a scheme, a host, and optionally a port, such as \
          https://mfa.example.com.
          """))
    }
    self.publicURL = publicURL
    let files = try StaticFiles(
      folder: assets.publicFiles, prefix: "/static/", fields: [.xContentTypeOptions: "nosniff"])
    self.files = files
    api = IdentityToolkitAPI(
      identity: identity, publicURL: publicURL.origin, hosts: anyHost ? .any : .loopback,
      origins: origins, limit: limit, log: logRequest)
    let links = try ConsoleAssets { files.link($0) }
    let pseudo = pseudoLocale.map { [Catalog.pseudo(rightToLeft: $0 == .rightToLeft)] }
    console = try Consoles(pseudo ?? catalogs) { catalog in
      try Console(
        identity: identity,
        templates: try TemplateLibrary(folder: assets.templates, catalog: catalog),
        publicURL: publicURL, assets: links, guides: assets.guides(in: catalog.locale),
        log: logRequest)
    }
  }

  private static let file = Route.Label(.get, "/static/{file}")

  var routeLabels: [Route.Label] {
    [Self.file, ViolationReports.route] + Probes.routes + api.routeLabels + console.routeLabels
  }

  func respond(to request: Request) async -> Response {
    if var answer = await probes.response(to: request) {
      answer.route = Probes.routes.first { $0.pattern == request.target.rawPath }
      return answer
    }
    guard isUsable() else { return failure(.serviceUnavailable, request.target, request.id) }
    if var file = files.response(to: request) {
      file.route = Self.file
      return file
    }
    if let answer = violations.response(to: request) { return answer }
    if let answer = await api.respond(to: request) { return answer }
    return await console.respond(to: request)
  }

  /// The response to a request whose body is large, by its header; nil if it may be read.
  func refusal(ofLarge request: Request) async -> Response? {
    api.owns(request.target)
      ? await api.refusal(ofLarge: request) : await console.refusal(ofLarge: request)
  }

  func failure(_ status: Status, _ target: Target?, _ id: RequestID) -> Response {
    if let target, api.owns(target) { return api.failure(status, target) }
    return console.failure(status, requestID: id)
  }
}

/// A pseudo-locale, which replaces English so that text missing from the catalog stands out.
enum PseudoLocale: String, Sendable {
  case leftToRight = "ltr"
  case rightToLeft = "rtl"
}

/// The application of a server that starts listening before the application exists.
///
/// Requests wait for it: a load balancer that sees an open port sends some that it can't repeat.
final class LateApplication: Sendable {
  private struct State {
    var application: Application?
    var waiting: [CheckedContinuation<Application, Never>] = []
  }

  private let state = Mutex(State())

  func set(_ application: Application) {
    let waiting = state.withLock { state in
      state.application = application
      defer { state.waiting = [] }
      return state.waiting
    }
    for one in waiting { one.resume(returning: application) }
  }

  func respond(to request: Request) async -> Response {
    if let application = state.withLock(\.application) {
      return await application.respond(to: request)
    }
    if let answer = await Probes(readiness: nil).response(to: request) { return answer }
    return await application().respond(to: request)
  }

  func refusal(ofLarge request: Request) async -> Response? {
    await application().refusal(ofLarge: request)
  }

  private func application() async -> Application {
    if let application = state.withLock(\.application) { return application }
    return await withCheckedContinuation { continuation in
      let application = state.withLock { state in
        if state.application == nil { state.waiting.append(continuation) }
        return state.application
      }
      if let application { continuation.resume(returning: application) }
    }
  }

  func failure(_ status: Status, _ target: Target?, _ id: RequestID) -> Response {
    state.withLock(\.application)?.failure(status, target, id) ?? starting(target)
  }

  private func starting(_ target: Target?) -> Response {
    if let answer = target.flatMap(IdentityToolkitAPI.starting) { return answer }
    var response = Response.text("starting\n", status: .serviceUnavailable)
    response.fields[.retryAfter] = "1"
    return response
  }
}
