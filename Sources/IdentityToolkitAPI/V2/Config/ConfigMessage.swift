import Identity
import JSON
import Text

/// A project's configuration on the wire.
///
/// Some members have an effect here; many others are only stored and returned, so that an SDK reads
/// what it wrote.
enum ConfigMessage {
  /// The members that a caller can write, in addition to `mfa`.
  static let members = [
    "signIn", "notification", "quota", "monitoring", "multiTenant", "authorizedDomains", "client",
    "blockingFunctions", "smsRegionConfig", "recaptchaConfig", "passwordPolicyConfig",
    "emailPrivacyConfig", "mobileLinksConfig", "autodeleteAnonymousUsers", "defaultHostingSite",
    "importTotpSecrets",
  ]

  /// The members with columns of their own, which aren't stored in the text.
  private static let columns = [
    ["signIn", "email", "enabled"], ["signIn", "email", "passwordRequired"],
    ["signIn", "anonymous", "enabled"], ["signIn", "phoneNumber", "enabled"],
    ["signIn", "allowDuplicateEmails"], ["emailPrivacyConfig", "enableImprovedEmailPrivacy"],
    ["multiTenant", "allowTenants"], ["client", "permissions"], ["authorizedDomains"],
    ["autodeleteAnonymousUsers"], ["importTotpSecrets"],
  ]

  private static let testNumbers = TestNumber.path(isTenant: false)

  /// Writes a project's configuration; members with their type's default value are omitted, and so
  /// are those that the caller's permissions don't include.
  static func write(_ settings: PoolSettings, for holder: Operator) -> JSON {
    var config = config(of: settings)
    if !holder.may(.manageKeys, in: settings.pool) {
      Resource.remove(["client", "apiKey"], from: &config)
    }
    if !holder.may(.changeLinks, in: settings.pool) {
      Resource.remove(testNumbers, from: &config)
    }
    config.append("mfa", MFAMessage.write(settings.policy.configuration))
    return .object(config)
  }

  private static func config(of settings: PoolSettings) -> JSON.Object {
    var config: JSON.Object = [
      "name": .string("projects/\(settings.pool.projectNumber)/config"),
      "subtype": "IDENTITY_PLATFORM",
    ]
    var members = resource(settings.edit, passwordsChangedAt: settings.passwordsChangedAt)
    var client = JSON.Object()
    if let apiKey = settings.apiKey { client.append("apiKey", .string(apiKey)) }
    client.append("permissions", members["client"]?["permissions"] ?? [:])
    client.append("firebaseSubdomain", .string(settings.pool.project.text))
    members["client"] = .object(client)
    for member in Schema.config.omittingDefaults(members) {
      config.append(member.name, member.value)
    }
    return config
  }

  /// Prepares the change of the members named by a mask, to be applied in the transaction.
  ///
  /// `body` is in canonical form. `seesCodes` is whether the caller sees test numbers with their
  /// codes. `current` is called only if the mask names more than the MFA configuration.
  static func edit(
    _ mask: UpdateMask, _ body: JSON.Object, _ configuration: MFAConfiguration,
    seesCodes: Bool = true,
    of current: () async throws -> PoolEdit
  ) async throws -> ConfigEdit {
    let allowed = mask.keeping(members)
    return try await ConfigEdit(mask, "mfa", configuration, members: allowed, of: current) {
      (edit) throws(PoolError) in try apply(allowed, body, seesCodes: seesCodes, to: &edit)
    }
  }

  private static func apply(
    _ allowed: UpdateMask, _ body: JSON.Object, seesCodes: Bool, to edit: inout PoolEdit
  ) throws(PoolError) {
    var resource = resource(edit, passwordsChangedAt: nil)
    let old = resource
    let before = emailFlags(of: old)
    allowed.apply(body, to: &resource)
    Resource.reconcile(&resource, after: allowed, body)
    if !seesCodes {
      PhoneSettingsMessage.keepTestNumbers(
        at: testNumbers, of: Resource.stored(edit.members), after: allowed, body, in: &resource)
    }
    let email = emailFlags(of: resource)
    // The flags can't express email links without passwords, so unchanged ones change nothing.
    if email != before {
      edit.signIn.password = email.enabled
      edit.signIn.emailLink = email.enabled && !email.passwordRequired
    }
    edit.signIn.anonymous = Resource.flag("signIn", "anonymous", "enabled", in: resource)
    edit.signIn.phone = Resource.flag("signIn", "phoneNumber", "enabled", in: resource)
    edit.emailPrivacy = Resource.flag(
      "emailPrivacyConfig", "enableImprovedEmailPrivacy", in: resource)
    edit.project?.allowDuplicateEmails = Resource.flag(
      "signIn", "allowDuplicateEmails", in: resource)
    edit.project?.allowTenants = Resource.flag("multiTenant", "allowTenants", in: resource)
    edit.project?.importsTOTP = Resource.flag("importTotpSecrets", in: resource)
    edit.project?.authorizedDomains =
      resource["authorizedDomains"]?.arrayValue?.compactMap(\.textValue?.text) ?? []
    edit.passwords = try PasswordPolicyMessage.read(resource)
    try RecaptchaMessage.settle(&resource, from: old, writtenBy: allowed)
    edit.userPermissions = Resource.userPermissions(resource)
    edit.project?.expiresAnonymous = Resource.flag("autodeleteAnonymousUsers", in: resource)
    PasswordPolicyMessage.keepExplicit(&resource)
    Resource.store(resource, in: &edit.members, .config, columns: columns)
  }

  private static func emailFlags(
    of resource: JSON.Object
  ) -> (enabled: Bool, passwordRequired: Bool) {
    (
      Resource.flag("signIn", "email", "enabled", in: resource),
      Resource.flag("signIn", "email", "passwordRequired", in: resource)
    )
  }

  /// Checks the types of all members, converts them to canonical form, and reads the MFA
  /// configuration.
  static func read(
    _ message: RequestMessage
  ) throws(WireError) -> (body: JSON.Object, configuration: MFAConfiguration) {
    try check(message)
    let configuration = try MFAMessage.read(try message.message("mfa"))
    var body = Resource.writable(try Schema.config.canonical(message, except: "mfa"))
    try PhoneSettingsMessage.normalizeTestNumbers(
      at: testNumbers, in: &body)
    return (body, configuration)
  }

  private static func check(_ message: RequestMessage) throws(WireError) {
    try MFAMessage.refuse("mfaConfig", in: message)
    if let signIn = try message.message("signIn") {
      if let email = try signIn.message("email") {
        _ = try email.flag("enabled")
        _ = try email.flag("passwordRequired")
      }
      _ = try signIn.message("anonymous")?.flag("enabled")
      _ = try signIn.message("phoneNumber")?.flag("enabled")
      _ = try signIn.flag("allowDuplicateEmails")
    }
    _ = try message.message("emailPrivacyConfig")?.flag("enableImprovedEmailPrivacy")
    _ = try message.message("multiTenant")?.flag("allowTenants")
    _ = try message.flag("importTotpSecrets")
    _ = try message.texts("authorizedDomains")
    try PhoneSettingsMessage.checkRegions(of: message)
  }

  /// Returns the stored members, combined with those that have database columns.
  private static func resource(
    _ edit: PoolEdit, passwordsChangedAt: Instant?
  ) -> JSON.Object {
    let settings = edit.project
    var resource = Resource.stored(edit.members)
    let methods = edit.signIn
    var values: [([String], Bool)] = [
      (["signIn", "email", "enabled"], methods.password || methods.emailLink),
      (["signIn", "email", "passwordRequired"], !methods.emailLink),
      (["signIn", "anonymous", "enabled"], methods.anonymous),
      (["signIn", "allowDuplicateEmails"], settings?.allowDuplicateEmails ?? false),
      (["emailPrivacyConfig", "enableImprovedEmailPrivacy"], edit.emailPrivacy ?? true),
      (["multiTenant", "allowTenants"], settings?.allowTenants ?? false),
    ]
    if methods.phone || resource["signIn"]?["phoneNumber"] != nil {
      values.append((["signIn", "phoneNumber", "enabled"], methods.phone))
    }
    for (path, value) in values { Resource.set(.bool(value), at: path, in: &resource) }
    Resource.write(edit.userPermissions, into: &resource)
    if settings?.expiresAnonymous == true { resource["autodeleteAnonymousUsers"] = true }
    PasswordPolicyMessage.write(edit.passwords, changedAt: passwordsChangedAt, into: &resource)
    // An extension, present only if enabled, so that other clients see only members they know.
    resource["importTotpSecrets"] = settings?.importsTOTP == true ? true : JSON?.none
    resource["authorizedDomains"] = .array(
      (settings?.authorizedDomains ?? []).map { .string($0) })
    return resource
  }
}
