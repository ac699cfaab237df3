import Identity
import OpenIDConnect

extension Demo {
  func makePools(_ staff: inout DemoStaff) async throws -> [DemoPool] {
    var pools: [DemoPool] = []
    for (number, project) in data.projects.enumerated() {
      var day = -360 + Int64(number) * 60
      let created = try await identity(on: day).pools.createProject(
        id: project.id, displayName: project.name, by: .program(staff.author(staff.owner, random))
      ).value
      let demoPool = DemoPool(plan: project.pools[0], pool: created.pool, madeAt: clock.now)
      pools.append(demoPool)
      try await begin(demoPool, staff)
      for plan in project.pools.dropFirst() {
        day += 7
        pools.append(try await tenant(plan, of: created, on: day, staff))
      }
      clock.set(clock.now.advanced(bySeconds: 3_600))
      _ = try await identity.serviceTokens.create(
        project: created.pool.project, tenant: nil, role: .application,
        name: "\(project.name) backend",
        by: .program(staff.author(staff.owner, random)))
      try await trust(in: created, staff)
    }
    if let north = pools.first(where: { $0.plan.name == "clinic-north" }) {
      clock.set(now.advanced(bySeconds: -120 * 86_400))
      try await hireForTenant(north.pool, &staff)
    }
    return pools
  }

  private func tenant(
    _ plan: DemoPlan, of project: PoolSettings, on day: Int64, _ staff: DemoStaff
  ) async throws -> DemoPool {
    let edit = PoolEdit(
      displayName: plan.name,
      signIn: SignInMethods(
        password: true, emailLink: random.happens(300), anonymous: random.happens(100)),
      configuration: .initial)
    let tenant = try await identity(on: day).pools.createTenant(
      in: project.pool.project, edit, by: .program(staff.author(staff.owner, random))
    ).value
    let demoPool = DemoPool(plan: plan, pool: tenant.pool, madeAt: clock.now)
    try await begin(demoPool, staff)
    return demoPool
  }

  /// Returns the use cases with the clock set to the working hours of a day before today.
  private func identity(on day: Int64) -> Identity {
    clock.set(now.advanced(bySeconds: day * 86_400 + random.number(0...14_400)))
    return identity
  }

  private func begin(_ demoPool: DemoPool, _ staff: DemoStaff) async throws {
    let first = demoPool.plan.earlier
    clock.set(clock.now.advanced(bySeconds: 5_400))
    _ = try await identity.policies.change(
      demoPool.pool, by: .program(staff.author(staff.policy, random))
    ) { $0 = first }
  }

  /// Adds a custom token signing key and an identity provider for staff sign-in to a project.
  func trust(in project: PoolSettings, _ staff: DemoStaff) async throws {
    let author = staff.author(staff.owner, random)
    let key = data.publicKey.joined(separator: "\n")
    let host = "\(project.pool.project).example.com"
    _ = try await identity.trustedTokenKeys.add(
      to: project.pool.project, issuer: "back-end@\(host)", keyID: "2026-1", key: key,
      by: .program(author))
    var settings = ProviderSettings()
    settings.displayName = "\(project.displayName) staff"
    settings.isEnabled = true
    settings.issuer = "https://login.\(host)"
    settings.clientID = "countersign-demo"
    settings.keys = try KeySet(key)
    try await identity.identityProviders.create(
      in: project.pool, id: "oidc.staff", settings, by: .program(author))
  }
}
