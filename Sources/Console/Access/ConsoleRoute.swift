import HTTP
import Identity
import Localization

struct ConsoleRoute: Sendable {
  enum Access: Sendable, Equatable {
    case open
    /// A session, including one that must set up a second factor first.
    case settingUp
    /// A session, and a permission on the instance if one is named.
    case signedIn(Permission?)
    /// A session, and a permission anywhere: on the instance, in a project or in a tenant.
    case somewhere(Permission)
    /// A session, a visible project, and a permission in it.
    case project(Permission)
    /// A session, a visible tenant, and a permission in its project.
    case projectOfTenant(Permission)
    /// A session, a visible pool, and a permission in it.
    case pool(Permission)
  }

  /// The method of a route, the permission that it takes, what it needs of a pool, and what it does.
  struct Use: Sendable {
    fileprivate let method: Method
    fileprivate let permission: Permission
    fileprivate let needs: Capability
    fileprivate var actions: [ConsoleAction] = []
    fileprivate var preparedActions: [ConsoleAction] = []
    fileprivate var name: Message?

    static func get(_ permission: Permission, needs: Capability = .bookkeeping) -> Use {
      Use(method: .get, permission: permission, needs: needs)
    }

    /// The page of a form for an action.
    fileprivate static func asking(for action: ConsoleAction) -> Use {
      .get(action.requirements.permission, needs: action.requirements.needs)
    }

    /// A form that performs one of several actions, which all take the same permission and need the
    /// same, unless `needs` says what the page of the form needs.
    static func performing(
      _ action: ConsoleAction, _ others: ConsoleAction..., needs: Capability? = nil
    ) -> Use {
      Use(
        method: .post, permission: action.requirements.permission,
        needs: needs ?? action.requirements.needs, actions: [action] + others, name: action.name)
    }

    fileprivate static func performing<Action: FormAction>(_ form: Action.Type) -> Use {
      Use(
        method: .post, permission: form.action.requirements.permission,
        needs: form.action.requirements.needs, actions: [form.action] + form.stricterActions,
        name: form.name)
    }

    /// A form that shows what actions would do: it takes their permission, but changes nothing.
    static func preparing(_ action: ConsoleAction, _ others: ConsoleAction...) -> Use {
      Use(
        method: .post, permission: action.requirements.permission,
        needs: action.requirements.needs, preparedActions: [action] + others, name: action.name)
    }
  }

  let access: Access
  let needs: Capability
  let route: Route
  /// What happens for those who may open the page before its snapshot begins, if the project is
  /// connected; the response is ignored.
  let before: Route?
  /// Whether a sign-in can lead to the page.
  let isDestination: Bool
  let actions: [ConsoleAction]
  /// The actions that a form of the route previews without performing them.
  let preparedActions: [ConsoleAction]
  /// What submitting a form of the route does; nil for a page, and without an action.
  let name: Message?

  fileprivate init(
    _ access: Access, _ route: Route, isDestination: Bool? = nil, _ use: Use? = nil,
    before: Route? = nil
  ) {
    self.access = access
    needs = use?.needs ?? .bookkeeping
    (self.route, self.before) = (route, before)
    self.isDestination = isDestination ?? (access != .open)
    actions = use?.actions ?? []
    preparedActions = use?.preparedActions ?? []
    name = use?.name
  }
}

/// Every page requires a session unless it's added with `open`.
struct RouteTable: Sendable {
  let authorizer: RequestAuthorizer
  let failures: Failures
  private(set) var all: [ConsoleRoute] = []

  /// The pages that a sign-in can lead to.
  var destinations: [Route] { all.filter(\.isDestination).map(\.route) }

  mutating func add(_ routes: [ConsoleRoute]) { all += routes }

  mutating func open<each Parameter: PathParameter>(
    _ method: Method, _ path: Path<repeat each Parameter>, isDestination: Bool = false,
    _ page: @escaping @Sendable (Visitor, repeat each Parameter) async throws -> Response
  ) {
    let route = path.open(method, authorizer, failures, page)
    all.append(ConsoleRoute(.open, route, isDestination: isDestination))
  }

  mutating func settingUp(
    _ method: Method, _ path: Path<>, at stage: SetupStage = .settingUp,
    _ page: @escaping @Sendable (SignedIn) async throws -> Response
  ) {
    let route = path.signedIn(method, nil, authorizer, failures, page, at: stage)
    all.append(ConsoleRoute(.settingUp, route))
  }

  /// Adds a page for all administrators.
  mutating func signedIn<each Parameter: PathParameter>(
    _ method: Method, _ path: Path<repeat each Parameter>,
    _ page: @escaping @Sendable (SignedIn, repeat each Parameter) async throws -> Response
  ) {
    all.append(
      ConsoleRoute(.signedIn(nil), path.signedIn(method, nil, authorizer, failures, page)))
  }

  /// Adds a page for administrators with a permission on the instance.
  mutating func signedIn<each Parameter: PathParameter>(
    _ path: Path<repeat each Parameter>, _ use: ConsoleRoute.Use,
    _ page: @escaping @Sendable (SignedIn, repeat each Parameter) async throws -> Response
  ) {
    let route = path.signedIn(use.method, use.permission, authorizer, failures, page)
    all.append(ConsoleRoute(.signedIn(use.permission), route, use))
  }

  /// Adds a page for administrators with a permission anywhere; it shows only what they can access.
  mutating func somewhere(
    _ path: Path<>, _ use: ConsoleRoute.Use,
    _ page: @escaping @Sendable (SignedIn) async throws -> Response
  ) {
    let route = path.signedIn(
      use.method, use.permission, authorizer, failures, page, anywhere: true)
    all.append(ConsoleRoute(.somewhere(use.permission), route, use))
  }

  /// Adds a page of every pool or project.
  mutating func inside<Place: FormPlace>(
    _ path: PlacePath<Place>, _ use: ConsoleRoute.Use,
    _ page: @escaping @Sendable (Place) async throws -> Response
  ) {
    add(path, use) { place, _ in try await page(place) }
  }

  mutating func inside<Place: FormPlace>(
    _ path: PlacePath<Place, String>, _ use: ConsoleRoute.Use,
    before: (@Sendable (Place, String) async -> Void)? = nil,
    _ page: @escaping @Sendable (Place, String) async throws -> Response
  ) {
    var first: (@Sendable (Place, [String]) async -> Void)?
    if let before { first = { await before($0, $1[0]) } }
    add(path, use, before: first) { try await page($0, $1[0]) }
  }

  /// Adds the page of a form, and what submitting it does.
  mutating func add<Action: FormAction>(_ action: Action, _ forms: ActionForms) {
    let form = FormRoutes(action: action, forms: forms)
    let respond: @Sendable (Action.Place, [String]) async throws -> Response = {
      try await form.respond($0, $1, at: $0.address + Action.path.link($1))
    }
    add(Action.path, .asking(for: Action.action), respond)
    add(Action.path, .performing(Action.self), respond)
  }

  /// Adds a route below each kind of address that leads to the place.
  private mutating func add<Target: FormPath>(
    _ path: Target, _ use: ConsoleRoute.Use,
    before: (@Sendable (Target.Place, [String]) async -> Void)? = nil,
    _ page: @escaping @Sendable (Target.Place, [String]) async throws -> Response
  ) {
    let (authorizer, failures) = (authorizer, failures)
    for address in Target.Place.addresses {
      let ids = address.count { $0 == nil }
      let first = before.map { before in
        Route(use.method, address + path.components) { request, parameters in
          if authorizer.identity.connections.known.contains(ID(parameters[0])),
            let signedIn = try? await authorizer.signedIn(request),
            let place = try? await Target.Place.enter(
              Array(parameters.prefix(ids)), signedIn, needing: use.permission, of: use.needs,
              authorizer)
          {
            await before(place, Array(parameters.dropFirst(ids)))
          }
          return .noContent
        }
      }
      let route = Route(use.method, address + path.components) { request, parameters in
        await failures.respond(to: request) { signedIn in
          let place = try await Target.Place.enter(
            Array(parameters.prefix(ids)), signedIn, needing: use.permission, of: use.needs,
            authorizer)
          return try await page(place, Array(parameters.dropFirst(ids)))
        }
      }
      all.append(
        ConsoleRoute(Target.Place.access(use.permission), route, use, before: first))
    }
  }
}

// These are methods of `Path` because the compiler (Swift 6.3.1) fails on a closure that captures a
// generic function's own parameter pack, but not one that belongs to the type.

extension Path {
  fileprivate func open(
    _ method: Method, _ authorizer: RequestAuthorizer, _ failures: Failures,
    _ page: @escaping @Sendable (Visitor, repeat each Parameter) async throws -> Response
  ) -> Route {
    route(method) { (request: Request, parameter: repeat each Parameter) -> Response in
      do {
        return try await page(try authorizer.visitor(request), repeat each parameter)
      } catch {
        return await failures.page(error, for: request)
      }
    }
  }

  fileprivate func signedIn(
    _ method: Method, _ permission: Permission?, _ authorizer: RequestAuthorizer,
    _ failures: Failures,
    _ page: @escaping @Sendable (SignedIn, repeat each Parameter) async throws -> Response,
    anywhere: Bool = false, at stage: SetupStage = .ready
  ) -> Route {
    route(method) { (request: Request, parameter: repeat each Parameter) -> Response in
      var found: SignedIn?
      do {
        let signedIn = try await authorizer.signedIn(request, at: stage)
        found = signedIn
        let administrator = signedIn.administrator
        if let permission, !administrator.may(permission, in: nil),
          !(anywhere && administrator.maySomewhere(permission))
        {
          throw await authorizer.lacking(permission, signedIn, in: nil)
        }
        return try await page(signedIn, repeat each parameter)
      } catch {
        return await failures.page(error, for: request, found)
      }
    }
  }
}
