import HTTP
import Identity
import JSON
import Text

extension Methods {
  static let createTenant = Declaration(
    "projects.tenants.create", "Creates a tenant.", takes: .tenant, gives: .tenant,
    failing: [404, 409])

  func createTenant(_ call: AdminCall) async throws -> JSON {
    let message = RequestMessage(call.message.object, path: "tenant")
    let (body, configuration) = try TenantMessage.read(message)
    var tenant = PoolEdit(displayName: "")
    let edit = try await TenantMessage.edit(TenantMessage.creation, body, configuration) {
      () throws(WireError) in tenant
    }
    try edit.apply(to: &tenant)
    return TenantMessage.write(
      try await identity.pools.createTenant(
        in: call.pool.project, tenant, by: .program(call.author)
      ).value,
      for: call.holder)
  }

  static let getTenant = Declaration(
    "projects.tenants.get", "Returns a tenant.", gives: .tenant, failing: [404])

  func getTenant(_ call: AdminCall) async throws -> JSON {
    guard call.pool.tenant != nil else { throw WireError(PoolError.tenantNotFound) }
    return TenantMessage.write(try await settings(of: call), for: call.holder)
  }

  static let listTenants = Declaration(
    "projects.tenants.list", "Lists a project's tenants by ID, in pages.",
    query: ["pageSize": .integer, "pageToken": .text],
    gives: ["tenants": .list(.tenant), "nextPageToken": .text], failing: [404])

  /// `GET projects/{p}/tenants`: lists the tenants in pages, ordered by ID.
  func listTenants(_ call: AdminCall) async throws -> JSON {
    let limit = try call.request.pageSize("pageSize", standard: 20, maximum: 1000)
    let after = call.request.parameter("pageToken").flatMap { $0.isEmpty ? nil : $0 }
    let page = try await identity.pools.tenants(
      project: call.pool.project, after: after, limit: limit)
    var answer = JSON.Object()
    if !page.items.isEmpty {
      answer.append("tenants", .array(page.items.map { TenantMessage.write($0, for: call.holder) }))
    }
    UserMessage.append(
      "nextPageToken", page.token(limit: limit) { $0.pool.objectID }, to: &answer)
    return .object(answer)
  }
}

extension Page {
  /// Returns the token of the next page: a full page has one, even if it's the last, as in Google's
  /// emulator.
  func token(limit: Int, of key: (Element) -> String) -> String? {
    items.count == limit ? items.last.map(key) : nil
  }
}

extension Request {
  /// Returns the page size.
  ///
  /// Absent and zero mean the default; negative and too large values mean the maximum.
  func pageSize(_ name: String, standard: Int, maximum: Int) throws(WireError) -> Int {
    guard let text = parameter(name), !text.isEmpty else { return standard }
    guard let size = Int32(text) else {
      throw .invalidValue(at: Names.snake(name), type: "TYPE_INT32", .string(text))
    }
    guard size != 0 else { return standard }
    return size > 0 ? min(Int(size), maximum) : maximum
  }
}

extension Methods {
  static let updateTenant = Declaration(
    "projects.tenants.patch",
    "Updates the fields of a tenant in the mask, or the whole tenant without a mask.",
    query: ["updateMask": .text], takes: .tenant, gives: .tenant, failing: [404, 409])

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
      project: call.pool.project, tenant: id, by: .program(call.author)
    ) { (tenant) throws(PoolError) in
      try edit.apply(to: &tenant)
    }.value
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

  static let deleteTenant = Declaration(
    "projects.tenants.delete", "Deletes a tenant and all its data.", gives: [:],
    failing: [404])

  /// `DELETE projects/{p}/tenants/{t}`: deletes the tenant with everything in it.
  func deleteTenant(_ call: AdminCall) async throws -> JSON {
    guard let id = call.pool.tenant else { throw WireError(PoolError.tenantNotFound) }
    try await identity.pools.delete(
      project: call.pool.project, tenant: id, by: .program(call.author))
    return [:]
  }
}

enum TenantMessage {
  /// The members that are only stored and returned.
  private static let members = [
    "testPhoneNumbers", "client", "monitoring", "emailPrivacyConfig", "passwordPolicyConfig",
    "recaptchaConfig", "smsRegionConfig", "mobileLinksConfig", "inheritance",
    "autodeleteAnonymousUsers", notification,
  ]

  /// An extension, which other clients don't know, so that an update without a mask keeps it.
  private static let notification = "notification"

  /// The members with an effect here, except `mfaConfig`.
  private static let ruling = [
    "displayName", "allowPasswordSignup", "enableEmailLinkSignin", "disableAuth",
    "enableAnonymousUser",
  ]

  private static let testNumbers = TestNumber.path(isTenant: true)
  private static let privacy = "emailPrivacyConfig"

  /// The schema of what is stored: a tenant without the setting has its project's, so
  /// `false` isn't omitted.
  private static let stored = Schema(
    .message(
      Schema.Members(
        members: Schema.tenant.members.map { name, schema in
          (name, name == privacy ? ["enableImprovedEmailPrivacy": .flag.explicit] : schema)
        })))

  /// Writes a tenant.
  ///
  /// False members are omitted, and so are an MFA configuration that was never set and what the
  /// caller's permissions don't include.
  static func write(_ tenant: PoolSettings, for holder: Operator) -> JSON {
    let number = tenant.pool.projectNumber
    var message: JSON.Object = [
      "name": .string("projects/\(number)/tenants/\(tenant.pool.objectID)")
    ]
    UserMessage.append("displayName", tenant.displayName, to: &message)
    for (name, value) in switches(tenant.edit) where value { message.append(name, true) }
    if tenant.policy.configuration != MFAConfiguration() {
      message.append("mfaConfig", MFAMessage.write(tenant.policy.configuration))
    }
    var stored = Resource.stored(tenant.members)
    Resource.write(tenant.userPermissions, into: &stored)
    PasswordPolicyMessage.write(
      tenant.passwords, changedAt: tenant.passwordsChangedAt, into: &stored)
    for member in Schema.tenant.omittingDefaults(stored) {
      message.append(member.name, member.value)
    }
    if !holder.may(.changeLinks, in: tenant.pool) {
      Resource.remove(testNumbers, from: &message)
    }
    if stored["inheritance"] == nil { message.append("inheritance", [:]) }
    return .object(message)
  }

  /// Checks the types of all members, converts them to canonical form, and reads the MFA
  /// configuration.
  static func read(
    _ message: RequestMessage
  ) throws(WireError) -> (body: JSON.Object, configuration: MFAConfiguration) {
    let configuration = try check(message)
    var body = Resource.writable(try Schema.tenant.canonical(message, except: "mfaConfig"))
    try PhoneSettingsMessage.normalizeTestNumbers(at: testNumbers, in: &body)
    return (body, configuration)
  }

  private static func check(_ message: RequestMessage) throws(WireError) -> MFAConfiguration {
    try MFAMessage.refuse("mfa", in: message)
    for name in ruling.dropFirst() { _ = try message.flag(name) }
    _ = try message.text("displayName")
    _ = try message.message("emailPrivacyConfig")?.flag("enableImprovedEmailPrivacy")
    try PhoneSettingsMessage.checkRegions(of: message)
    return try MFAMessage.read(try message.message("mfaConfig"))
  }

  /// Returns the mask of all members; without a mask, an update replaces the whole tenant.
  ///
  /// A caller that doesn't see the test numbers keeps them, unless they're in the body.
  static func everything(of body: JSON.Object, seesCodes: Bool) -> UpdateMask {
    var kept = [notification]
    if !seesCodes, Resource.value(at: testNumbers, in: body) == nil { kept += testNumbers }
    return UpdateMask(
      (ruling + members.filter { !kept.contains($0) } + ["mfaConfig"]).map { [$0] })
  }

  /// The mask of all members of a new tenant, which has no templates that an update would keep.
  static let creation = UpdateMask((ruling + members + ["mfaConfig"]).map { [$0] })

  /// Prepares the change of the members named by a mask, to be applied in the transaction.
  ///
  /// `body` is in canonical form. `current` is called only if the mask names more than the MFA
  /// configuration.
  static func edit(
    _ mask: UpdateMask, _ body: JSON.Object, _ configuration: MFAConfiguration,
    of current: () async throws -> PoolEdit
  ) async throws -> ConfigEdit {
    let allowed = mask.keeping(ruling + members)
    return try await ConfigEdit(mask, "mfaConfig", configuration, members: allowed, of: current) {
      (tenant) throws(PoolError) in try apply(allowed, body, to: &tenant)
    }
  }

  private static func apply(
    _ allowed: UpdateMask, _ body: JSON.Object, to tenant: inout PoolEdit
  ) throws(PoolError) {
    var resource = Resource.stored(tenant.members)
    Resource.write(tenant.userPermissions, into: &resource)
    PasswordPolicyMessage.write(tenant.passwords, changedAt: nil, into: &resource)
    resource["displayName"] = .string(tenant.displayName)
    for (name, value) in switches(tenant) { resource[name] = .bool(value) }
    let old = resource
    allowed.apply(body, to: &resource)
    Resource.reconcile(&resource, after: allowed, body)
    tenant.displayName = resource["displayName"]?.textValue?.text ?? ""
    tenant.signIn = SignInMethods(
      password: Resource.flag("allowPasswordSignup", in: resource),
      emailLink: Resource.flag("enableEmailLinkSignin", in: resource),
      anonymous: Resource.flag("enableAnonymousUser", in: resource))
    tenant.disableAuth = Resource.flag("disableAuth", in: resource)
    tenant.passwords = try PasswordPolicyMessage.read(resource, over: tenant.passwords)
    try RecaptchaMessage.settle(&resource, from: old, writtenBy: allowed)
    tenant.userPermissions = Resource.userPermissions(resource)
    PasswordPolicyMessage.keepExplicit(&resource)
    // `false` is returned as an empty message.
    let before = Resource.stored(tenant.members)[privacy]
    if body[privacy] == [:], resource[privacy] == [:],
      before?["enableImprovedEmailPrivacy"] == false
    {
      resource[privacy] = before
    }
    Resource.store(
      Resource.members(members, of: resource), in: &tenant.members, stored,
      columns: [["client", "permissions"]], empty: [["inheritance"]])
  }

  private static func switches(_ tenant: PoolEdit) -> [(String, Bool)] {
    [
      ("allowPasswordSignup", tenant.signIn.password),
      ("enableEmailLinkSignin", tenant.signIn.emailLink), ("disableAuth", tenant.disableAuth),
      ("enableAnonymousUser", tenant.signIn.anonymous),
    ]
  }
}
