import Identity
import Testing

@testable import Console

/// Every route and what it asks for, in one table to be read.
@Suite struct RouteTests {
  static let table = """
    GET /: session
    GET /projects/new: createProject on the instance
    POST /projects/new: createProject on the instance
    GET /projects/{String}: seeScope
    GET /projects/{String}/tenants/{String}: seeScope
    GET /projects/{String}/tenants: seeScope in some of the project
    GET /projects/{String}/tenants/new: manageTenants in the project
    POST /projects/{String}/tenants/new: manageTenants in the project
    GET /projects/{String}/policy: readPolicy
    GET /projects/{String}/tenants/{String}/policy: readPolicy
    POST /projects/{String}/policy: changePolicy
    POST /projects/{String}/tenants/{String}/policy: changePolicy
    GET /projects/{String}/review: seeScope in some of the project
    GET /projects/{String}/review.csv: seeScope in some of the project
    GET /projects/{String}/users: findUsers
    GET /projects/{String}/tenants/{String}/users: findUsers
    GET /projects/{String}/users/{String}: findUsers
    GET /projects/{String}/tenants/{String}/users/{String}: findUsers
    GET /projects/{String}/users/{String}/factors/{String}/removal: removeFactors
    GET /projects/{String}/tenants/{String}/users/{String}/factors/{String}/removal: removeFactors
    POST /projects/{String}/users/{String}/factors/{String}/removal: removeFactors
    POST /projects/{String}/tenants/{String}/users/{String}/factors/{String}/removal: removeFactors
    GET /projects/{String}/audit: readAudit
    GET /projects/{String}/tenants/{String}/audit: readAudit
    GET /projects/{String}/audit.csv: readAudit
    GET /projects/{String}/tenants/{String}/audit.csv: readAudit
    GET /audit: readAudit on the instance
    GET /audit.csv: readAudit on the instance
    GET /projects/{String}/guidance: seeScope
    GET /projects/{String}/tenants/{String}/guidance: seeScope
    GET /projects/{String}/guidance/edit: changeScope
    GET /projects/{String}/tenants/{String}/guidance/edit: changeScope
    POST /projects/{String}/guidance/edit: changeScope
    POST /projects/{String}/tenants/{String}/guidance/edit: changeScope
    GET /what-if: findUsers somewhere
    GET /guidance: session
    GET /guidance/{String}: session
    GET /sign-out: session
    POST /sign-out: session
    GET /sign-in: open
    POST /sign-in: open
    GET /setup: open
    POST /setup: open
    """

  @Test func `every route asks for what the table says`() async throws {
    try await World.empty { world in
      let lines = world.console.routes.map { "\($0.route): \($0.access.words)" }
      #expect(lines.joined(separator: "\n") == Self.table)
    }
  }
}

extension ConsoleRoute.Access {
  fileprivate var words: String {
    switch self {
    case .open: "open"
    case .signedIn(nil): "session"
    case .signedIn(let permission?): "\(permission) on the instance"
    case .somewhere(let permission): "\(permission) somewhere"
    case .project(.seeScope): "seeScope in some of the project"
    case .project(let permission): "\(permission) in the project"
    case .scope(let permission): "\(permission)"
    }
  }
}
