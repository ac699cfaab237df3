import HTTP
import Identity
import Testing

@testable import Console

/// Every form of the console performs an action of the table, or is exempt with a reason.
@Suite struct ActionRouteTests {
  /// Forms that perform no action of the table.
  private static let exempt: Set = [
    // Sign-in, sign-out, and forms for visitors who aren't signed in.
    "/sign-in", "/sign-in/code", "/sign-in/passkey", "/sign-in/code/passkey", "/sign-out", "/setup",
    "/invitation",
    // Forms of emailed links, whose code is the authorization.
    "/__/auth/action", "/__/auth/enroll", "/__/auth/not-me",
    // Changes to the administrator's own account: each page asks for the current code or password.
    "/account/password", "/account/totp", "/account/totp/removal", "/account/recovery-codes",
    // They ask for a recent re-authentication, which these pages are.
    "/account/passkeys/new", "/account/passkeys/{String}", "/account/passkeys/{String}/removal",
    "/account/reauthentication", "/account/reauthentication/passkey",
    "/account/reauthentication/passkey/form", "/account/reauthentication/provider/form",
    "/account/reauthentication/provider",
    // The administrator's own sessions, time zone, and theme.
    "/account/session-extension", "/account/sessions", "/account/sessions/others",
    "/account/preferences",
  ]

  @Test func `each form performs or previews actions of the table, or is exempt`() async throws {
    try await World.empty { world in
      for route in world.console.routes where route.route.method != .get {
        let isExempt = Self.exempt.contains(route.route.pattern)
        let isPreview = !route.preparedActions.isEmpty
        #expect(route.actions.isEmpty == (isExempt || isPreview), "\(route.route)")
        #expect(!(isExempt && isPreview), "\(route.route)")
      }
      let patterns = Set(world.console.routes.map(\.route.pattern))
      #expect(Self.exempt.isSubset(of: patterns))
      for route in world.console.routes where route.route.method == .get {
        #expect(route.actions.isEmpty, "\(route.route) only shows")
      }
    }
  }

  @Test func `each action has a route, which requires its permission`() async throws {
    try await World.empty { world in
      let performed = Set(world.console.routes.flatMap(\.actions))
      #expect(performed == Set(ConsoleAction.allCases))
      for route in world.console.routes {
        for action in route.actions + route.preparedActions {
          #expect(route.access.permission == action.requirements.permission, "\(route.route)")
        }
      }
    }
  }
}

extension ConsoleRoute.Access {
  /// The permission that a route requires.
  var permission: Permission? {
    switch self {
    case .open, .settingUp, .signedIn(nil): nil
    case .signedIn(let permission?), .somewhere(let permission), .project(let permission),
      .projectOfTenant(let permission), .pool(let permission):
      permission
    }
  }
}
