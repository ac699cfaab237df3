import Identity
import JSON

extension Declaration {
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
}

extension Methods {
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
