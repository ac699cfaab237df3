import Identity
import JSON

extension Methods {
  static let getConfig = Declaration(
    "projects.getConfig", "Returns the configuration of a project.", gives: .config,
    failing: [404])

  func getConfig(_ call: AdminCall) async throws -> JSON {
    ConfigMessage.write(try await settings(of: call), for: call.holder)
  }

  static let updateConfig = Declaration(
    "projects.updateConfig", "Updates the fields of a project's configuration in the mask.",
    query: ["updateMask": .text], takes: .config, gives: .config, failing: [404, 409])

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
    let project = try await identity.pools.update(
      project: call.pool.project, by: .program(call.author)
    ) {
      (project) throws(PoolError) in try edit.apply(to: &project)
    }.value
    return ConfigMessage.write(project, for: call.holder)
  }
}

/// What a PATCH changes in a project or tenant: the MFA configuration as values, and the other
/// members as an edit that was prepared before the transaction.
struct ConfigEdit: Sendable {
  let mask: UpdateMask
  let mfaMember: String
  let configuration: MFAConfiguration
  /// The edit of the other members; nil if the mask names none of them.
  let members: PreparedEdit<PoolEdit, PoolError>?

  func apply(to settings: inout PoolEdit) throws(PoolError) {
    MFAMessage.apply(
      mask, root: mfaMember, configuration, to: &settings.configuration)
    guard let members else { return }
    // The other members don't depend on the MFA configuration, so its changes don't matter to them.
    let configuration = settings.configuration
    settings.configuration = MFAConfiguration()
    try members.apply(to: &settings)
    settings.configuration = configuration
  }
}

extension ConfigEdit {
  /// Prepares the edit of the members in a mask; `members` is its part without the MFA
  /// configuration.
  ///
  /// `current` is called only if that part has members.
  ///
  /// - Throws: The error of `current`; those of `merge` are thrown when the edit is applied.
  init(
    _ mask: UpdateMask, _ mfaMember: String, _ configuration: MFAConfiguration,
    members: UpdateMask,
    of current: () async throws -> PoolEdit,
    _ merge: @escaping @Sendable (inout PoolEdit) throws(PoolError) -> Void
  ) async throws {
    self.mask = mask
    self.mfaMember = mfaMember
    self.configuration = configuration
    guard !members.paths.isEmpty else {
      self.members = nil
      return
    }
    var base = try await current()
    base.configuration = MFAConfiguration()
    self.members = PreparedEdit(of: base, merge)
  }
}

extension Methods {
  static let initializeAuth = Declaration(
    "projects.identityPlatform.initializeAuth",
    "Does nothing, because every project can be configured.", takes: [:], gives: [:],
    failing: [404])

  /// `POST projects/{p}/identityPlatform:initializeAuth`, with which Terraform begins to configure a
  /// project.
  func initializeAuth(_ call: AdminCall) async throws -> JSON { [:] }

  static let getRecaptchaConfig = Declaration(
    "getRecaptchaConfig", "Reports that reCAPTCHA isn't required.",
    query: ["clientType": .text, "version": .text],
    gives: [
      "recaptchaKey": .text,
      "recaptchaEnforcementState": .list([
        "provider": .text.required, "enforcementState": .text.required,
      ]),
      "useSmsBotScore": .flag.required, "useSmsTollFraudProtection": .flag.required,
    ])

  static let getRecaptchaParams = Declaration(
    "getRecaptchaParams", "Returns reCAPTCHA parameters; reCAPTCHA isn't required.",
    gives: [
      "kind": .kind("GetRecaptchaParamResponse"), "recaptchaStoken": .text.required,
      "recaptchaSiteKey": .text.required, "producerProjectNumber": .text.required,
    ])

  static let getPasswordPolicy = Declaration(
    "getPasswordPolicy", "Returns the password policy.",
    gives: [
      "customStrengthOptions": Schema.passwordStrength.required,
      "allowedNonAlphanumericCharacters": .list(.text),
      "enforcementState": .choice("OFF", "ENFORCE").required,
      "forceUpgradeOnSignin": .flag, "schemaVersion": .integer.required,
    ])

  private static let clientTypes = EnumType(
    name: "google.cloud.identitytoolkit.v2.ClientType",
    values: [
      "CLIENT_TYPE_UNSPECIFIED", "CLIENT_TYPE_WEB", "CLIENT_TYPE_ANDROID", "CLIENT_TYPE_IOS",
    ])
  private static let recaptchaVersions = EnumType(
    name: "google.cloud.identitytoolkit.v2.RecaptchaVersion",
    values: ["RECAPTCHA_VERSION_UNSPECIFIED", "RECAPTCHA_ENTERPRISE"])

  /// `GET recaptchaConfig`: reports that reCAPTCHA isn't required.
  func getRecaptchaConfig(_ call: ClientCall) async throws -> JSON {
    let query = call.request.parameter
    guard let client = query("clientType"), !client.isEmpty else {
      throw WireError("MISSING_CLIENT_TYPE")
    }
    _ = try Self.clientTypes.read(.string(client), at: .root("client_type"))
    guard let version = query("version"), !version.isEmpty else {
      throw WireError("MISSING_RECAPTCHA_VERSION")
    }
    _ = try Self.recaptchaVersions.read(.string(version), at: .root("version"))
    let off = ["EMAIL_PASSWORD_PROVIDER", "PHONE_PROVIDER"].map { provider -> JSON in
      ["provider": .string(provider), "enforcementState": "OFF"]
    }
    return [
      "recaptchaEnforcementState": .array(off), "useSmsBotScore": false,
      "useSmsTollFraudProtection": false,
    ]
  }

  /// `GET recaptchaParams`: reports that reCAPTCHA isn't required; the key is a placeholder,
  /// because the web SDK requires a text.
  func getRecaptchaParams(_ call: ClientCall) async throws -> JSON {
    [
      "kind": "identitytoolkit#GetRecaptchaParamResponse",
      "recaptchaStoken": "not-checked", "recaptchaSiteKey": "not-checked",
      "producerProjectNumber": .string(String(try await pool(of: call).projectNumber)),
    ]
  }

  /// `GET passwordPolicy`: returns the password policy of the project, or of the tenant if one is
  /// named.
  func getPasswordPolicy(_ call: ClientCall) async throws -> JSON {
    let pool = try await pool(of: call)
    return PasswordPolicyMessage.forClients(try await settings(pool).passwords)
  }
}
