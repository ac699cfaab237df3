import Identity
import JSON

extension Declaration {
  static let getTenant = Declaration(
    "projects.tenants.get", "Returns a tenant.", gives: .tenant, failing: [404])
}

extension Methods {
  /// `GET projects/{p}/tenants/{t}`.
  func getTenant(_ call: AdminCall) async throws -> JSON {
    guard call.scope.tenant != nil else { throw WireError(UserPoolError.tenantNotFound) }
    return TenantMessage.write(try await pool(of: call), for: call.holder)
  }
}
