/// A filter for audit rows.
///
/// Properties that are nil don't restrict the result. Stored names can also be those of actions,
/// fields, and resource types that only earlier versions wrote.
public struct AuditFilter: Sendable, Hashable {
  /// Rows of this project or tenant only; a project excludes its tenants' rows.
  public var pool: Pool?
  /// Rows about resources of the type with this stored name.
  public var objectKind: String?
  /// Rows about the resource with this ID (with `objectKind`, in `pool`).
  public var objectID: String?
  public var actor: Actor.Kind?
  /// Rows by the actor with this ID (with `actor`).
  public var actorID: String?
  public var action: Action?
  /// Rows of other actions only.
  public var excluded: [AuditAction] = []
  public var fieldName: String?
  /// Rows at or after this time.
  public var from: Instant?
  /// Rows before this time.
  public var until: Instant?

  public init(pool: Pool? = nil, object: AuditResource? = nil, objectID: String? = nil) {
    self.pool = pool
    objectKind = object?.rawValue
    self.objectID = objectID
  }

  /// Creates a filter for the changes of a pool's policy that were made.
  ///
  /// Entries about the same policy also record what someone proposed.
  static func policyVersions(of pool: Pool) -> AuditFilter {
    var filter = AuditFilter(pool: pool, object: .policy, objectID: pool.objectID)
    filter.action = .any([.policyChange, .policyWiden])
    return filter
  }

  public enum Action: Sendable, Hashable {
    /// The action with this stored name, also where its entries have an earlier one.
    case one(String)
    /// One of these actions, at least one, which an index finds if their stored names begin alike.
    case any([AuditAction])

    /// What the stored names begin with, up to their period; nil if they begin differently.
    var prefix: String? {
      switch self {
      case .one(let name): return AuditAction.prefix(of: name)
      case .any(let actions):
        let prefixes = Set(actions.map(\.prefix))
        return prefixes.count == 1 ? prefixes.first : nil
      }
    }

    /// The stored names; nil if they're all that have the prefix.
    var names: [String]? {
      switch self {
      case .one(let name): return AuditAction(stored: name)?.storedNames ?? [name]
      case .any(let actions):
        let alike = prefix.flatMap { AuditAction.byPrefix[$0] }
        let isWhole = alike?.allSatisfy(actions.contains) ?? false
        return isWhole ? nil : actions.flatMap(\.storedNames)
      }
    }
  }
}

public struct AuditSearch: Sendable {
  public let rows: [AuditRow]
  /// The cursor to pass as `after` for the next page; nil if the search is complete.
  public let next: String?
  /// The time back to which the log was searched if the search stopped before it filled the page;
  /// otherwise nil.
  ///
  /// A search reads a limited number of rows at a time, no matter how few match.
  public let searchedBackTo: Instant?
  /// The projects and tenants of the rows, for searches across all of them.
  public let pools: [AuditPool.Key: AuditPool]
  /// The names of the administrators that rows of an incomplete sign-in only identify.
  public let administrators: [String: String]

  public static let nothing = AuditSearch(
    rows: [], next: nil, searchedBackTo: nil, pools: [:], administrators: [:])
}

public struct AuditPool: Sendable, Hashable {
  public struct Key: Sendable, Hashable {
    public let project: ID<Project>
    public let tenant: ID<Tenant>?
  }

  public let projectName: String
  public let tenantName: String?
  /// False if the tenant was deleted.
  public let isThere: Bool
}

public struct AuditActor: Sendable, Hashable {
  /// The kinds of actors that are offered as filters.
  static let kinds: [Actor.Kind] = [.administrator, .serviceToken]

  public let kind: Actor.Kind
  public let id: String
  /// The name in the actor's newest row.
  public let name: String
}

extension AuditRow {
  public var poolKey: AuditPool.Key? {
    project.map { AuditPool.Key(project: $0, tenant: tenant) }
  }
}
