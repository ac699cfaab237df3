public import HTTP
public import Identity
import JSON
import Text

/// Serves the REST API of Google's Identity Toolkit with this server's rules.
///
/// Every path is also served below the name of the production host, which SDKs prepend when they
/// use an emulator: `/v1/accounts:lookup` and `/identitytoolkit.googleapis.com/v1/accounts:lookup`
/// are the same.
///
/// ```swift
/// let api = IdentityToolkitAPI(identity: identity, publicURL: "https://mfa.example.com")
/// let response = await api.respond(to: request) ?? page(request)
/// ```
public struct IdentityToolkitAPI: Sendable {
  /// The host names that requests may be sent to in the emulator profile.
  public enum Hosts: Sendable {
    /// `localhost`, its subdomains, and loopback addresses.
    ///
    /// All other hosts are rejected, because the profile requires no real credentials and any web
    /// page can send requests to loopback addresses.
    case loopback
    /// All host names; for an emulator that deliberately accepts connections from other machines.
    case any
  }

  let router: Router
  private let authorizer: CallAuthorizer
  private let tokenRoutes: Set<Route.Label>
  let operations: [Operation]
  private let profile: Profile
  private let hosts: Hosts
  private let origins: EmulatorOrigins
  private let publicURL: String

  /// `hosts` and `origins` apply only in the emulator profile, and `limit` is nil for none.
  ///
  /// `log` receives the causes of errors whose details clients don't see, and missing permissions.
  public init(
    identity: Identity, publicURL: String, hosts: Hosts = .loopback,
    origins: EmulatorOrigins = EmulatorOrigins(), limit: PoolRequestLimit? = nil,
    log: @escaping @Sendable (RequestID, RequestEvent) -> Void = { _, _ in }
  ) {
    let url = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
    identity.outOfBandCodes.leadLinks(to: url)
    let tokens = IDTokens(identity: identity)
    let methods = Methods(identity: identity, tokens: tokens, publicURL: url)
    let credentials = Credentials(identity: identity)
    authorizer = CallAuthorizer(
      identity: identity, credentials: credentials, tokens: tokens, limit: limit, log: log)
    let routes = Routes(methods, authorizer)
    router = routes.router
    operations = routes.operations
    tokenRoutes = Set(
      zip(router.routes, operations).filter { $1.access.requiresToken }.map { $0.0.label })
    profile = identity.profile
    self.hosts = hosts
    self.origins = origins
    self.publicURL = url
  }

  /// Responds to a request; nil if its path isn't part of this API.
  public func respond(to request: Request) async -> Response? {
    guard owns(request.target) || greets(request) else { return nil }
    guard profile == .standalone || hosts == .any || LoopbackHost.isNamed(by: request) else {
      let text = "The emulator answers to the names of this machine only, such as localhost."
      let error = WireError(text, status: .forbidden, reason: "forbidden", isFrontEnd: true)
      return error.response(.both)
    }
    guard profile == .standalone || origins.allow(request, own: publicURL) else {
      let text =
        "The emulator answers to web pages of this machine only. Start it with --emulator-origin and "
        + "the page's origin to allow another."
      let error = WireError(text, status: .forbidden, reason: "forbidden", isFrontEnd: true)
      var response = error.response(.both)
      response.fields.add(.xContentTypeOptions, "nosniff")
      response.fields.add(.vary, "Origin")
      return response
    }
    if let preflight = CORS.preflight(request) { return preflight }
    var inner = request
    inner.target = Addresses.shortened(request.target)
    inner.method = Self.method(of: request)
    var response =
      await router.respond(to: inner) ?? WireError.engine(.notFound).response(.both)
    if response.fields[.cacheControl] == nil { response.fields.add(.cacheControl, "no-store") }
    response.fields.add(.xContentTypeOptions, "nosniff")
    CORS.open(&response, to: request)
    return response
  }

  /// Returns the response to a request that the HTTP engine rejects before it reaches a method.
  ///
  /// Like every error of this API, it's JSON that any page may read, because SDKs treat anything
  /// else as a network failure. The origin isn't known at this point, so it allows all origins.
  public func failure(_ status: Status, _ target: Target) -> Response {
    Self.refusal(.engine(status), target)
  }

  /// Returns the response while the server starts; nil for a path that isn't part of any profile's
  /// API.
  public static func starting(_ target: Target) -> Response? {
    guard Addresses.areOwned(target.segments, .emulator) else { return nil }
    return refusal(.unavailable, target)
  }

  /// Returns the response to a request whose body is large, by its header, before the body is read;
  /// nil if it has a valid bearer token.
  ///
  /// An API key isn't a credential: everyone has it. It's 401 where a token is required, else 413.
  public func refusal(ofLarge request: Request) async -> Response? {
    let isValid: Bool
    do { isValid = try await authorizer.hasToken(request) } catch {
      return Self.refusal(WireError(error), request.target)
    }
    guard !isValid else { return nil }
    let route = router.label(
      Self.method(of: request), Addresses.shortened(request.target))
    let isRequired = route.map { tokenRoutes.contains($0) } ?? false
    let error =
      !isRequired
      ? WireError.engine(.contentTooLarge)
      : request.bearerToken == nil ? .missingCredentials : .invalidCredentials
    return Self.refusal(error, request.target)
  }

  private static func refusal(_ error: WireError, _ target: Target) -> Response {
    var response = error.response(Addresses.errorShape(target))
    response.fields.add(.cacheControl, "no-store")
    response.fields.add(.xContentTypeOptions, "nosniff")
    response.fields.add(.accessControlAllowOrigin, "*")
    return response
  }

  /// Returns the maximum body size of a path, in bytes: 16 MiB for account imports, 1 MiB for
  /// everything else.
  public static func bodyLimit(_ target: Target) -> Int {
    switch target.segments.last {
    case "accounts:batchCreate", "uploadAccount": 16 << 20
    default: 1 << 20
    }
  }

  /// Returns whether a path belongs to this API, even if no method is there.
  public func owns(_ target: Target) -> Bool {
    Addresses.areOwned(target.segments, profile)
  }

  /// Whether a request is for the emulator's greeting, which shares its path with the console.
  private func greets(_ request: Request) -> Bool {
    guard profile == .emulator, request.target.rawPath == "/",
      request.method == .get || request.method == .head
    else { return false }
    return !(request.fields[.accept] ?? "").contains("text/html")
  }

  /// Returns the method that a request is handled as: that of `X-HTTP-Method-Override` for a POST
  /// request, which Java's own HTTP client sends in place of PATCH.
  ///
  /// Everything else about the request, such as the permission it requires, is that of this method.
  static func method(of request: Request) -> Method {
    guard request.method == .post, let name = request.fields[methodOverride] else {
      return request.method
    }
    return overrides.first { $0.name.isSameBytes(as: name) } ?? request.method
  }

  private static let overrides: [Method] = [.get, .put, .patch, .delete]
  private static let methodOverride: FieldName = "X-HTTP-Method-Override"

  public var routeLabels: [Route.Label] { router.routes.map(\.label) }
}

enum Addresses {
  /// The name of version 2 in Admin SDKs of before 2022.
  private static let oldVersion: UntrustedText = "v2beta1"
  private static let hosts: Set<UntrustedText> = [
    "identitytoolkit.googleapis.com", "securetoken.googleapis.com", "www.googleapis.com",
    "securetoken.google.com",
  ]

  static func areOwned(_ segments: [UntrustedText], _ profile: Profile) -> Bool {
    guard let first = segments.first else { return false }
    switch first {
    case "v1", "v2", oldVersion, "robot", "service_accounts", "identitytoolkit": return true
    case "admin": return segments.count > 1 && segments[1] == "v2"
    case "emulator": return profile == .emulator
    case "openapi.json": return segments.count == 1
    case ".well-known": return segments.dropFirst() == ["countersign-evidence-keys"]
    default:
      if segments.count == 3, segments[1] == ".well-known" {
        return segments[2] == "openid-configuration"
      }
      return hosts.contains(first)
    }
  }

  /// Returns the format of errors at a path, even if no method is there.
  ///
  /// Version 1 errors that occur before a method have all members.
  static func errorShape(_ target: Target) -> ErrorShape {
    let segments = shortened(target).segments
    return segments.first == "v2" || segments == ["v1", "token"] ? .v2 : .both
  }

  /// Returns the target without a host name and a leading `admin`, and with the current name of a
  /// version.
  static func shortened(_ target: Target) -> Target {
    var extra = 0
    if let first = target.segments.first, hosts.contains(first) { extra = 1 }
    if target.segments.dropFirst(extra).starts(with: ["admin", "v2"]) { extra += 1 }
    if target.segments.dropFirst(extra).first == oldVersion {
      let rest = target.droppingFirst(extra + 1)?.rawPath ?? ""
      return Target("/v2" + rest + (target.rawQuery.map { "?" + $0 } ?? "")) ?? target
    }
    return extra == 0 ? target : target.droppingFirst(extra) ?? target
  }
}
