import Identity
import JSON

extension Declaration {
  static let getTenant = Declaration(
    "projects.tenants.get", "Returns a tenant.", gives: .tenant, failing: [404])
}

extension Methods {
  /// `GET projects/{p}/tenants/{t}`.
  func getTenant(_ call: AdminCall) async throws -> JSON {
    guard call.pool.tenant != nil else { throw WireError(PoolError.tenantNotFound) }
    return TenantMessage.write(try await settings(of: call), for: call.holder)
  }
}
