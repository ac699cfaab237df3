import Database
import Synchronization

/// The policy file that the server watches, and what was compared with it.
final class WatchedPolicyFile: Sendable {
  private struct State {
    var status = PolicyFileStatus.none
    var generation = 0
    var pools: [PolicyFile.Entry.Key: PolicyFile.Entry] = [:]
    var cache: [ID<Project>: (stamp: Int64, compared: ComparedProject)] = [:]
  }

  private let state = Mutex(State())

  var status: PolicyFileStatus { state.withLock { $0.status } }

  func use(_ file: PolicyFile?) {
    state.withLock { state in
      state.generation += 1
      state.cache = [:]
      state.status = file.map { .watched(pools: $0.pools.count) } ?? .unreadable
      let pools = (file?.pools ?? []).map { ($0.key, $0) }
      state.pools = Dictionary(pools) { first, _ in first }
    }
  }

  var pools: PolicyFilePools { PolicyFilePools(pools: state.withLock { $0.pools }) }

  /// Returns the value cached for a project under a stamp, or else the result of `read`.
  func compared(
    _ project: ID<Project>, stamp: Int64, orRead read: () throws -> ComparedProject
  ) rethrows -> ComparedProject {
    let (known, generation) = state.withLock { ($0.cache[project], $0.generation) }
    if let known, known.stamp == stamp { return known.compared }
    let compared = try read()
    state.withLock { state in
      // The file may have been replaced during the comparison.
      if state.generation == generation { state.cache[project] = (stamp, compared) }
    }
    return compared
  }
}

/// What a comparison of a project with the watched policy file found.
struct ComparedProject: Sendable {
  let drifting: [DriftingPool]
  /// The tenants in the file that don't exist.
  let missing: [ID<Tenant>]
}

/// The pools of the watched policy file, to compare many policies with it.
public struct PolicyFilePools: Sendable {
  fileprivate let pools: [PolicyFile.Entry.Key: PolicyFile.Entry]

  fileprivate var projects: Set<ID<Project>> { Set(pools.keys.map(\.project)) }

  fileprivate func keys(of projects: Set<ID<Project>>) -> [PolicyFile.Entry.Key] {
    pools.keys.filter { projects.contains($0.project) }
  }

  /// The tenants in the file that aren't among those of a project, sorted.
  fileprivate func tenants(of project: ID<Project>, except known: [ID<Tenant>]) -> [ID<Tenant>] {
    Set(pools.keys.filter { $0.project == project }.compactMap(\.tenant)).subtracting(known)
      .sorted { $0.text < $1.text }
  }

  /// Returns the fields in which the policy of a project or tenant differs from the file; nil if it
  /// doesn't, and for a pool that the file doesn't name.
  public func drift(
    of edit: PolicyEdit, in project: ID<Project>, _ tenant: ID<Tenant>?
  ) -> [PolicyChange]? {
    guard let pool = pools[PolicyFile.Entry.Key(project: project, tenant: tenant)] else {
      return nil
    }
    guard let wanted = try? pool.edit(of: edit) else { return [] }
    return wanted == edit ? nil : PolicyChange.between(edit, wanted)
  }
}

/// What the server knows about the policy file it watches.
public enum PolicyFileStatus: Sendable, Equatable {
  case none
  case watched(pools: Int)
  /// The file can't be read or has an error, so nothing is compared.
  case unreadable
}

/// A pool whose policy differs from the watched policy file.
public struct DriftingPool: Sendable, Equatable {
  public let project: ID<Project>
  public let tenant: ID<Tenant>?
  public let name: String
  public let projectName: String
  /// The fields that differ; empty if the file doesn't fit the pool.
  public let fields: [PolicyChange.Field]
}

extension Policies {
  /// Compares pools with a policy file from now on; nil for a file that can't be read.
  public func watch(_ file: PolicyFile?) { watched.use(file) }

  public var fileStatus: PolicyFileStatus { watched.status }

  public var filePools: PolicyFilePools { watched.pools }

  /// Returns the fields in which a policy differs from the watched file; nil if it doesn't, and for
  /// a pool that the file doesn't name.
  public func drift(of policy: StoredPolicy) -> [PolicyChange]? {
    filePools.drift(of: policy.edit, in: policy.pool.project, policy.pool.tenant)
  }

  /// Returns the pools of projects that differ from the watched file, among those whose policies an
  /// administrator can read.
  ///
  /// Projects without changes since the last call cost nothing.
  public func drifting(
    in projects: [ProjectSummary], visibleTo administrator: Administrator
  ) async throws -> [DriftingPool] {
    guard case .watched = watched.status else { return [] }
    return try await store.read { connection in
      var found: [DriftingPool] = []
      for project in projects { found += try compared(project, connection).drifting }
      return found.filter { administrator.may(.readPolicy, project: $0.project, tenant: $0.tenant) }
    }
  }

  /// Returns the names of the pools in the watched file that don't exist: tenants of the given
  /// projects, and all projects that don't exist, with their tenants.
  ///
  /// Projects without changes since the last call cost nothing.
  ///
  /// Only pools whose policies the administrator could read are included.
  ///
  /// - Returns: The project's ID, and the tenant's after a slash, sorted.
  public func missingFilePools(
    in projects: [ProjectSummary], visibleTo administrator: Administrator
  ) async throws -> [String] {
    guard case .watched = watched.status else { return [] }
    let pools = watched.pools
    let others = pools.projects.subtracting(projects.map(\.id))
    let missing = try await store.read { connection in
      var missing: [PolicyFile.Entry.Key] = []
      for project in projects {
        missing += try compared(project, connection).missing.map {
          PolicyFile.Entry.Key(project: project.id, tenant: $0)
        }
      }
      let found = try connection.all(
        """
        SELECT project_id FROM project
        WHERE project_id IN (\(list: others)) AND deleted_at IS NULL
        """
      ) { try $0.next() as ID<Project> }
      return missing + pools.keys(of: others.subtracting(found))
    }
    return missing.filter {
      administrator.may(.readPolicy, project: $0.project, tenant: $0.tenant)
    }.map(\.name).sorted()
  }

  private func compared(
    _ project: ProjectSummary, _ connection: borrowing Connection
  ) throws -> ComparedProject {
    try watched.compared(project.id, stamp: project.policyStamp) {
      let policies = try connection.all(
        """
        SELECT \(StoredPolicy.columns) FROM scope s \(SQL.orderedJoin) project p USING (project_id)
        WHERE s.project_id = \(project.id) AND s.deleted_at IS NULL
        ORDER BY s.tenant_id
        """
      ) { try StoredPolicy(&$0) }
      let drifting = policies.compactMap { policy in
        drift(of: policy).map { changes in
          DriftingPool(
            project: policy.pool.project, tenant: policy.pool.tenant, name: policy.pool.name,
            projectName: policy.pool.projectName, fields: changes.map(\.field))
        }
      }
      return ComparedProject(
        drifting: drifting,
        missing: filePools.tenants(of: project.id, except: policies.compactMap(\.pool.tenant)))
    }
  }
}
