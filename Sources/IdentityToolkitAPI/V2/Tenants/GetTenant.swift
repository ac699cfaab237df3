import Identity
import JSON

extension Declaration {
  static let getTenant = Declaration(
    "projects.tenants.get", "Reads a tenant.", gives: .tenant, failing: [404])
}

extension Methods {
  /// `GET projects/{p}/tenants/{t}`.
  func getTenant(_ call: AdminCall) async throws(WireError) -> JSON {
    guard let id = call.scope.tenant else { throw WireError(TenantError.notFound) }
    return TenantMessage.write(try await tenant(id, of: call.scope.project))
  }
}
