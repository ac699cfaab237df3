import Identity
import Testing

@testable import Console

/// Every route and the access that it requires, in one readable table.
@Suite struct RouteTests {
  @Test func `every route requires what the table says`() async throws {
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
    case .settingUp: "session, also before a second factor"
    case .signedIn(nil): "session"
    case .signedIn(let permission?): "\(permission) on the instance"
    case .somewhere(let permission): "\(permission) somewhere"
    case .project(.seeScope): "seeScope in some of the project"
    case .project(let permission): "\(permission) in the project"
    case .projectOfTenant(let permission): "\(permission) in its project"
    case .scope(let permission): "\(permission)"
    }
  }
}
