import Database

/// A user pool: a project's own users, or a tenant.
///
/// A value means that the pool existed when it was read.
public struct Pool: Hashable, Sendable {
  /// The database key, which never appears in URLs or responses.
  public let key: Int64
  public let project: ID<Project>
  /// The project number, which token refresh responses and resource names contain.
  public let projectNumber: Int64
  /// The tenant; nil for the project's own users.
  public let tenant: ID<Tenant>?
  /// The display name of the tenant, or of the project.
  public let name: String
  public let projectName: String
  /// Whether sign-in is disabled for the pool (`disableAuth`).
  public let isDisabled: Bool

  static let columns: SQL = """
    s.scope_key, s.project_id, p.number, s.tenant_id, s.display_name, p.display_name, s.disabled
    """

  /// The ID of the tenant, or of the project.
  public var objectID: String { tenant?.text ?? project.text }

  public var object: AuditResource { tenant == nil ? .project : .tenant }

  /// Returns whether a pool is this one, or a tenant of this project.
  func contains(_ other: Pool) -> Bool {
    project == other.project && (tenant == nil || tenant == other.tenant)
  }

  /// The rowids of the pool's accounts.
  package var accountKeys: ClosedRange<Int64> { Self.accountKeys(of: key) }

  static func accountKeys(of key: Int64) -> ClosedRange<Int64> {
    (key << 40)...((key + 1) << 40 - 1)
  }

  static func key(ofAccount account: Int64) -> Int64 { account >> 40 }

  init(_ row: inout Row) throws {
    key = try row.next()
    project = try row.next()
    projectNumber = try row.next()
    tenant = ID(nonEmpty: try row.next())
    name = try row.next()
    projectName = try row.next()
    isDisabled = try row.next()
  }
}

public enum PoolLookupError: Error, Sendable {
  case projectNotFound
  case projectDeleted
  /// The tenant never existed in the project.
  case tenantNotFound
  case tenantDeleted
}
