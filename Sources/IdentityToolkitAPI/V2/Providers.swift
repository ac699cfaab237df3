import Crypto
import HTTP
import Identity
import JSON
import OpenIDConnect
import Text

extension Methods {
  static let listDefaultProviders = Declaration(
    "defaultSupportedIdpConfigs.list",
    "Lists the built-in providers; always empty.",
    query: ["pageSize": .integer, "pageToken": .text],
    gives: ["defaultSupportedIdpConfigs": .list(.object), "nextPageToken": .text], failing: [404])

  static let listSupportedProviders = Declaration(
    "defaultSupportedIdps.list",
    "Lists the providers that users can be imported from and linked to.",
    query: ["pageSize": .integer, "pageToken": .text],
    gives: [
      "defaultSupportedIdps": .list(["idpId": .text.required, "description": .text]),
      "nextPageToken": .text,
    ])

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
      in: call.pool, id: id, settings, by: .program(call.author)
    ).value
    return kind.write(provider, in: call.pool)
  }

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
      call.pool, id, by: .program(call.author)
    ) { (settings) throws(ProviderError) in try edit.apply(to: &settings) }.value
    return kind.write(provider, in: call.pool)
  }

  func deleteProvider(
    _ kind: ProviderMessage, _ call: AdminCall, _ id: String
  ) async throws -> JSON {
    guard IdentityProviders.kind(of: id) == kind.kind else { throw ProviderError.notFound }
    try await identity.identityProviders.delete(call.pool, id, by: .program(call.author))
    return [:]
  }
}

extension AdminCall {
  /// Whether responses include the configuration's secrets, which requires permission to change it.
  fileprivate var readsSecrets: Bool {
    holder.may(.changeProviders, pool.project, pool.tenant)
  }
}

/// The configuration of an identity provider on the wire: `oauthIdpConfigs` and
/// `inboundSamlConfigs`.
struct ProviderMessage: Sendable {
  let kind: IdentityProvider.Kind
  let collection: String
  let idParameter: String
  let schema: Schema
  let list: Declaration
  let create: Declaration
  let get: Declaration
  let patch: Declaration
  let delete: Declaration

  static let kinds = [
    ProviderMessage(.oidc, "oauthIdpConfigs", "oauthIdpConfigId", "OpenID Connect", .oidcProvider),
    ProviderMessage(.saml, "inboundSamlConfigs", "inboundSamlConfigId", "SAML", .samlProvider),
  ]

  private init(
    _ kind: IdentityProvider.Kind, _ collection: String, _ idParameter: String, _ name: String,
    _ schema: Schema
  ) {
    self.kind = kind
    self.collection = collection
    self.idParameter = idParameter
    self.schema = schema
    list = Declaration(
      "\(collection).list", "Lists the \(name) providers by ID, in pages.",
      query: ["pageSize": .integer, "pageToken": .text],
      gives: Schema(
        .message(
          Schema.Members(members: [
            (name: collection, schema: .list(schema)), (name: "nextPageToken", schema: .text),
          ]))), failing: [404])
    create = Declaration(
      "\(collection).create", "Creates a provider (\(name)).",
      query: Schema(
        .message(Schema.Members(members: [(name: idParameter, schema: .text.required)]))),
      takes: schema, gives: schema, failing: [404, 409])
    get = Declaration(
      "\(collection).get", "Returns a provider (\(name)).", gives: schema, failing: [404])
    patch = Declaration(
      "\(collection).patch", "Updates the fields of a provider (\(name)) in the mask.",
      query: ["updateMask": .text], takes: schema, gives: schema, failing: [404])
    delete = Declaration(
      "\(collection).delete", "Deletes a provider (\(name)); users keep their linked identities.",
      gives: [:], failing: [404])
  }

  /// The members that are only stored and returned.
  private var members: [String] { kind == .oidc ? ["responseType"] : ["idpConfig", "spConfig"] }

  var invalidID: WireError {
    kind == .oidc
      ? WireError(ProviderError.invalidID)
      : WireError(providerID: "Inbound_saml_config_id", prefix: "saml.")
  }

  /// Writes a provider.
  ///
  /// Empty and false members are omitted, and so is the secret for callers who can only read the
  /// configuration.
  func write(_ provider: IdentityProvider, in pool: Pool, secrets: Bool = true) -> JSON {
    var message: JSON.Object = [
      "name": .string("\(parent(pool))/\(collection)/\(provider.id)")
    ]
    var resource = resource(provider.settings)
    // What a provider has that was created without it.
    if kind == .oidc, resource["responseType"] == nil {
      resource["responseType"] = ["idToken": true]
    }
    for member in schema.omittingDefaults(resource)
    where secrets || member.name != "clientSecret" {
      message.append(member.name, member.value)
    }
    return .object(message)
  }

  private func parent(_ pool: Pool) -> String {
    let project = "projects/\(pool.projectNumber)"
    return pool.tenant.map { "\(project)/tenants/\($0)" } ?? project
  }

  private func resource(_ settings: ProviderSettings) -> JSON.Object {
    var resource = JSON.Object()
    UserMessage.append("displayName", settings.displayName, to: &resource)
    if settings.isEnabled { resource.append("enabled", true) }
    UserMessage.append("clientId", settings.clientID, to: &resource)
    UserMessage.append("issuer", settings.issuer, to: &resource)
    UserMessage.append("clientSecret", settings.clientSecret?.revealedText, to: &resource)
    if let keys = try? JSON.parse(Array(settings.keys.text.utf8)) { resource.append("jwks", keys) }
    for member in Resource.stored(settings.members) { resource.append(member.name, member.value) }
    return resource
  }

  /// Reads a message into canonical form and checks the types of its members.
  func read(_ message: JSON.Object) throws(WireError) -> JSON.Object {
    let message = RequestMessage(message, path: "config")
    if let keys = try message.value("jwks"), keys.objectValue == nil, keys.textValue?.text == nil {
      throw .invalidValue(at: message.field("jwks"), type: "TYPE_MESSAGE", keys)
    }
    return try schema.canonical(message)
  }

  func apply(
    _ mask: UpdateMask, _ body: JSON.Object, to settings: inout ProviderSettings
  ) throws(ProviderError) {
    var resource = resource(settings)
    mask.apply(body, to: &resource)
    settings.displayName = resource["displayName"]?.textValue?.text ?? ""
    settings.isEnabled = Resource.flag("enabled", in: resource)
    settings.members = Resource.text(Resource.members(members, of: resource))
    guard kind == .oidc else { return }
    settings.clientID = resource["clientId"]?.textValue?.text ?? ""
    settings.issuer = resource["issuer"]?.textValue?.text ?? ""
    let secret = resource["clientSecret"]?.textValue?.text ?? ""
    settings.clientSecret = secret.isEmpty ? nil : Secret(secret)
    let keys = resource["jwks"] ?? ""
    let text = keys.textValue?.text ?? String(decoding: keys.serialized(), as: UTF8.self)
    do throws(KeySet.Fault) { settings.keys = try KeySet(text) } catch {
      throw .invalidKeys(error)
    }
  }
}

extension Schema {
  static let oidcProvider = named(
    "OAuthIdpConfig",
    [
      "name": .text, "displayName": .text, "enabled": .flag, "clientId": .text, "issuer": .text,
      "clientSecret": .text,
      "responseType": ["idToken": .flag, "code": .flag, "token": .flag],
      "jwks": .anything.noted(
        "The provider's public keys: a JSON Web Key Set, or PEM as text. It is read back as a set. "
          + "An addition of this server, which fetches nothing from the provider."),
    ])

  static let samlProvider = named(
    "InboundSamlConfig",
    [
      "name": .text, "displayName": .text, "enabled": .flag,
      "idpConfig": [
        "idpEntityId": .text, "ssoUrl": .text, "signRequest": .flag,
        "idpCertificates": .list(["x509Certificate": .text]),
      ],
      "spConfig": [
        "spEntityId": .text, "callbackUri": .text, "spCertificates": .list(.object),
      ],
    ])
}
