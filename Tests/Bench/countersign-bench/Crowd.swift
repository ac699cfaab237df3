import Identity

/// The data set for benchmarks of the console's lists.
struct Crowd {
  let identity: Identity
  private let author = Author(actor: .commandLine)

  init(identity: Identity) { self.identity = identity }

  /// Creates 49 more projects, 1,000 tenants in one of them, and 5,000 users in `project`, one in
  /// five with a second factor.
  ///
  /// - Returns: The UID of a user with a second factor.
  func fill(_ project: ID<Project>) async throws -> String {
    _ = try await addTenants(1_000)
    for number in 1...48 {
      _ = try await identity.pools.createProject(
        id: "bench-project-\(number)", displayName: "Bench \(number)", by: .program(author))
    }
    let pool = try await identity.pools.find(project: project)
    _ = try await identity.policies.change(pool, by: .program(author)) {
      $0.configuration = MFAConfiguration(
        state: .enabled, totp: TOTPConfiguration(state: .enabled, adjacentIntervals: 1))
    }
    try await together(4_999) { number in
      if number % 5 == 0 {
        _ = try await Prepare.enroll(identity, pool, author)
        return
      }
      var user = NewAccount()
      user.email = "user-\(number)@example.com"
      user.displayName = "User \(number)"
      user.emailVerified = true
      _ = try await identity.accounts.create(pool, user, by: .program(author))
    }
    let enrolled = try await identity.accounts.list(pool, filter: .totp, limit: 1).items.first
    return enrolled?.id.text ?? ""
  }

  /// Creates a project with tenants, whose policies differ.
  ///
  /// - Returns: The tenants.
  func addTenants(_ count: Int) async throws -> [Pool] {
    let large = try await identity.pools.createProject(
      id: "bench-large", displayName: "Large", by: .program(author)
    ).value
    let project = large.pool.project
    try await together(count) { number in
      _ = try await identity.pools.createTenant(
        in: project,
        PoolEdit(
          displayName: "tenant-\(number)",
          configuration: MFAConfiguration(
            state: .enabled,
            totp: TOTPConfiguration(state: .enabled, adjacentIntervals: number % 11))),
        by: .program(author))
    }
    var tenants: [Pool] = []
    var after: String?
    repeat {
      let page = try await identity.pools.tenants(project: project, after: after)
      tenants += page.items.map(\.pool)
      after = page.next
    } while after != nil
    return tenants
  }

  /// Runs `body` `count` times, 64 at once, so that writes share commits.
  private func together(
    _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Void
  ) async throws {
    for start in stride(from: 0, to: count, by: 64) {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in start..<min(start + 64, count) { group.addTask { try await body(number) } }
        try await group.waitForAll()
      }
    }
  }
}
