import Identity
import JSON

extension Declaration {
  static let deleteTenant = Declaration(
    "projects.tenants.delete", "Deletes a tenant and all its data.", gives: [:],
    failing: [404])
}

extension Methods {
  /// `DELETE projects/{p}/tenants/{t}`: deletes the tenant with everything in it.
  func deleteTenant(_ call: AdminCall) async throws -> JSON {
    guard let id = call.pool.tenant else { throw WireError(PoolError.tenantNotFound) }
    try await identity.pools.delete(project: call.pool.project, tenant: id, by: call.author)
    return [:]
  }
}
