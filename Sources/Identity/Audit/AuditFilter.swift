/// A filter for audit rows.
///
/// Properties that are nil don't restrict the result. Stored names can also be those of actions,
/// fields, and resource types that only earlier versions wrote.
public struct AuditFilter: Sendable, Hashable {
  /// Rows of this project or tenant only; a project excludes its tenants' rows.
  public var scope: Scope?
  /// Rows about resources of the type with this stored name.
  public var objectKind: String?
  /// Rows about the resource with this ID (with `objectKind`, in `scope`).
  public var objectID: String?
  /// Rows by actors of this kind.
  public var actor: Actor.Kind?
  /// Rows by the actor with this ID (with `actor`).
  public var actorID: String?
  /// Rows of an action or of a group of actions.
  public var action: Action?
  /// Rows with the field of this stored name.
  public var fieldName: String?
  /// Rows at or after this time.
  public var from: Instant?
  /// Rows before this time.
  public var until: Instant?

  /// Creates a filter.
  public init(scope: Scope? = nil, object: AuditResource? = nil, objectID: String? = nil) {
    self.scope = scope
    objectKind = object?.rawValue
    self.objectID = objectID
  }

  /// Creates a filter for the changes of a pool's policy that were made.
  ///
  /// Entries about the same policy also record what someone proposed.
  static func policyVersions(of scope: Scope) -> AuditFilter {
    var filter = AuditFilter(scope: scope, object: .policy, objectID: scope.objectID)
    filter.action = .policyVersions
    return filter
  }

  /// An action or a group of actions.
  public enum Action: Sendable, Hashable {
    /// The action with this stored name.
    case one(String)
    /// All actions of a group.
    case group(AuditAction.Group)
    /// The changes of policies that were made, without those that were only proposed.
    case policyVersions

    /// What the stored names begin with, up to their period.
    var prefix: String {
      switch self {
      case .one(let name): AuditAction.prefix(of: name)
      case .group(let group): group.actions.first?.prefix ?? ""
      case .policyVersions: AuditAction.policyChange.prefix
      }
    }

    /// The stored names; nil if they're all that have the prefix.
    var names: [String]? {
      switch self {
      case .one(let name): return [name]
      case .group(let group):
        let isWhole = AuditAction.allCases.allSatisfy { $0.prefix != prefix || $0.group == group }
        return isWhole ? nil : group.actions.map(\.rawValue)
      case .policyVersions: return [AuditAction.policyChange, .policyWiden].map(\.rawValue)
      }
    }
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

  /// The result of a search that nothing can match.
  public static let nothing = AuditSearch(rows: [], next: nil, searchedBackTo: nil, scopes: [:])
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
  /// The kinds of actors that are offered as filters.
  static let kinds: [Actor.Kind] = [.administrator, .serviceToken]

  /// The kind.
  public let kind: Actor.Kind
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
