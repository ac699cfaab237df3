import Identity

/// The data set for benchmarks of policies: the large demo, whose policy has the server enforce
/// enrollment, and a project with a thousand tenants.
struct Metropolis {
  let identity: Identity

  /// Adds what the large demo lacks.
  func finish() async throws {
    try await enforce()
    for tenant in try await Crowd(identity: identity).addTenants(1_000) {
      _ = try await Prepare.enroll(identity, tenant, Author(actor: .commandLine))
    }
  }

  /// Gives users 90 days, so that those without a second factor who still have time are counted.
  private func enforce() async throws {
    let pool = try await identity.pools.existing(project: ID("metropolis"))
    let day = Day(identity.clock.now().advanced(bySeconds: -200 * 86_400))
    _ = try await identity.policies.change(pool, by: .program(Author(actor: .commandLine))) {
      edit in
      edit.pattern = .mandatory
      edit.enforcement = Enforcement(.claim, from: day, graceDays: 90)
    }
  }
}
