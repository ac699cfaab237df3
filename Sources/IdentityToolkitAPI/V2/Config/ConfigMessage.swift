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
    edit.passwords = try PasswordPolicyMessage.read(resource, over: edit.passwords)
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

/// The phone settings of a configuration: test numbers, and the regions that messages are sent to.
enum PhoneSettingsMessage {
  private static let regions = "smsRegionConfig"
  private static let policies = ["allowByDefault", "allowlistOnly"]

  /// Rejects a configuration with both policies, and unknown regions.
  static func checkRegions(of message: RequestMessage) throws(WireError) {
    guard let config = try message.message(regions) else { return }
    var given: [String] = []
    for (name, value) in config.object where !value.isNull {
      if let policy = policies.first(where: { Names.match(name, $0) }) { given.append(policy) }
    }
    guard given.count < 2 else {
      throw .oneof("sms_region_policy", setting: given[1], in: config.path)
    }
    let codes =
      try (config.message("allowByDefault")?.texts("disallowedRegions") ?? [])
      + (config.message("allowlistOnly")?.texts("allowedRegions") ?? [])
    guard codes.allSatisfy(SMSRegion.isKnown) else {
      throw WireError("INVALID_REGION_CODE : Invalid region code.")
    }
  }

  /// Keeps the stored test numbers at a path if a caller that doesn't see them writes back what it
  /// read.
  ///
  /// A body or a mask that names them changes them, which is refused.
  static func keepTestNumbers(
    at path: [String], of stored: JSON.Object, after mask: UpdateMask, _ body: JSON.Object,
    in resource: inout JSON.Object
  ) {
    guard Resource.value(at: path, in: body) == nil,
      !mask.paths.contains(where: { $0.starts(with: path) }),
      let numbers = Resource.value(at: path, in: stored)
    else { return }
    Resource.set(numbers, at: path, in: &resource)
  }

  static func normalizeTestNumbers(
    at path: [String], in body: inout JSON.Object
  ) throws(WireError) {
    guard let numbers = Resource.value(at: path, in: body)?.objectValue else { return }
    var places: [String: Int] = [:]
    var normalized: [(number: String, code: JSON)] = []
    for (number, code) in numbers {
      guard let number = TestNumber.normalized(number.text) else {
        throw WireError("INVALID_PHONE_NUMBER : Invalid format.")
      }
      // Two spellings of a number are one number, with the last code.
      if let place = places[number] {
        normalized[place].code = code
      } else {
        places[number] = normalized.count
        normalized.append((number, code))
      }
    }
    var object = JSON.Object()
    for (number, code) in normalized { object.append(number, code) }
    Resource.set(.object(object), at: path, in: &body)
  }
}

/// `recaptchaConfig` on the wire.
///
/// Like production, it's stored only if its parts are consistent.
enum RecaptchaMessage {
  private static let member = "recaptchaConfig"

  /// What every configuration that was written has, even if it wasn't in the request.
  private static let defaults: JSON.Object = [
    "emailPasswordEnforcementState": "RECAPTCHA_PROVIDER_ENFORCEMENT_STATE_UNSPECIFIED",
    "phoneEnforcementState": "RECAPTCHA_PROVIDER_ENFORCEMENT_STATE_UNSPECIFIED",
    "useSmsBotScore": false, "useSmsTollFraudProtection": false,
  ]

  /// Checks the configuration of a resource whose member types are already checked, if a mask wrote
  /// it, and completes one that isn't the old one.
  static func settle(
    _ resource: inout JSON.Object, from old: JSON.Object, writtenBy mask: UpdateMask
  ) throws(PoolError) {
    guard mask.covers(member), var config = resource[member]?.objectValue else { return }
    try check(config)
    guard resource[member] != old[member] else { return }
    for (name, value) in defaults where config[name] == nil { config[name] = value }
    resource[member] = .object(config)
  }

  private static func check(_ config: JSON.Object) throws(PoolError) {
    try checkRules(config["managedRules"], "endScore", .endScore)
    try checkRules(config["tollFraudManagedRules"], "startScore", .startScore)
    let isPhoneOn = ["AUDIT", "ENFORCE"].contains { config["phoneEnforcementState"] == $0 }
    guard
      isPhoneOn || config["useSmsBotScore"] != true && config["useSmsTollFraudProtection"] != true
    else { throw .recaptcha(.phoneState) }
    guard config["recaptchaKeys"]?.arrayValue?.isEmpty ?? true else { throw .recaptcha(.siteKey) }
  }

  private static func checkRules(
    _ rules: JSON?, _ score: String, _ fault: RecaptchaFault
  ) throws(PoolError) {
    for rule in rules?.arrayValue ?? [] {
      guard isScore(rule[score]) else { throw .recaptcha(fault) }
      guard rule["action"] == "BLOCK" else { throw .recaptcha(.missingAction) }
    }
  }

  /// Whether the value is one of the eleven scores; an absent value is 0.
  private static func isScore(_ value: JSON?) -> Bool {
    guard let value else { return true }
    guard let score = value.numberValue?.double, (0...1).contains(score) else { return false }
    return abs((score * 10).rounded() - score * 10) < 1e-5
  }
}

extension WireError {
  init(_ error: RecaptchaFault) {
    let scores =
      "score in reCAPTCHA managed rules must be a value between 0.0 and 1.0, at 11 discrete "
      + "values; e.g. 0.1, 0.2, 0.3, 0.4, ... 0.9, 1.0."
    switch error {
    case .endScore: self.init("INVALID_CONFIG : The end \(scores)")
    case .startScore: self.init("INVALID_CONFIG : The start \(scores)")
    case .missingAction:
      self.init("INVALID_CONFIG : The action in reCAPTCHA managed rules must be set.")
    case .phoneState:
      self.init(
        "INVALID_RECAPTCHA_PHONE_AUTH_CONFIGURATION : Phone auth enforcement state must be aligned "
          + "with toll fraud or bot score enablement.")
    case .siteKey: self.init("INVALID_SITE_KEY")
    }
  }
}
