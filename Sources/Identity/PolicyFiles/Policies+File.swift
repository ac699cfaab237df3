import Database

/// A pool whose policy differs from a policy file.
public struct PolicyDrift: Sendable {
  public let policy: Policy
  /// The policy that the file asks for.
  public let wanted: PolicyEdit

  public var members: [PolicyFileMember] {
    PolicyFileMember.allCases.filter { $0.value(in: policy.edit) != $0.value(in: wanted) }
  }

  /// The fields that differ, from their current values to those of the file.
  public var changes: [PolicyChange] { PolicyChange.between(policy.edit, wanted) }

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
  /// A file that's based on another version of a policy it would change is refused, as is a weaker
  /// policy without a reason or one that requires a second administrator.
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
