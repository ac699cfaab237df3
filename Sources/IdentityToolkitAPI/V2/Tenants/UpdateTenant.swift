import Identity
import JSON

extension Declaration {
  static let updateTenant = Declaration(
    "projects.tenants.patch",
    "Updates the fields of a tenant in the mask, or the whole tenant without a mask.",
    query: ["updateMask": .text], takes: .tenant, gives: .tenant, failing: [404, 409])
}

extension Methods {
  /// `PATCH projects/{p}/tenants/{t}`: changes the members in the mask, or replaces the whole
  /// tenant without a mask.
  func updateTenant(_ call: AdminCall) async throws -> JSON {
    guard let id = call.pool.tenant else { throw WireError(PoolError.tenantNotFound) }
    let message = RequestMessage(call.message.object, path: "tenant")
    let (body, configuration) = try TenantMessage.read(message)
    let mask = Methods.mask(
      call.request.updateMask, body, isEmpty: message.object.isEmpty,
      seesCodes: call.holder.may(.changeLinks, in: call.pool))
    let edit = try await TenantMessage.edit(mask, body, configuration) {
      () in try await settings(of: call).edit
    }
    let tenant = try await identity.pools.update(
      project: call.pool.project, tenant: id, by: call.author
    ) { (tenant) throws(PoolError) in
      try edit.apply(to: &tenant)
    }
    return TenantMessage.write(tenant, for: call.holder)
  }

  /// An empty mask with an empty body changes nothing; the Node SDK sends this.
  private static func mask(
    _ text: String?, _ body: JSON.Object, isEmpty: Bool, seesCodes: Bool
  ) -> UpdateMask {
    if let text, !text.isEmpty { return UpdateMask(text) }
    if text != nil, isEmpty { return UpdateMask("") }
    return TenantMessage.everything(of: body, seesCodes: seesCodes)
  }
}
