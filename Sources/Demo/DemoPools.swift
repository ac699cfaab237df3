import Identity
import OpenIDConnect

extension Demo {
  func makePools(_ staff: inout DemoStaff) async throws -> [DemoPool] {
    var pools: [DemoPool] = []
    for (number, project) in data.projects.enumerated() {
      var day = -360 + Int64(number) * 60
      let created = try await identity(on: day).pools.createProject(
        id: project.id, displayName: project.name, by: staff.author(staff.owner, random))
      let pool = DemoPool(plan: project.pools[0], scope: created.scope, madeAt: clock.now)
      pools.append(pool)
      try await begin(pool, staff)
      for plan in project.pools.dropFirst() {
        day += 7
        pools.append(try await tenant(plan, of: created, on: day, staff))
      }
      clock.set(clock.now.advanced(bySeconds: 3_600))
      _ = try await identity.serviceTokens.create(
        project: created.scope.project, tenant: nil, role: .application,
        name: "\(project.name) backend",
        maker: .administrator(staff.owner, staff.author(staff.owner, random)))
      try await trust(in: created, staff)
    }
    if let north = pools.first(where: { $0.plan.name == "clinic-north" }) {
      clock.set(now.advanced(bySeconds: -120 * 86_400))
      try await hireForTenant(north.scope, &staff)
    }
    return pools
  }

  private func tenant(
    _ plan: DemoPlan, of project: UserPool, on day: Int64, _ staff: DemoStaff
  ) async throws -> DemoPool {
    let edit = UserPoolEdit(
      displayName: plan.name,
      signIn: SignInMethods(
        password: true, emailLink: random.happens(300), anonymous: random.happens(100)),
      configuration: .initial)
    let tenant = try await identity(on: day).pools.createTenant(
      in: project.scope.project, edit, by: staff.author(staff.owner, random))
    let pool = DemoPool(plan: plan, scope: tenant.scope, madeAt: clock.now)
    try await begin(pool, staff)
    return pool
  }

  /// Returns the use cases with the clock set to the working hours of a day before today.
  private func identity(on day: Int64) -> Identity {
    clock.set(now.advanced(bySeconds: day * 86_400 + random.number(0...14_400)))
    return identity
  }

  private func begin(_ pool: DemoPool, _ staff: DemoStaff) async throws {
    let first = pool.plan.earlier
    clock.set(clock.now.advanced(bySeconds: 5_400))
    _ = try await identity.policies.change(
      pool.scope, by: staff.author(staff.policy, random)
    ) { $0 = first }
  }

  /// Adds a custom token signing key and an identity provider for staff sign-in to a project.
  func trust(in project: UserPool, _ staff: DemoStaff) async throws {
    let author = staff.author(staff.owner, random)
    let key = data.publicKey.joined(separator: "\n")
    let host = "\(project.scope.project).example.com"
    _ = try await identity.trustedTokenKeys.add(
      to: project.scope.project, issuer: "back-end@\(host)", keyID: "2026-1", key: key,
      by: author)
    var settings = ProviderSettings()
    settings.displayName = "\(project.displayName) staff"
    settings.isEnabled = true
    settings.issuer = "https://login.\(host)"
    settings.clientID = "countersign-demo"
    settings.keys = try KeySet(key)
    try await identity.identityProviders.create(
      in: project.scope, id: "oidc.staff", settings, by: author)
  }
}
