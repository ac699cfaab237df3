/// A filter for audit rows.
///
/// Properties that are nil don't restrict the result.
public struct AuditFilter: Sendable, Hashable {
  /// Rows of this project or tenant only; a project excludes its tenants' rows.
  public var scope: Scope?
  /// Rows about resources of this type.
  public var objectKind: String?
  /// Rows about the resource with this ID (with `objectKind`, in `scope`).
  public var objectID: String?
  /// Rows by actors of this kind, as in ``Actor/kind``.
  public var actorKind: String?
  /// Rows by the actor with this ID (with `actorKind`).
  public var actorID: String?
  /// Rows of one action, such as `policy.change`, or of all actions with a prefix, such as
  /// `policy`.
  public var action: String?
  /// Rows at or after this time.
  public var from: Instant?
  /// Rows before this time.
  public var until: Instant?

  /// Creates a filter.
  public init(scope: Scope? = nil, objectKind: String? = nil, objectID: String? = nil) {
    self.scope = scope
    self.objectKind = objectKind
    self.objectID = objectID
  }
}

/// The result of a search in the audit log.
public struct AuditSearch: Sendable {
  /// The rows, newest first.
  public let rows: [AuditRow]
  /// The cursor to pass as `after` for the next page; nil if the search is complete.
  public let next: String?
  /// The time back to which the log was searched if the search stopped before it filled the page;
  /// otherwise nil.
  ///
  /// A search reads a limited number of rows at a time, no matter how few match.
  public let searchedBackTo: Instant?
  /// The projects and tenants of the rows, for searches across all of them.
  public let scopes: [AuditScope.Key: AuditScope]
}

/// A project or tenant named in an audit row.
public struct AuditScope: Sendable, Hashable {
  /// The project and tenant IDs in a row.
  public struct Key: Sendable, Hashable {
    /// The project.
    public let project: ID<Project>
    /// The tenant; nil for the project itself.
    public let tenant: ID<Tenant>?

    /// Creates a key for a project or one of its tenants.
    public init(project: ID<Project>, tenant: ID<Tenant>?) {
      self.project = project
      self.tenant = tenant
    }
  }

  /// The project's name.
  public let projectName: String
  /// The tenant's name; nil for a project.
  public let tenantName: String?
  /// False if the tenant was deleted.
  public let isThere: Bool
}

/// An actor with audit rows.
public struct AuditActor: Sendable, Hashable {
  /// The kind, as in ``Actor/kind``.
  public let kind: String
  /// The ID.
  public let id: String
  /// The name in the actor's newest row.
  public let name: String
}

extension AuditRow {
  /// The project or tenant of the row; nil for a change to the instance.
  public var scopeKey: AuditScope.Key? {
    project.map { AuditScope.Key(project: $0, tenant: tenant) }
  }
}
