import Database

/// One user pool: a project without tenant, or one tenant.
///
/// Having a value means that the scope existed when it was read.
public struct Scope: Hashable, Sendable {
  /// The database's key; it stands in no address and no answer.
  public let key: Int64
  /// The project.
  public let project: ID<Project>
  /// The project's number, which token refresh and resource names carry.
  public let projectNumber: Int64
  /// The tenant; nil for the project's own users.
  public let tenant: ID<Tenant>?
  /// The display name of the tenant, or of the project.
  public let name: String
  /// The display name of the project.
  public let projectName: String
  /// True when sign-in is switched off for the scope (`disableAuth`).
  public let isDisabled: Bool

  static let columns: SQL = """
    s.scope_key, s.project_id, p.number, s.tenant_id, s.display_name, p.display_name, s.disabled
    """

  /// The rowids of the accounts of this scope.
  var accountKeys: ClosedRange<Int64> { Self.accountKeys(of: key) }

  /// The rowids of the accounts of a scope by its key.
  static func accountKeys(of key: Int64) -> ClosedRange<Int64> {
    (key << 40)...((key + 1) << 40 - 1)
  }

  init(_ row: borrowing Row, from column: Int = 0) throws {
    key = try row.value(column)
    project = ID(try row.value(column + 1))
    projectNumber = try row.value(column + 2)
    let tenant: String = try row.value(column + 3)
    self.tenant = tenant.isEmpty ? nil : ID(tenant)
    name = try row.value(column + 4)
    projectName = try row.value(column + 5)
    isDisabled = try row.value(column + 6)
  }
}

/// Why there is no such scope.
public enum ScopeError: Error, Sendable {
  /// No project of that id.
  case projectNotFound
  /// The project was deleted.
  case projectDeleted
  /// No tenant of that id was ever in the project.
  case tenantNotFound
  /// The tenant was deleted.
  case tenantDeleted
  /// The database cannot answer now.
  case unavailable(Failure)
}

extension ScopeError: UseCaseError {}
