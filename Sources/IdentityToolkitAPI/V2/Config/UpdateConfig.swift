import Identity
import JSON

extension Declaration {
  static let updateConfig = Declaration(
    "projects.updateConfig", "Updates the fields of a project's configuration in the mask.",
    query: ["updateMask": .text], takes: .config, gives: .config, failing: [404, 409])
}

extension Methods {
  /// `PATCH projects/{p}/config`: changes the members in the mask, or those of the body without a
  /// mask.
  func updateConfig(_ call: AdminCall) async throws -> JSON {
    let message = RequestMessage(call.message.object, path: "config")
    let (body, configuration) = try ConfigMessage.read(message)
    let text = call.request.updateMask ?? ""
    let mask = text.isEmpty ? UpdateMask(of: message.object) : UpdateMask(text)
    let edit = try await ConfigMessage.edit(
      mask, body, configuration, seesCodes: call.holder.may(.changeLinks, in: call.pool)
    ) {
      () in try await settings(of: call).edit
    }
    let project = try await identity.pools.update(project: call.pool.project, by: call.author) {
      (project) throws(PoolError) in try edit.apply(to: &project)
    }
    return ConfigMessage.write(project, for: call.holder)
  }
}
