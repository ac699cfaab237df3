import Identity
import JSON

extension Declaration {
  static let createTenant = Declaration(
    "projects.tenants.create", "Creates a tenant.", takes: .tenant, gives: .tenant,
    failing: [404, 409])
}

extension Methods {
  /// `POST projects/{p}/tenants`.
  func createTenant(_ call: AdminCall) async throws -> JSON {
    let message = RequestMessage(call.message.object, path: "tenant")
    let (body, configuration) = try TenantMessage.read(message)
    var tenant = PoolEdit(displayName: "")
    let edit = try await TenantMessage.edit(TenantMessage.creation, body, configuration) {
      () throws(WireError) in tenant
    }
    try edit.apply(to: &tenant)
    return TenantMessage.write(
      try await identity.pools.createTenant(in: call.pool.project, tenant, by: call.author),
      for: call.holder)
  }
}
