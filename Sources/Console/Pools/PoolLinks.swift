import HTTP
import Identity

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

  var page: String {
    switch destination {
    case .overview: address(ConsolePaths.overview)
    case .policy: policy
    case nil: ConsolePaths.review(project.text)
    }
  }

  var policy: String { address(ConsolePaths.policy) }

  var exemptions: String {
    (["project": project.text] as Form).query(of: ConsolePaths.exemptions())
  }

  var comparison: String {
    (["with": project.text] as Form).query(of: address(ConsolePaths.comparison))
  }

  var differing: String {
    (["show": "differs"] as Form).query(of: ConsolePaths.review(project.text))
  }

  private func address(_ path: PoolPath0) -> String {
    tenant.map { path.ofTenant(project.text, $0.text) } ?? path.ofProject(project.text)
  }
}
