import JSON

extension Declaration {
  static let getRecaptchaConfig = Declaration(
    "getRecaptchaConfig", "Reads whether reCAPTCHA is asked for, which it is not.",
    query: ["clientType": .text, "version": .text],
    gives: [
      "recaptchaKey": .text,
      "recaptchaEnforcementState": .list([
        "provider": .text.required, "enforcementState": .text.required,
      ]),
    ])

  static let getPasswordPolicy = Declaration(
    "getPasswordPolicy", "Reads what a password must be.",
    gives: [
      "customStrengthOptions": .message([
        "minPasswordLength": .integer, "maxPasswordLength": .integer,
        "containsLowercaseCharacter": .flag, "containsUppercaseCharacter": .flag,
        "containsNumericCharacter": .flag, "containsNonAlphanumericCharacter": .flag,
      ]).required,
      "allowedNonAlphanumericCharacters": .list(.text).required,
      "enforcementState": .choice("OFF", "ENFORCE").required,
      "forceUpgradeOnSignin": .flag, "schemaVersion": .integer.required,
    ])
}

/// What clients ask for before they send something; both answers are the same for every project.
extension Methods {
  /// `GET recaptchaConfig`: no reCAPTCHA is asked for.
  func getRecaptchaConfig(_ call: ClientCall) async throws(WireError) -> JSON {
    let off = ["EMAIL_PASSWORD_PROVIDER", "PHONE_PROVIDER"].map { provider -> JSON in
      ["provider": .string(provider), "enforcementState": "OFF"]
    }
    return ["recaptchaEnforcementState": .array(off)]
  }

  /// `GET passwordPolicy`: what a password must be here, which is six characters long.
  func getPasswordPolicy(_ call: ClientCall) async throws(WireError) -> JSON {
    [
      "customStrengthOptions": ["minPasswordLength": 6, "maxPasswordLength": 4096],
      "allowedNonAlphanumericCharacters": .array(
        "^$*.[]{}()?\"!@#%&/\\,><':;|_~".map { .string(String($0)) }),
      "enforcementState": "OFF", "forceUpgradeOnSignin": false, "schemaVersion": 1,
    ]
  }
}
