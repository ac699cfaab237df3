import JSON

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
