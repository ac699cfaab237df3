/// Which audit rows to list.
///
/// What is nil does not restrict.
public struct AuditFilter: Sendable, Hashable {
  /// Rows of this scope only; a project's scope leaves its tenants' rows out.
  public var scope: Scope?
  /// Rows about things of this kind.
  public var objectKind: String?
  /// Rows about the thing with this id (with `objectKind`, in `scope`).
  public var objectID: String?
  /// Rows of this kind of actor, as in ``Actor/kind``.
  public var actorKind: String?
  /// Rows of the actor with this id (with `actorKind`).
  public var actorID: String?
  /// Rows of one action, `policy.change`, or of all that begin alike, `policy`.
  public var action: String?
  /// Rows from this moment on.
  public var from: Instant?
  /// Rows before this moment.
  public var until: Instant?

  /// Makes a filter.
  public init(scope: Scope? = nil, objectKind: String? = nil, objectID: String? = nil) {
    self.scope = scope
    self.objectKind = objectKind
    self.objectID = objectID
  }
}

/// What a search in the log has found.
public struct AuditSearch: Sendable {
  /// The rows, the newest first.
  public let rows: [AuditRow]
  /// What to pass as `after` to search on; nil when all was searched.
  public let next: String?
  /// How far back was searched, where that ended before there were rows enough; nil otherwise.
  ///
  /// A search looks at so many rows at a time, however few of them fit.
  public let searchedBackTo: Instant?
  /// The scopes that the rows are of, for searches in all of them.
  public let scopes: [AuditScope.Key: AuditScope]
}

/// A scope as an audit row names it.
public struct AuditScope: Sendable, Hashable {
  /// What a row keeps of its scope.
  public struct Key: Sendable, Hashable {
    /// The project.
    public let project: ID<Project>
    /// The tenant; nil for the project's own users.
    public let tenant: ID<Tenant>?

    /// Names a project's own pool, or a tenant's.
    public init(project: ID<Project>, tenant: ID<Tenant>?) {
      self.project = project
      self.tenant = tenant
    }
  }

  /// The project's name.
  public let projectName: String
  /// The name of the tenant; nil for a project.
  public let tenantName: String?
  /// False for a tenant that was deleted.
  public let isThere: Bool
}

/// Somebody who left rows in the log.
public struct AuditActor: Sendable, Hashable {
  /// The kind, as in ``Actor/kind``.
  public let kind: String
  /// The id.
  public let id: String
  /// The name in the newest row.
  public let name: String
}

extension AuditRow {
  /// The scope that the row is of; nil for a change of the instance.
  public var scopeKey: AuditScope.Key? {
    project.map { AuditScope.Key(project: $0, tenant: tenant) }
  }
}
