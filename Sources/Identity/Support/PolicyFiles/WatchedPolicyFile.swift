import Database
import OTP
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
  /// When the policy changed; nil if it never did.
  public let changedAt: Instant?
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
            projectName: policy.pool.projectName, fields: changes.map(\.field),
            changedAt: policy.changedAt)
        }
      }
      return ComparedProject(
        drifting: drifting,
        missing: filePools.tenants(of: project.id, except: policies.compactMap(\.pool.tenant)))
    }
  }
}

/// A pool whose policy differs from a policy file.
public struct PolicyDrift: Sendable {
  public let policy: Policy
  /// The policy that the file asks for.
  public let wanted: PolicyEdit

  public var members: [PolicyFileMember] {
    PolicyFileMember.allCases.filter { $0.value(in: policy.edit) != $0.value(in: wanted) }
  }

  public var weakenings: [PolicyWeakening] { policy.weakenings(by: wanted) }
}

extension Policies {
  private static let pageLength = 500

  /// Returns the policies of all pools, or those of a project, as a file sorted by ID.
  ///
  /// - Throws: ``PolicyFileError/problems(_:)`` if there's no such project.
  public func file(of project: ID<Project>? = nil) async throws -> PolicyFile {
    let found = try await store.read { connection in
      var pools: [PolicyFile.Entry] = []
      var last = (project: project?.text ?? "", tenant: project == nil ? "" : nil as String?)
      while true {
        let page = try Self.page(of: project, after: last, connection)
        pools += page
        guard page.count == Self.pageLength, let end = page.last else { return pools }
        last = (end.project.text, end.tenant?.text ?? "")
      }
    }
    if let project, found.isEmpty {
      throw PolicyFileError.problems([
        PolicyFileProblem(member: "project", pool: project.text, fault: .poolNotFound)
      ])
    }
    return PolicyFile(pools: found)
  }

  private static func page(
    of project: ID<Project>?, after last: (project: String, tenant: String?),
    _ connection: borrowing Connection
  ) throws -> [PolicyFile.Entry] {
    let place: SQL =
      if let project {
        last.tenant.map { "s.project_id = \(project) AND s.tenant_id > \($0)" }
          ?? "s.project_id = \(project)"
      } else {
        "(s.project_id, s.tenant_id) > (\(last.project), \(last.tenant ?? ""))"
      }
    return try connection.all(
      """
      SELECT \(StoredPolicy.columns) FROM scope s \(SQL.orderedJoin) project p USING (project_id)
      WHERE \(place) AND s.deleted_at IS NULL
      ORDER BY s.project_id, s.tenant_id LIMIT \(pageLength)
      """
    ) { PolicyFile.Entry(try StoredPolicy(&$0)) }
  }

  /// Returns the pools whose policies differ from a file, in the file's order.
  public func drift(from file: PolicyFile) async throws -> [PolicyDrift] {
    try await store.read { connection in
      let (drifts, problems) = try Self.drifts(from: file, connection) { _, _ in nil }
      guard problems.isEmpty else { throw PolicyFileError.problems(problems) }
      return drifts
    }
  }

  /// Changes all pools to the policies of a file in one transaction, under the rules of the console.
  ///
  /// A file that's based on another version of a policy it would change is refused, as is one that
  /// would change a policy elsewhere, a weaker policy without a reason, or one that requires a second
  /// administrator.
  ///
  /// - Returns: The pools that differed, as they were.
  public func apply(
    _ file: PolicyFile, because reason: String?, by author: Author, isDryRun: Bool = false
  ) async throws -> [PolicyDrift] {
    let reason = reason?.trimmed
    var context = store.context(author, at: store.clock.now())
    context.reason = reason?.isEmpty == false ? reason : nil
    let given = context
    let body: @Sendable (borrowing Connection) throws -> [PolicyDrift] = { connection in
      let (drifts, problems) = try Self.drifts(from: file, connection) { drift, version in
        guard drift.policy.pool.kind == .hosted else { return .connected }
        guard drift.wanted.configuration.totp?.intervals != .unsaid else {
          return .outOfRange(Window.range)
        }
        guard drift.policy.version == version else {
          return .otherVersion(current: drift.policy.version)
        }
        guard (given.reason ?? "").count <= ActionRequest.longestNote else {
          return .reasonTooLong
        }
        guard
          try !given.outbox.isMissing(for: drift.wanted, over: drift.policy.edit, connection)
        else { return .refusalNeedsEmail }
        guard !drift.weakenings.isEmpty else { return nil }
        if given.reason == nil { return .reasonRequired }
        let needsApproval = try Approval.isNeeded(
          for: drift.weakenings, of: drift.policy, in: drift.policy.pool, connection)
        return needsApproval ? .approvalRequired : nil
      }
      guard problems.isEmpty else { throw PolicyFileError.problems(problems) }
      return drifts
    }
    guard !isDryRun else { return try await store.read(body) }
    return try await store.write(by: author) { connection in
      let drifts = try body(connection)
      for drift in drifts {
        _ = try Self.store(drift.wanted, over: drift.policy, given, connection)
      }
      return drifts
    }
  }

  /// Compares all pools of a file, and collects what's wrong with any of them.
  private static func drifts(
    from file: PolicyFile, _ connection: borrowing Connection,
    refusal: (PolicyDrift, _ version: Int) throws -> PolicyFileFault?
  ) throws -> ([PolicyDrift], [PolicyFileProblem]) {
    var (drifts, problems) = ([PolicyDrift](), [PolicyFileProblem]())
    for (index, pool) in file.pools.enumerated() {
      do {
        guard let drift = try drift(of: pool, connection) else { continue }
        if let fault = try refusal(drift, pool.version) { throw fault }
        drifts.append(drift)
      } catch let fault as PolicyFileFault {
        problems.append(
          PolicyFileProblem(member: "pools[\(index)]", pool: pool.name, fault: fault))
      }
    }
    return (drifts, problems)
  }

  private static func drift(
    of pool: PolicyFile.Entry, _ connection: borrowing Connection
  ) throws -> PolicyDrift? {
    let policy = try connection.first(
      """
      SELECT \(Policy.columns) FROM scope s \(SQL.orderedJoin) project p USING (project_id)
      WHERE s.project_id = \(pool.project) AND s.tenant_id = \(pool.tenant?.text ?? "")
        AND s.deleted_at IS NULL
      """
    ) { try Policy(&$0) }
    guard let policy else { throw PolicyFileFault.poolNotFound }
    let wanted = try pool.edit(of: policy.edit)
    return wanted == policy.edit ? nil : PolicyDrift(policy: policy, wanted: wanted)
  }
}
