import HTTP
import Identity

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

  let access: Access
  let route: Route
  /// Whether a sign-in can lead to the page.
  let isDestination: Bool
  var actions: [ConsoleAction] = []
  /// The actions that a form of the route previews without performing them.
  var preparedActions: [ConsoleAction] = []

  init(access: Access, route: Route, isDestination: Bool? = nil) {
    self.access = access
    self.route = route
    self.isDestination = isDestination ?? (access != .open)
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
    all.append(ConsoleRoute(access: .open, route: route, isDestination: isDestination))
  }

  /// Adds a page for all administrators, or for those with a permission on the instance.
  mutating func signedIn<each Parameter: PathParameter>(
    _ method: Method, _ path: Path<repeat each Parameter>, _ permission: Permission? = nil,
    _ page: @escaping @Sendable (SignedIn, repeat each Parameter) async throws -> Response
  ) {
    let route = path.signedIn(method, permission, authorizer, failures, page)
    all.append(ConsoleRoute(access: .signedIn(permission), route: route))
  }

  /// Adds a page for administrators with a permission anywhere; it shows only what they can access.
  mutating func somewhere(
    _ method: Method, _ path: Path<>, _ permission: Permission,
    _ page: @escaping @Sendable (SignedIn) async throws -> Response
  ) {
    let route = path.signedIn(method, permission, authorizer, failures, page, anywhere: true)
    all.append(ConsoleRoute(access: .somewhere(permission), route: route))
  }

  mutating func settingUp(
    _ method: Method, _ path: Path<>, at stage: SetupStage = .settingUp,
    _ page: @escaping @Sendable (SignedIn) async throws -> Response
  ) {
    let route = path.signedIn(method, nil, authorizer, failures, page, at: stage)
    all.append(ConsoleRoute(access: .settingUp, route: route))
  }

  /// Adds a page of a project that's also visible to administrators of only one of its tenants.
  mutating func inProject(
    _ method: Method, _ path: Path<String>, _ permission: Permission,
    _ page: @escaping @Sendable (ProjectContext) async throws -> Response
  ) {
    let (authorizer, failures) = (authorizer, failures)
    let route = path.route(method) { request, project in
      await failures.respond(to: request) { signedIn in
        try await page(try await authorizer.project(signedIn, project, needing: permission))
      }
    }
    all.append(ConsoleRoute(access: .project(permission), route: route))
  }

  mutating func inProject(
    _ method: Method, _ path: Path<String, String>, _ permission: Permission,
    _ page: @escaping @Sendable (ProjectContext, String) async throws -> Response
  ) {
    let (authorizer, failures) = (authorizer, failures)
    let route = path.route(method) { request, project, one in
      await failures.respond(to: request) { signedIn in
        try await page(try await authorizer.project(signedIn, project, needing: permission), one)
      }
    }
    all.append(ConsoleRoute(access: .project(permission), route: route))
  }

  mutating func inProjectOfTenant(
    _ method: Method, _ path: Path<String, String>, _ permission: Permission,
    _ page: @escaping @Sendable (PoolContext) async throws -> Response
  ) {
    let (authorizer, failures) = (authorizer, failures)
    let route = path.route(method) { request, project, tenant in
      await failures.respond(to: request) { signedIn in
        let context = try await authorizer.pool(signedIn, project, tenant, needing: .seePool)
        _ = try await authorizer.project(signedIn, project, needing: permission)
        return try await page(context)
      }
    }
    all.append(ConsoleRoute(access: .projectOfTenant(permission), route: route))
  }

  /// Adds a page of every pool: two routes, one below the project and one below its tenants.
  mutating func inPool(
    _ method: Method, _ path: PoolPath0, _ permission: Permission,
    _ page: @escaping @Sendable (PoolContext) async throws -> Response
  ) {
    let access = PoolAccess(authorizer: authorizer, failures: failures, permission: permission)
    add(
      permission,
      path.ofProject.route(method) { request, project in
        await access.pass(request, project, nil, to: page)
      },
      path.ofTenant.route(method) { request, project, tenant in
        await access.pass(request, project, tenant, to: page)
      })
  }

  mutating func inPool(
    _ method: Method, _ path: PoolPath1, _ permission: Permission,
    _ page: @escaping @Sendable (PoolContext, String) async throws -> Response
  ) {
    let access = PoolAccess(authorizer: authorizer, failures: failures, permission: permission)
    add(
      permission,
      path.ofProject.route(method) { request, project, one in
        await access.pass(request, project, nil) { context in
          try await page(context, one)
        }
      },
      path.ofTenant.route(method) { request, project, tenant, one in
        await access.pass(request, project, tenant) { context in
          try await page(context, one)
        }
      })
  }

  mutating func inPool(
    _ method: Method, _ path: PoolPath2, _ permission: Permission,
    _ page: @escaping @Sendable (PoolContext, String, String) async throws -> Response
  ) {
    let access = PoolAccess(authorizer: authorizer, failures: failures, permission: permission)
    add(
      permission,
      path.ofProject.route(method) { request, project, one, other in
        await access.pass(request, project, nil) { context in
          try await page(context, one, other)
        }
      },
      path.ofTenant.route(method) { request, project, tenant, one, other in
        await access.pass(request, project, tenant) { context in
          try await page(context, one, other)
        }
      })
  }

  private mutating func add(_ permission: Permission, _ routes: Route...) {
    for route in routes { all.append(ConsoleRoute(access: .pool(permission), route: route)) }
  }

  /// Passes `add` the permission that actions require, and records them for the routes that it adds.
  fileprivate mutating func record(
    _ actions: [ConsoleAction], _ kind: WritableKeyPath<ConsoleRoute, [ConsoleAction]>,
    _ add: (inout RouteTable, Permission) -> Void
  ) {
    guard let permission = actions.first?.requirements.permission else { return }
    let start = all.count
    add(&self, permission)
    for index in start..<all.count { all[index][keyPath: kind] = actions }
  }

  fileprivate mutating func perform(
    _ actions: [ConsoleAction], _ add: (inout RouteTable, Permission) -> Void
  ) {
    record(actions, \.actions, add)
  }
}

// Forms that perform actions. Each action's requirements define the permission.

extension RouteTable {
  mutating func signedIn<each Parameter: PathParameter>(
    _ path: Path<repeat each Parameter>, performing actions: [ConsoleAction],
    _ page: @escaping @Sendable (SignedIn, repeat each Parameter) async throws -> Response
  ) {
    perform(actions) { $0.signedIn(.post, path, $1, page) }
  }

  mutating func somewhere(
    _ path: Path<>, performing actions: [ConsoleAction],
    _ page: @escaping @Sendable (SignedIn) async throws -> Response
  ) {
    perform(actions) { $0.somewhere(.post, path, $1, page) }
  }

  mutating func inProject(
    _ path: Path<String>, performing actions: [ConsoleAction],
    _ page: @escaping @Sendable (ProjectContext) async throws -> Response
  ) {
    perform(actions) { $0.inProject(.post, path, $1, page) }
  }

  mutating func inProject(
    _ path: Path<String, String>, performing actions: [ConsoleAction],
    _ page: @escaping @Sendable (ProjectContext, String) async throws -> Response
  ) {
    perform(actions) { $0.inProject(.post, path, $1, page) }
  }

  mutating func inProjectOfTenant(
    _ path: Path<String, String>, performing actions: [ConsoleAction],
    _ page: @escaping @Sendable (PoolContext) async throws -> Response
  ) {
    perform(actions) { $0.inProjectOfTenant(.post, path, $1, page) }
  }

  mutating func inPool(
    _ path: PoolPath0, performing actions: [ConsoleAction],
    _ page: @escaping @Sendable (PoolContext) async throws -> Response
  ) {
    perform(actions) { $0.inPool(.post, path, $1, page) }
  }

  mutating func inPool(
    _ path: PoolPath1, performing actions: [ConsoleAction],
    _ page: @escaping @Sendable (PoolContext, String) async throws -> Response
  ) {
    perform(actions) { $0.inPool(.post, path, $1, page) }
  }

  mutating func inPool(
    _ path: PoolPath2, performing actions: [ConsoleAction],
    _ page: @escaping @Sendable (PoolContext, String, String) async throws -> Response
  ) {
    perform(actions) { $0.inPool(.post, path, $1, page) }
  }
}

// Forms that show what actions would do. They take the permission, but change nothing.

extension RouteTable {
  mutating func signedIn(
    _ path: Path<>, preparing actions: [ConsoleAction],
    _ page: @escaping @Sendable (SignedIn) async throws -> Response
  ) {
    record(actions, \.preparedActions) { $0.signedIn(.post, path, $1, page) }
  }

  mutating func inPool(
    _ path: PoolPath0, preparing actions: [ConsoleAction],
    _ page: @escaping @Sendable (PoolContext) async throws -> Response
  ) {
    record(actions, \.preparedActions) { $0.inPool(.post, path, $1, page) }
  }

  mutating func inPool(
    _ path: PoolPath1, preparing actions: [ConsoleAction],
    _ page: @escaping @Sendable (PoolContext, String) async throws -> Response
  ) {
    record(actions, \.preparedActions) { $0.inPool(.post, path, $1, page) }
  }
}

private struct PoolAccess: Sendable {
  let authorizer: RequestAuthorizer
  let failures: Failures
  let permission: Permission

  func pass(
    _ request: Request, _ project: String, _ tenant: String?,
    to page: (PoolContext) async throws -> Response
  ) async -> Response {
    await failures.respond(to: request) { signedIn in
      try await page(try await authorizer.pool(signedIn, project, tenant, needing: permission))
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
