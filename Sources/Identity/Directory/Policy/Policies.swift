import Database

/// Reads and changes the MFA policies of pools.
public struct Policies: Sendable {
  let store: Store
  let audit: Audit
  let activity: Activity
  let differing = PolicyStampCache<DifferingTenants.Key, Int>()
  let watched = WatchedPolicyFile()
  let graceCounts = GraceCounts()

  public func read(_ pool: Pool) async throws -> Policy {
    try await store.read { connection in
      try Self.find(pool.key, connection)
    }
  }

  /// Changes the policy and records the change in the audit log; writes nothing if nothing changes.
  ///
  /// `version` is the version that the change is based on; nil to change any version, which only
  /// programs may. An administrator's change that weakens the policy has stricter requirements, and
  /// may need approval by a second administrator, depending on the pool's support rules.
  ///
  /// `edit` may be called more than once.
  @discardableResult
  public func change(
    _ pool: Pool, expecting version: Int? = nil, by caller: Caller,
    edit: @escaping @Sendable (inout PolicyEdit) throws(PolicyError) -> Void
  ) async throws -> ActionOutcome<PolicyOutcome> {
    let subject = ActionSubject<Change>(target: ActionTarget(pool)) { context, connection in
      let policy = try Self.find(pool.key, connection)
      if context.request == nil, let version, policy.version != version {
        throw PolicyError.changedMeanwhile(policy)
      }
      var new = policy.edit
      try edit(&new)
      if pool.kind != .hosted { new = try new.written(over: policy.edit).edit }
      return ActionSubject.Found(
        content: Change(policy: policy, new: new),
        action: policy.weakenings(by: new).isEmpty ? .changePolicy : .weakenPolicy)
    }
    return try await store.run(
      .changePolicy, by: caller, on: subject,
      plan: { change, context, connection in
        let (policy, new) = (change.policy, change.new)
        let plan = ActionPlan<Change, PolicyOutcome>.directory(
          change, change.value, requested: PolicyOutcome.requested)
        guard context.request != nil || policy.pool.kind != .hosted else { return plan }
        guard context.request == nil || policy.version == version else {
          throw PolicyError.changedMeanwhile(policy)
        }
        try new.configuration.check()
        guard new != policy.edit else { return .nothing(.changed(policy)) }
        guard try !context.outbox.isMissing(for: new, over: policy.edit, connection) else {
          throw PolicyError.refusalNeedsEmail
        }
        guard
          try context.request != nil
            && Approval.isNeeded(
              for: policy.weakenings(by: new), of: policy, in: policy.pool, connection)
        else { return plan }
        let approval = try NewApproval(
          new, over: policy, change.value, at: context.now, connection)
        return .approval(approval) { expiry, _ in .waiting(policy, until: expiry) }
      }
    ) { change, context, connection in
      .changed(try Self.store(change.new, over: change.policy, context, connection))
    }
  }

  private struct Change: Sendable {
    let policy: Policy
    let new: PolicyEdit

    var value: DirectoryChange { .policy(new, version: policy.version, seen: policy.edit) }
  }

  public func preview(
    _ pool: Pool, _ change: @escaping @Sendable (PolicyEdit) -> PolicyEdit
  ) async throws -> PolicyPreview {
    try await store.read { connection in
      let policy = try Self.find(pool.key, connection)
      var edit = change(policy.edit)
      try edit.configuration.check()
      if pool.kind != .hosted { edit = try edit.written(over: policy.edit).edit }
      let rules = try SupportRules.find(pool, connection)
      return PolicyPreview(
        policy: policy, new: edit, changes: PolicyChange.between(policy.edit, edit),
        losingSecondFactor: policy.users(losingFactorBy: edit.configuration),
        approvalOver: rules.policyApprovalOverUsers, codeCap: rules.codeCap,
        lacksEmail: try store.outbox.isMissing(for: edit, over: policy.edit, connection))
    }
  }

  /// Returns the changes of a pool's policy, newest first.
  public func history(_ pool: Pool, limit: Int = 10) async throws -> [AuditRow] {
    try await versions(pool, limit: limit).items
  }

  /// Returns a page of the changes of a pool's policy, newest first.
  public func versions(
    _ pool: Pool, after: String? = nil, limit: Int = 10
  ) async throws -> Page<AuditRow> {
    let filter = AuditFilter.policyVersions(of: pool)
    return try await store.read { connection in
      try audit.list(filter, after: after, limit: limit, connection)
    }
  }

  /// Returns the policy of a tenant's project.
  public func ofProject(_ pool: Pool) async throws -> StoredPolicy {
    try await store.read { connection in
      do {
        return try Pools.settings(pool.project, nil, connection).policy
      } catch PoolError.projectNotFound {
        throw PolicyError.poolNotFound
      }
    }
  }

  static func find(_ key: Int64, _ connection: borrowing Connection) throws -> Policy {
    let policy = try connection.first(selection(of: key, Policy.columns)) { try Policy(&$0) }
    guard let policy else { throw PolicyError.poolNotFound }
    return policy
  }

  /// Finds a pool's policy without its numbers of users, for whatever needs only the configuration:
  /// reading the numbers could make a write conflict with others.
  static func stored(_ key: Int64, _ connection: borrowing Connection) throws -> StoredPolicy {
    let policy = try connection.first(selection(of: key, StoredPolicy.columns)) {
      try StoredPolicy(&$0)
    }
    guard let policy else { throw PolicyError.poolNotFound }
    return policy
  }

  private static func selection(of key: Int64, _ columns: SQL) -> SQL {
    """
    SELECT \(columns) FROM scope s JOIN project p USING (project_id)
    WHERE s.scope_key = \(key) AND s.deleted_at IS NULL
    """
  }

  static func store(
    _ new: PolicyEdit, over policy: Policy, _ context: ActionContext,
    _ connection: borrowing Connection
  ) throws -> Policy {
    var changed = policy
    changed.stored = try store(new, over: policy.stored, counting: policy, context, connection)
    return changed
  }

  /// Stores a policy over another one.
  ///
  /// `counted` is the other one with its numbers of users, which are read only if they matter.
  static func store(
    _ new: PolicyEdit, over policy: StoredPolicy,
    counting counted: @autoclosure () throws -> Policy,
    _ context: ActionContext, _ connection: borrowing Connection
  ) throws -> StoredPolicy {
    let (author, now, pool) = (context.author, context.now, policy.pool)
    guard new != policy.edit else { return policy }
    try new.configuration.check()
    let weakenings = try new.weakenings(
      since: policy.edit, usersHaveApps: try counted().totpUsers > 0)
    guard
      try Approval.permits(
        weakenings, of: try counted(), in: pool, by: author, at: now, connection)
    else { throw PolicyError.approvalRequired }
    let configuration = new.configuration
    try connection.run(
      """
      UPDATE scope SET mfa_state = \(configuration.state), sms = \(configuration.smsEnabled),
        totp_state = \(configuration.totp?.state),
        totp_intervals = \(configuration.totp?.intervals.stored), pattern = \(new.pattern),
        mandatory_from = \(new.mandatoryFrom?.description),
        enforcement = \(new.enforcement?.mode),
        enforced_from = \(new.enforcement?.from.description),
        grace_days = \(new.enforcement?.graceDays),
        policy_version = policy_version + 1,
        policy_stamp = policy_stamp + CASE WHEN tenant_id = '' THEN 1 ELSE 0 END,
        policy_changed_at = \(now),
        policy_changed_by = \(author.actor.name), policy_reason = \(context.reason)
      WHERE scope_key = \(pool.key)
      """)
    var entry = AuditEntry(
      weakenings.contains(where: \.isWiderWindow) ? .policyWiden : .policyChange, .policy,
      pool.objectID, name: pool.name, in: pool)
    entry.compare(policy.edit.auditFields, new.auditFields)
    try context.record(entry, connection)
    try WeakenedPolicy.record(
      weakenings, of: new, over: policy, usersHaveApps: try counted().totpUsers > 0, context,
      connection)
    return policy.changed(to: new, by: author.actor.name, because: context.reason, at: now)
  }
}

/// The prerequisites of an MFA policy: users can enroll only if a first factor that supports MFA is
/// enabled and their email is verified.
public struct PolicyPrerequisites: Sendable {
  public let signIn: SignInMethods
  /// The IDs of the OpenID Connect providers that users can sign in with.
  public let providers: [String]
  public let unverifiedEmails: Int
  /// How the policy was weakened in the last 30 days; nil if it's as strict as before again.
  public let weakened: WeakenedPolicy?

  /// Whether a first factor that supports MFA is enabled.
  ///
  /// Anonymous sign-in, phone numbers, custom tokens, and Game Center don't support it.
  public var allowsSecondFactor: Bool {
    signIn.allowSecondFactor || !providers.isEmpty
  }
}

extension Policies {
  public func prerequisites(_ pool: Pool) async throws -> PolicyPrerequisites {
    try await store.read { now, connection in
      let weakened = try WeakenedPolicy.find(pool, at: now, connection)
      let providers = try IdentityProviders.enabled(in: pool, connection)
      let prerequisites = try connection.first(
        """
        SELECT s.password, s.email_link, s.anonymous, \(AccountCounts.current("unverified_users")),
          s.phone
        FROM scope s WHERE s.scope_key = \(pool.key) AND s.deleted_at IS NULL
        """
      ) { row in
        var signIn = SignInMethods(
          password: try row.next(), emailLink: try row.next(), anonymous: try row.next(),
          phone: false)
        let unverifiedEmails: Int = try row.next()
        signIn.phone = try row.next()
        return PolicyPrerequisites(
          signIn: signIn, providers: providers, unverifiedEmails: unverifiedEmails,
          weakened: weakened)
      }
      guard let prerequisites else { throw PolicyError.poolNotFound }
      return prerequisites
    }
  }
}
