import Crypto
import HTTP
import Identity
import OTP
import Testing

@testable import Console

/// What a role is granted on, relative to the tenant eu-shop of Acme Retail.
enum Reach: String, CaseIterable, Sendable {
  case instance, project, tenant, otherTenant, otherProject, nothing
}

/// An administrator with one role, for tests that try every role.
struct TestRole: Sendable, CustomTestStringConvertible {
  let role: Role
  let reach: Reach

  /// Each role with each reach.
  static let all = Role.allCases.flatMap { role in
    Reach.allCases.map { TestRole(role: role, reach: $0) }
  }

  var testDescription: String { "\(role), \(reach)" }

  private static let email = "somebody@example.com"

  /// The grant of the role; nil if the only grant was revoked.
  func grant(in world: World) async throws -> Grant? {
    let acme = ID<Project>("acme-retail")
    return switch reach {
    case .instance: Grant(role: role)
    case .project: Grant(role: role, project: acme)
    case .tenant: Grant(role: role, project: acme, tenant: try await world.tenantID("eu-shop"))
    case .otherTenant: Grant(role: role, project: acme, tenant: try await world.tenantID("us-shop"))
    case .otherProject: Grant(role: role, project: ID("globex"))
    case .nothing: nil
    }
  }

  /// Creates the administrator and signs them in for the first time.
  func browser(in world: World) async throws -> Browser {
    let grant = try await grant(in: world)
    let administrator = try await world.identity.administrators.create(
      email: Self.email, displayName: "Somebody", password: Secret(World.password),
      grant: grant ?? Grant(role: role), by: Author(actor: .commandLine))
    if grant == nil {
      try await world.identity.administrators.revoke(
        Grant(role: role), from: administrator.id, by: .program(Author(actor: .commandLine)))
    }
    return try await Browser.signedIn(world, as: Self.email)
  }
}

/// The expected outcome of a request.
enum ExpectedAccess: Sendable {
  case passes, notAllowed, notFound

  /// Derives the outcome from the route's permission and the role's permissions, without the
  /// authorization code.
  init(_ access: ConsoleRoute.Access, _ grant: Grant?, project: String?, tenant: String?) {
    let sees = grant.map { $0.project == nil || $0.project?.text == project } ?? false
    let covers = sees && (grant?.tenant == nil || grant?.tenant?.text == tenant)
    func has(_ permission: Permission) -> Bool {
      covers && grant?.role.permissions.contains(permission) == true
    }
    switch access {
    case .open, .settingUp, .signedIn(nil): self = .passes
    case .signedIn(let permission?):
      let isGranted = grant?.project == nil && has(permission)
      self = isGranted ? .passes : .notAllowed
    case .somewhere(let permission):
      self = grant?.role.permissions.contains(permission) == true ? .passes : .notAllowed
    case .project(let permission):
      self = !sees ? .notFound : permission == .seePool || has(permission) ? .passes : .notAllowed
    case .projectOfTenant(let permission):
      let isGranted = grant?.tenant == nil && has(permission)
      self = !has(.seePool) ? .notFound : isGranted ? .passes : .notAllowed
    case .pool(let permission):
      self = !has(.seePool) ? .notFound : has(permission) ? .passes : .notAllowed
    }
  }
}

/// Sample paths of routes, with values for their parameters.
struct Samples: Sendable {
  /// Parameter values by the path segment in front of the parameter.
  ///
  /// A route with a new segment needs a value here.
  private let values: [String: String]

  /// Creates objects in the tenant eu-shop or in the project's own pool.
  init(_ world: World, ofTenant: Bool) async throws {
    let pool = try await ofTenant ? world.euPool : world.projectPool
    let users = try await world.identity.accounts.list(pool, filter: .totp).items
    guard let first = users.first,
      let enrolled = try await world.identity.accounts.find(pool, first.id)
    else { throw Missing("an enrolled user in \(pool.name)") }
    let token = try await world.identity.serviceTokens.create(
      project: pool.project, tenant: pool.tenant, role: .support, name: "desk",
      by: .program(Author(actor: .commandLine))
    ).value
    try await world.addMessage(for: enrolled, in: pool)
    let message = try await world.identity.messages.list(pool).items.first
    var provider = ProviderSettings()
    provider.issuer = "https://login.example.com"
    provider.clientID = "client-1"
    try await world.identity.identityProviders.create(
      in: pool, id: "oidc.acme", provider, by: .program(Author(actor: .commandLine)))
    let signer = try await world.identity.trustedTokenKeys.add(
      to: pool.project, issuer: "backend-\(ofTenant)@example.com", keyID: nil,
      key: World.publicKey,
      by: .program(Author(actor: .commandLine))
    ).value
    let blocked = try await world.blockedAgent(in: pool)
    let removed = try await world.removal(of: enrolled, in: pool)
    let removal = try await world.waitingRemoval(of: [enrolled], in: pool)
    let ada = try await world.identity.administrators.record(email: World.ada).administrator
    let invitation = try await world.identity.invitations.invite(
      email: "invited-\(ofTenant)@example.com", displayName: "Invited",
      grant: Grant(role: .auditor),
      by: .program(ada.author(address: "192.0.2.1", requestID: "000000INVITE"))
    ).value.invitation
    values = [
      "removals": removed.text,
      "blocked-agents": blocked,
      "bulk-removals": String(removal.job),
      "enrollment-campaigns": String(try await world.waitingCampaign(in: pool)),
      "approvals": String(removal.approval),
      "policy-approvals": String(try await world.waitingPolicy(in: pool)),
      "passkeys": "another", "connection changes": "end",
      "changes": String(World.sampleChange(ofTenant: ofTenant)),
      "providers": "oidc.acme", "custom-token-keys": signer.id.text,
      "keys": try await world.identity.apiKeys.list(pool.project).first?.id.text ?? "",
      "tokens": token.token.id.text, "projects": pool.project.text,
      "tenants": pool.tenant?.text ?? "",
      "users": enrolled.id.text,
      "factors": enrolled.factors.first?.id.text ?? "",
      "guides": EnrollmentPattern.mandatory.rawValue,
      "administrators": try await world.id(of: World.nadia),
      "invitations": invitation.id.text, "messages": message.map { String($0.id) } ?? "",
    ]
  }

  /// The path of a route; nil if a parameter has no value.
  ///
  /// - Parameters:
  ///   - route: The route.
  ///   - tenant: The tenant in the path, instead of the objects' own.
  ///   - missing: The ID that replaces that of every object in the pool.
  /// - Returns: The path.
  func address(of route: Route, tenant: String? = nil, objects missing: String? = nil) -> String? {
    var word = ""
    var path = ""
    for component in route.components {
      switch component {
      case .literal(let text):
        word = text
        path += "/" + text
      case .parameter(let suffix):
        // Those of the connection are named differently.
        let key = path.hasSuffix("/connection/changes") ? "connection changes" : word
        guard var value = values[key], !value.isEmpty else { return nil }
        if word == "tenants" { value = tenant ?? value }
        if word != "tenants" && word != "projects" { value = missing ?? value }
        path += "/" + value + suffix
      }
    }
    return path.isEmpty ? "/" : path
  }
}

extension Route {
  /// The number of parameters that identify an object in a project or tenant.
  var objectCount: Int {
    var count = 0
    for (one, next) in zip(components, components.dropFirst()) {
      guard case .parameter = next, case .literal(let word) = one else { continue }
      if word != "projects" && word != "tenants" { count += 1 }
    }
    return count
  }

  /// Whether the path contains a tenant.
  var isOfTenant: Bool {
    zip(components, components.dropFirst()).contains { one, next in
      guard case .parameter = next else { return false }
      return one == .literal("tenants")
    }
  }
}

extension World {
  /// Starts a bulk removal that needs a second approver.
  func waitingRemoval(
    of accounts: [Account], in pool: Pool, by email: String = World.ada
  ) async throws -> (job: Int64, approval: Int64) {
    var settings = try await identity.support.settings(pool)
    settings.approvalOverUsers = 0
    try await identity.support.change(pool, to: settings, by: .program(Author(actor: .commandLine)))
    let (agent, author) = try await inSupport(email)
    let list = try BulkList(accounts.map(\.id.text).joined(separator: "\n"))
    let job = try await identity.bulkRemovals.draft(list, in: pool, by: author, agent)
    _ = try await identity.bulkRemovals.begin(
      job, in: pool, number: "",
      ActionRequest(agent: agent, author: author, reason: .lost, note: "Theft at the office"))
    guard let approval = try await identity.approvals.find(forJob: job, in: pool) else {
      throw Missing("approval")
    }
    return (job, approval.id)
  }

  /// Requests a campaign that needs a second approver, and returns its number.
  func waitingCampaign(in pool: Pool) async throws -> Int64 {
    let (agent, author) = try await inSupport()
    var new = NewAccount()
    (new.email, new.emailVerified) = ("campaign@example.com", true)
    let user = try await identity.accounts.create(
      pool, new, by: .program(Author(actor: .commandLine))
    ).value
    let job = try await identity.bulkRemovals.draft(
      [user.id], .campaign, in: pool, by: author, agent)
    _ = try await identity.bulkRemovals.begin(
      job, in: pool, number: "",
      terms: CampaignTerms(days: CampaignTerms.usualDays, reminds: true, sentence: ""),
      ActionRequest(agent: agent, author: author, reason: nil))
    return job
  }

  /// Requests a weaker policy that needs a second approver, and returns the request's number.
  func waitingPolicy(in pool: Pool) async throws -> Int64 {
    let author = Author(actor: .commandLine)
    let policy = try await identity.policies.change(pool, by: .program(author)) {
      $0.pattern = .mandatory
    }.value.policy
    var settings = try await identity.support.settings(pool)
    settings.policyApprovalOverUsers = 0
    try await identity.support.change(pool, to: settings, by: .program(author))
    let (agent, ada) = try await inSupport()
    _ = try await identity.policies.change(
      pool, expecting: policy.version,
      by: .console(ActionRequest(agent: agent, author: ada, note: "Enrollment is too hard."))
    ) { $0.pattern = nil }
    let waiting = try await identity.approvals.waiting(visibleTo: agent.administrator)
    guard let approval = waiting.first(where: { $0.kind == .policy && $0.pool.key == pool.key })
    else { throw Missing("approval") }
    return approval.id
  }

  /// Queues a message for a user: the notice that an administrator set their password.
  func addMessage(for account: Account, in pool: Pool) async throws {
    var change = AccountChange()
    change.password = .set(Secret("another user's password"))
    try await identity.accounts.update(
      pool, account.id, change, by: Author(actor: .commandLine))
  }

  /// The project's own pool, with an enrolled user in it.
  var projectPool: Pool {
    get async throws {
      let pool = try await identity.pools.existing(project: ID("acme-retail"))
      guard try await identity.accounts.list(pool).items.isEmpty else { return pool }
      var new = NewAccount()
      new.email = "pat@example.com"
      new.emailVerified = true
      new.password = Secret("a user's password")
      let author = Author(actor: .commandLine)
      _ = try await identity.policies.change(pool, by: .program(author)) {
        edit throws(PolicyError) in
        edit.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 1)
      }
      let account = try await identity.accounts.create(pool, new, by: .program(author)).value
      try await enroll(account, "Phone", in: pool)
      return pool
    }
  }
}
