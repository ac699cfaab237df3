import Database
import Text

/// Named policies, and applying them to tenants.
public struct PolicyTemplates: Sendable {
  let store: Store

  /// The maximum number of tenants that a template is applied to at once.
  public static let mostTenants = 200

  /// Returns the templates of a project, the built-in ones first.
  ///
  /// - Throws: ``PolicyTemplateError/unavailable(_:)``.
  public func list(
    _ project: ID<Project>
  ) async throws(PolicyTemplateError) -> [PolicyTemplate] {
    try await store.read(PolicyTemplateError.self) { connection in
      try PolicyTemplate.all(of: project, connection)
    }
  }

  /// Returns a page of a project's tenants by ID, each with the template it got last.
  ///
  /// - Parameters:
  ///   - project: The project.
  ///   - templated: Whether only tenants that got a template are included.
  ///   - after: The key of the previous page.
  /// - Returns: The page.
  /// - Throws: ``PolicyTemplateError/unavailable(_:)``.
  public func tenants(
    of project: ID<Project>, templated: Bool = false, after: String? = nil
  ) async throws(PolicyTemplateError) -> Page<TemplatedTenant> {
    let limit = Self.mostTenants
    let only: SQL = templated ? "AND u.template IS NOT NULL" : ""
    return try await store.read(PolicyTemplateError.self) { connection in
      let templates = Dictionary(
        uniqueKeysWithValues: try PolicyTemplate.all(of: project, connection).map { ($0.kind, $0) })
      let tenants = try connection.all(
        """
        SELECT \(Policy.columns), u.template, u.applied_at
        FROM scope s \(SQL.orderedJoin) project p USING (project_id)
          LEFT JOIN policy_template_use u ON u.scope_key = s.scope_key
        WHERE s.project_id = \(project.text) AND s.tenant_id > \(after ?? "")
          AND s.deleted_at IS NULL \(only)
        ORDER BY s.tenant_id LIMIT \(limit + 1)
        """
      ) { row in
        let column = Policy.columnCount
        let kind = (try row.value(column) as String?).flatMap { PolicyTemplate.Kind($0) }
        return TemplatedTenant(
          policy: try Policy(row), template: kind.flatMap { templates[$0] },
          appliedAt: (try row.value(column + 1) as Int64?).map(Instant.init(microseconds:)))
      }
      return Page(tenants, limit: limit) { $0.policy.scope.objectID }
    }
  }

  /// Creates a template with the current policy of a project or tenant.
  ///
  /// - Parameters:
  ///   - name: The name.
  ///   - scope: The project or tenant.
  ///   - reserved: The names by which the built-in templates are shown.
  ///   - request: The administrator and their input.
  /// - Returns: The session under its new token, if a code was required.
  /// - Throws: ``ActionError``.
  public func create(
    _ name: String, from scope: Scope, notAs reserved: [String] = [], _ request: ActionRequest
  ) async throws(ActionError<PolicyTemplateError>) -> ActionOutcome<Void> {
    let (name, project) = (name.trimmed, scope.project)
    guard UserPoolRules.isDisplayName(name),
      name.unicodeScalars.count <= PolicyTemplate.longestName
    else { throw .failed(.invalidName) }
    return try await store.perform(
      .createPolicyTemplate, request, in: ActionTarget(project: project), PolicyTemplateError.self
    ) { context, connection in
      let templates = try PolicyTemplate.all(of: project, connection)
      guard !reserved.contains(where: { $0.isSameToken(as: name) }),
        !templates.contains(where: { $0.name?.isSameBytes(as: name) ?? false })
      else {
        throw PolicyTemplateError.nameTaken
      }
      let edit = try Policies.find(scope.key, connection).edit
      try connection.run(
        """
        INSERT INTO policy_template (project_id, name, \(PolicyEdit.columnNames))
        VALUES (\(project.text), \(name), \(edit.values))
        """)
      var entry = try Self.entry(.policyCreateTemplate, named: name, of: project, connection)
      entry.compare(nil, edit.auditFields)
      try context.record(entry, connection)
    }
  }

  /// Deletes a template of a project; the policies of tenants don't change.
  ///
  /// - Throws: ``ActionError``.
  public func delete(
    _ number: Int64, of project: ID<Project>, _ request: ActionRequest
  ) async throws(ActionError<PolicyTemplateError>) -> ActionOutcome<Void> {
    try await store.perform(
      .deletePolicyTemplate, request, in: ActionTarget(project: project), PolicyTemplateError.self
    ) { context, connection in
      guard let template = try PolicyTemplate.find(.own(number), of: project, connection) else {
        throw PolicyTemplateError.notFound
      }
      try connection.run("DELETE FROM policy_template WHERE template_id = \(number)")
      let entry = try Self.entry(
        .policyDeleteTemplate, named: template.name ?? "", of: project, connection)
      try context.record(entry, connection)
    }
  }

  private static func entry(
    _ action: AuditAction, named name: String, of project: ID<Project>,
    _ connection: borrowing Connection
  ) throws -> AuditEntry {
    let scope = try Scopes.find(project: project, tenant: nil, connection)
    var entry = AuditEntry(action, .policyTemplate, scope.objectID, name: name, in: scope)
    entry.add(.policyTemplate, .text(name))
    return entry
  }
}

extension PolicyTemplates {
  /// Returns what applying a template to tenants would change, in the order given; tenants that don't
  /// exist are left out.
  ///
  /// - Throws: ``PolicyTemplateError``.
  public func preview(
    _ kind: PolicyTemplate.Kind, for tenants: [ID<Tenant>], of project: ID<Project>
  ) async throws(PolicyTemplateError) -> [TemplateChange] {
    try await store.read(PolicyTemplateError.self) { connection in
      let template = try Self.template(kind, of: project, connection)
      return try tenants.compactMap { tenant in
        let policy: Policy
        do {
          policy = try Self.policy(of: tenant, in: project, connection)
        } catch PolicyTemplateError.tenantNotFound { return nil }
        let changes = PolicyChange.between(policy.edit, template.edit)
        let new = template.edit.configuration
        let scheduled =
          changes.isEmpty
          ? nil
          : try ScheduledPolicyChange.all(in: policy.scope, limit: 1, connection).first {
            $0.isCurrent(at: policy.version)
          }
        return TemplateChange(
          policy: policy, changes: changes,
          weakenings: policy.weakenings(by: template.edit),
          needsApproval: try Approval.isNeeded(for: template.edit, over: policy, connection),
          losingSecondFactor: policy.users(losingFactorBy: new),
          switchesOff: policy.isTOTPTurnedOff(by: new), outdatesScheduledAt: scheduled?.applyAt)
      }
    }
  }

  /// Applies a template to tenants in one transaction.
  ///
  /// If it weakens any policy, it requires what weakening one requires. A change that requires a
  /// second administrator waits for approval; the others are made.
  ///
  /// - Parameters:
  ///   - kind: The template.
  ///   - tenants: The tenants, with the versions of their policies in the preview.
  ///   - project: The project.
  ///   - request: The administrator and their input.
  /// - Returns: The result.
  /// - Throws: ``ActionError``.
  public func apply(
    _ kind: PolicyTemplate.Kind, to tenants: [(id: ID<Tenant>, version: Int)],
    of project: ID<Project>, _ request: ActionRequest
  ) async throws(ActionError<PolicyTemplateError>) -> ActionOutcome<TemplateOutcome> {
    guard (1...Self.mostTenants).contains(tenants.count) else {
      throw .failed(.wrongNumberOfTenants)
    }
    return try await store.perform(
      request, in: ActionTarget(project: project), PolicyTemplateError.self,
      choosing: { connection in
        let template = try Self.template(kind, of: project, connection)
        let isWeaker = try tenants.contains { tenant in
          let policy = try Self.policy(of: tenant.id, in: project, connection)
          return !policy.weakenings(by: template.edit).isEmpty
        }
        return isWeaker ? .weakenPolicy : .changePolicy
      }
    ) { context, connection in
      let template = try Self.template(kind, of: project, connection)
      var context = context
      context.template = template.name ?? kind.text
      var outcome = TemplateOutcome()
      for tenant in tenants {
        let policy = try Self.policy(of: tenant.id, in: project, connection)
        guard policy.version == tenant.version else {
          throw PolicyTemplateError.changedMeanwhile(policy.scope.name)
        }
        guard try !context.outbox.isMissing(for: template.edit, over: policy.edit, connection)
        else { throw PolicyTemplateError.refusalNeedsEmail(policy.scope.name) }
        try Self.apply(template, to: policy, request, context, &outcome, connection)
      }
      return outcome
    }
  }

  private static func apply(
    _ template: PolicyTemplate, to policy: Policy, _ request: ActionRequest,
    _ context: ActionContext, _ outcome: inout TemplateOutcome, _ connection: borrowing Connection
  ) throws {
    if try Approval.isNeeded(for: template.edit, over: policy, connection) {
      do {
        _ = try Approvals.ask(
          for: template.edit, over: policy, template: template.kind, request, at: context.now,
          connection)
      } catch PolicyError.approvalPending {
        throw PolicyTemplateError.approvalPending(policy.scope.name)
      }
      outcome.waiting += 1
      return
    }
    if policy.edit == template.edit {
      outcome.unchanged += 1
    } else {
      _ = try Policies.store(template.edit, over: policy, context, connection)
      outcome.changed += 1
    }
    try PolicyTemplate.recordUse(of: template.kind, in: policy.scope, at: context.now, connection)
  }

  private static func template(
    _ kind: PolicyTemplate.Kind, of project: ID<Project>, _ connection: borrowing Connection
  ) throws -> PolicyTemplate {
    guard let template = try PolicyTemplate.find(kind, of: project, connection) else {
      throw PolicyTemplateError.notFound
    }
    return template
  }

  private static func policy(
    of tenant: ID<Tenant>, in project: ID<Project>, _ connection: borrowing Connection
  ) throws -> Policy {
    do {
      let scope = try Scopes.find(project: project, tenant: tenant, connection)
      return try Policies.find(scope.key, connection)
    } catch is ScopeError {
      throw PolicyTemplateError.tenantNotFound(tenant)
    }
  }
}
