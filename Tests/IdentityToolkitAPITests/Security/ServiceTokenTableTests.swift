import HTTP
import Identity
import JSON
import Testing

@testable import IdentityToolkitAPI

/// Tests for the table of service token permissions: the generated page, and every cell.
struct ServiceTokenTableTests {
  @Test func `docs/reference/service-tokens.md matches the routes and roles`() async throws {
    try await TestServer.with { server in
      let text = Self.text(server.api.operations)
      let kept = try DocumentFile.kept("service-tokens.md", as: text)
      #expect(kept == text, "set COUNTERSIGN_RECORD_SNAPSHOTS=1 to regenerate it")
    }
  }

  /// Tests every operation with tokens of every role.
  @Test
  func `every cell holds for tokens of the project, the tenant, and other pools`()
    async throws
  {
    let operations = try await TestServer.with { $0.api.operations.filter { $0.action != nil } }
    #expect(operations.count > 20)
    for operation in operations {
      try await TestServer.with { server in try await tryCells(of: operation, server) }
    }
  }

  private func tryCells(of operation: Operation, _ server: TestServer) async throws {
    guard let action = operation.action else { return }
    let other = try await server.addTenant("initech")
    _ = try await server.identity.pools.createProject(
      id: "other-mfa", displayName: "Other", by: .program(Author(actor: .commandLine)))
    let isOfTenant = operation.path.parameters.contains("tenantId")
    let isFree = operation.path.parameters.isEmpty
    for role in ServiceTokenRole.allCases {
      // Each role gets its own tenant, since some roles can delete it.
      let tenant = try await server.addTenant("t-\(role)")
      let path = operation.path.template.replacing("{projectId}", with: TestServer.project)
        .replacing("{tenantId}", with: tenant)
      let may = role.permissions.contains(action.permission)
      let ofTenant = may && (isFree || isOfTenant && action.permission != .manageTenants)
      let cells: [(String, Bool)] = [
        (try await server.token(role, tenant: other), may && isFree),
        (try await server.token(role, project: "other-mfa"), may && isFree),
        (try await server.token(role, tenant: tenant), ofTenant),
        (try await server.token(role), may),
      ]
      for (number, (token, isAllowed)) in cells.enumerated() {
        let status = try await self.status(operation, path, "{}", token, server)
        let words = "\(operation.method) \(path) \(role) \(number): \(status)"
        // Imports and exports must name their project; otherwise they're refused first.
        let isNamed = isFree && operation.isAdmin && operation.method == .post
        #expect(
          isNamed ? status == 400 : (status != 403) == isAllowed && status != 401 && status < 500,
          "\(words)")
        guard isFree, operation.method == .post else { continue }
        // A token can't be redirected to another project.
        let body = #"{"targetProjectId":"acme-mfa"}"#
        let named = try await self.status(operation, path, body, token, server)
        #expect((named != 403) == (may && number == 3), "\(words), named: \(named)")
      }
    }
  }

  private func status(
    _ operation: Operation, _ path: String, _ body: String, _ token: String, _ server: TestServer
  ) async throws -> Int {
    let text = operation.method == .get || operation.method == .delete ? "" : body
    let response = try await server.send(
      operation.method, path, Array(text.utf8), .bearer(token))
    return try #require(response).status.code
  }
}

extension Operation {
  /// Whether the operation accepts only a service token.
  fileprivate var isAdmin: Bool {
    if case .admin = access { true } else { false }
  }

  fileprivate var action: BearerAction? {
    switch access {
    case .admin(let action), .either(let action): action
    case .open, .emulator, .client: nil
    }
  }
}

extension ServiceTokenTableTests {
  private static func text(_ operations: [Operation]) -> String {
    let roles = ServiceTokenRole.allCases
    var lines = introduction
    lines.append(
      "| Call | Permission | " + roles.map(\.rawValue).joined(separator: " | ")
        + " | tenant token |")
    lines.append("|" + String(repeating: "---|", count: roles.count + 3))
    let templates = Set(operations.map { "\($0.method) \($0.path.template)" })
    var rows: Set<String> = []
    for operation in operations {
      guard let action = operation.action else { continue }
      let template = operation.path.template
      let plain = template.replacing("/tenants/{tenantId}", with: "")
      // List a call once if it exists for both project and tenant.
      if plain != template, templates.contains("\(operation.method) \(plain)"),
        !action.isAboutTenants
      {
        continue
      }
      let isOfTenant =
        operation.path.parameters.isEmpty || template.contains("{tenantId}")
        || templates.contains(
          "\(operation.method) "
            + template.replacing(
              "/projects/{projectId}", with: "/projects/{projectId}/tenants/{tenantId}"))
      let cells = roles.map { $0.permissions.contains(action.permission) ? "yes" : "–" }
      let mayTenant = isOfTenant && action.permission != .manageTenants ? "own tenant" : "–"
      let row =
        "| `\(operation.method) \(template)` | `\(action.permission)` | "
        + cells.joined(separator: " | ") + " | \(mayTenant) |"
      if rows.insert(row).inserted { lines.append(row) }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  private static let introduction = """
    # Service token permissions

    A service token belongs to a project with all its tenants, or to one tenant, and has a role.
    Send it as `Authorization: Bearer …`. A call that the token doesn't permit is refused with 403
    before anything in the project is looked up, so the response doesn't reveal what exists. Without
    a token, or with only an API key, the response is 401.

    The last column applies to tokens of one tenant: "own tenant" means under that tenant's address,
    or for that tenant if the address doesn't name one. If its role can change users, a token also
    replaces the API key in calls for one user; a token of one tenant makes them for its own tenant,
    with or without `tenantId`. Other tokens need a key of the project that the call names.

    A test generates this page from the routes and the roles' permissions, and verifies every cell.

    """.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
}
