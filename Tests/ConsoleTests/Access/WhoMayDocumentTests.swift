import Foundation
import HTTP
import Identity
import Testing

@testable import Console

/// The page about permissions, generated from the routes and roles.
@Suite struct WhoMayDocumentTests {
  @Test func `docs/reference/who-may.md matches the routes and roles`() async throws {
    try await World.empty { world in
      let text = Self.text(world.console.routes)
      let path = Checkout.folder("docs/reference/who-may.md")
      if Recording.isOn {
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        return Recording.fail("docs/reference/who-may.md")
      }
      let kept = try String(contentsOfFile: path, encoding: .utf8)
      #expect(kept == text, "COUNTERSIGN_RECORD_SNAPSHOTS=1 updates it")
    }
  }

  private static let roles: [(Role, String)] = [
    (.owner, "owner"), (.policy, "policy admin"), (.support, "support"), (.auditor, "auditor"),
  ]

  private static func text(_ routes: [ConsoleRoute]) -> String {
    var lines = introduction
    lines += heading("Permission")
    for permission in Permission.allCases { lines.append(row("`\(permission)`", permission)) }
    lines += [
      "", "## Pages", "", "`S` is `/projects/{project}` or `/projects/{project}/tenants/{tenant}`.",
      "",
    ]
    lines += heading("Page | Needs | Actions")
    for route in routes where !(route.route.isOfTenant && route.isOfPool) {
      let performed = route.actions.map { "`\($0)`" }
      let previewed = route.preparedActions.map { "preview of `\($0)`" }
      let actions = (performed + previewed).joined(separator: ", ")
      lines.append(
        row(
          "`\(route.shortName)` | \(route.access.need) | \(actions)", route.access.permission))
    }
    lines += actionsIntroduction
    lines += [
      "| Action | Permission | Re-authentication | Reason | Second approver |",
      "|---|---|---|---|---|",
    ]
    for action in ConsoleAction.allCases {
      let requirements = action.requirements
      lines.append(
        "| `\(action)` | `\(requirements.permission)` | \(requirements.reauthentication.words) "
          + "| \(requirements.reason.words) | \(requirements.secondApprover.words) |")
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static let introduction = """
    # Roles and permissions

    A grant is a role on the instance, on a project with all its tenants, or on one tenant. Anything
    outside an administrator's grants returns 404, the same bytes as a page that never existed.
    Anything within them that requires a missing permission returns 403 and names the required role.

    A test generates this page from the console's routes and the roles' permissions, and checks
    every cell.

    [Permissions](#permissions) · [Pages](#pages) · [Actions](#actions)

    ## Permissions

    """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

  private static let actionsIntroduction = """

    ## Actions

    Every form of the console performs or previews one of these actions, or affects only the
    administrator's own account. One function authorizes them, in the transaction that performs
    them.

    "Recent" requires a code from the administrator's authenticator app, a recovery code, a passkey,
    or a new sign-in at the provider within the re-authentication interval (15 minutes by default).
    Where the table says "second factor", the provider must report MFA. For administrators without a
    second factor, a sign-in within the interval is enough, except where the table says "second
    factor". A written reason is free text; a chosen one is selected from a list, along with the
    pool's identity checks.

    """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)

  private static func heading(_ first: String) -> [String] {
    let columns = first.split(separator: "|").count + roles.count
    return [
      "| \(first) | " + roles.map(\.1).joined(separator: " | ") + " |",
      "|" + String(repeating: "---|", count: columns),
    ]
  }

  private static func row(_ first: String, _ permission: Permission?) -> String {
    let cells = roles.map { role, _ in
      permission.map { role.permissions.contains($0) } ?? true ? "yes" : "–"
    }
    return "| \(first) | " + cells.joined(separator: " | ") + " |"
  }
}

extension ReauthenticationRule {
  fileprivate var words: String {
    switch self {
    case .none: "–"
    case .recent: "recent"
    case .secondFactor: "recent, second factor"
    }
  }
}

extension ReasonRule {
  fileprivate var words: String { self == .none ? "–" : rawValue }
}

extension SecondApproverRule {
  fileprivate var words: String {
    switch self {
    case .never: "–"
    case .lastFactor: "for the last factor, if the pool requires it"
    case .manyUsers: "above the pool's number of users"
    case .affectedUsers: "above the pool's number of affected users"
    }
  }
}

extension ConsoleRoute {
  fileprivate var isOfPool: Bool {
    if case .pool = access { return true }
    return false
  }

  /// The method and the path, with the pool abbreviated to one letter.
  fileprivate var shortName: String {
    let pattern = route.pattern.replacing("{String}", with: "{…}")
    let path = isOfPool ? pattern.replacing("/projects/{…}", with: "S") : pattern
    return "\(route.method) \(path)"
  }
}

extension ConsoleRoute.Access {
  fileprivate var need: String {
    switch self {
    case .open: "nothing, not even a session"
    case .settingUp: "a session, also before a second factor"
    case .signedIn(nil): "a session"
    case .signedIn(let permission?): "`\(permission)` on the instance"
    case .somewhere(let permission): "`\(permission)` anywhere"
    case .project(.seePool): "a grant on any part of the project"
    case .project(let permission): "`\(permission)` in the project"
    case .projectOfTenant(let permission):
      "sight of the tenant, and `\(permission)` in its project"
    case .pool(let permission): "`\(permission)` in the pool"
    }
  }
}
