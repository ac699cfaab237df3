import HTTP
import Identity

/// The links of a row of a table of user pools.
struct PoolLinks {
  private let project: ID<Project>
  private let tenant: ID<Tenant>?
  private let destination: PoolRow.Destination?

  init(_ source: PoolRow.Source, _ context: PoolRow.Context) {
    switch source.subject {
    case .pool:
      project = context.project ?? ID("")
      (tenant, destination) = (source.policy?.tenant, context.destination)
    case .project(let id, _, _, _): (project, tenant, destination) = (id, nil, nil)
    }
  }

  /// The page that the row is about.
  var page: String {
    switch destination {
    case .overview: address(ConsolePaths.overview)
    case .policy: policy
    case nil: ConsolePaths.review(project.text)
    }
  }

  var policy: String { address(ConsolePaths.policy) }

  /// The exemptions in the project.
  var exemptions: String {
    (["project": project.text] as Form).query(of: ConsolePaths.exemptions())
  }

  /// The comparison with the project's own policy.
  var comparison: String {
    (["with": project.text] as Form).query(of: address(ConsolePaths.comparison))
  }

  /// The project's tenants that differ from it.
  var differing: String {
    (["show": "differs"] as Form).query(of: ConsolePaths.review(project.text))
  }

  private func address(_ path: ScopePath0) -> String {
    tenant.map { path.ofTenant(project.text, $0.text) } ?? path.ofProject(project.text)
  }
}
