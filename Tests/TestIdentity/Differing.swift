@testable import Identity

extension Instance {
  /// Returns the projects with tenants whose policies differ from the project's.
  func differing(
    in projects: [ID<Project>], visibleTo administrator: Administrator
  ) async throws -> [DifferingTenants] {
    let owner = Administrator(
      id: ID("list"), email: "", displayName: "", grants: [Grant(role: .owner)])
    let known = try await identity.pools.projects(visibleTo: owner).items
    return try await identity.policies.differing(
      in: projects.compactMap { id in known.first { $0.id == id } }, visibleTo: administrator)
  }
}
