import HTTP
import Identity
import JSON

extension Declaration {
  static let listDefaultProviders = Declaration(
    "defaultSupportedIdpConfigs.list",
    "Lists the built-in providers; always empty.",
    query: ["pageSize": .integer, "pageToken": .text],
    gives: ["defaultSupportedIdpConfigs": .list(.object), "nextPageToken": .text], failing: [404])
}

extension Declaration {
  static let listSupportedProviders = Declaration(
    "defaultSupportedIdps.list",
    "Lists the providers that users can be imported from and linked to.",
    query: ["pageSize": .integer, "pageToken": .text],
    gives: [
      "defaultSupportedIdps": .list(["idpId": .text.required, "description": .text]),
      "nextPageToken": .text,
    ])
}

extension Methods {
  /// `GET defaultSupportedIdps`: returns the same list for every project; production doesn't
  /// paginate it.
  func listSupportedProviders(_ call: AdminCall) async throws -> JSON {
    let ids = [
      "apple.com", "facebook.com", "gc.apple.com", "github.com", "google.com", "linkedin.com",
      "microsoft.com", "playgames.google.com", "twitter.com", "yahoo.com",
    ]
    return ["defaultSupportedIdps": .array(ids.map { ["idpId": .string($0)] })]
  }

  /// `GET …/defaultSupportedIdpConfigs`: returns none, because no provider is built in.
  func listDefaultProviders(_ call: AdminCall) async throws -> JSON { [:] }
}

/// The methods for `oauthIdpConfigs` and `inboundSamlConfigs`, which differ only in their message.
extension Methods {
  /// `GET …`: lists the providers in pages, ordered by ID.
  func listProviders(
    _ kind: ProviderMessage, _ call: AdminCall
  ) async throws -> JSON {
    let limit = try call.request.pageSize("pageSize", standard: 20, maximum: 100)
    let after = call.request.parameter("pageToken").flatMap { $0.isEmpty ? nil : $0 }
    let page = try await identity.identityProviders.list(
      call.pool, kind: kind.kind, after: after, limit: limit)
    var answer = JSON.Object()
    if !page.items.isEmpty {
      let secrets = call.readsSecrets
      answer.append(
        kind.collection,
        .array(page.items.map { kind.write($0, in: call.pool, secrets: secrets) }))
    }
    UserMessage.append("nextPageToken", page.token(limit: limit) { $0.id.text }, to: &answer)
    return .object(answer)
  }

  /// `POST …?oauthIdpConfigId=`.
  func createProvider(
    _ kind: ProviderMessage, _ call: AdminCall
  ) async throws -> JSON {
    guard let id = call.request.parameter(kind.idParameter), !id.isEmpty else {
      throw WireError("MISSING_CONFIG_ID")
    }
    guard IdentityProviders.kind(of: id) == kind.kind else {
      throw kind.invalidID
    }
    let body = try kind.read(call.message.object)
    var settings = ProviderSettings()
    try kind.apply(UpdateMask(of: body), body, to: &settings)
    let provider = try await identity.identityProviders.create(
      in: call.pool, id: id, settings, by: call.author)
    return kind.write(provider, in: call.pool)
  }

  /// `GET …/{id}`.
  func getProvider(
    _ kind: ProviderMessage, _ call: AdminCall, _ id: String
  ) async throws -> JSON {
    guard IdentityProviders.kind(of: id) == kind.kind else { throw ProviderError.notFound }
    return kind.write(
      try await identity.identityProviders.find(call.pool, id), in: call.pool,
      secrets: call.readsSecrets)
  }

  /// `PATCH …/{id}`: changes the members in the mask, or those of the body without a mask.
  func updateProvider(
    _ kind: ProviderMessage, _ call: AdminCall, _ id: String
  ) async throws -> JSON {
    let body = try kind.read(call.message.object)
    let text = call.request.updateMask ?? ""
    let mask = text.isEmpty ? UpdateMask(of: body) : UpdateMask(text)
    guard IdentityProviders.kind(of: id) == kind.kind else { throw ProviderError.notFound }
    let current = try await identity.identityProviders.find(call.pool, id)
    let edit = PreparedEdit(of: current.settings) { (settings) throws(ProviderError) in
      try kind.apply(mask, body, to: &settings)
    }
    let provider = try await identity.identityProviders.update(
      call.pool, id, by: call.author
    ) { (settings) throws(ProviderError) in try edit.apply(to: &settings) }
    return kind.write(provider, in: call.pool)
  }

  /// `DELETE …/{id}`.
  func deleteProvider(
    _ kind: ProviderMessage, _ call: AdminCall, _ id: String
  ) async throws -> JSON {
    guard IdentityProviders.kind(of: id) == kind.kind else { throw ProviderError.notFound }
    try await identity.identityProviders.delete(call.pool, id, by: call.author)
    return [:]
  }
}

extension AdminCall {
  /// Whether responses include the configuration's secrets, which requires permission to change it.
  fileprivate var readsSecrets: Bool {
    holder.may(.changeProviders, pool.project, pool.tenant)
  }
}
