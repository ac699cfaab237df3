extension Schema {
  static let tokens: Schema = ["idToken": .text, "refreshToken": .text, "expiresIn": .int64]

  /// The members in place of tokens if a second factor is required.
  static let secondFactorDue: Schema = [
    "mfaPendingCredential": .text, "mfaInfo": .list(.factor),
  ]

  /// The client information for abuse protection, which is ignored.
  static let clientTraits: Schema = [
    "captchaResponse": .text, "clientType": .text, "recaptchaVersion": .text,
  ]

  static let factor = named(
    "MfaEnrollment",
    [
      "mfaEnrollmentId": .text, "displayName": .text, "enrolledAt": .timestamp,
      "totpInfo": .object, "phoneInfo": .text,
    ])

  static let provider = named(
    "ProviderUserInfo",
    [
      "providerId": .text.required, "displayName": .text, "photoUrl": .text,
      "federatedId": .text, "email": .text, "rawId": .text, "screenName": .text,
      "phoneNumber": .text,
    ])

  static let user = named(
    "UserInfo",
    [
      "localId": .text.required, "email": .text, "emailVerified": .flag, "displayName": .text,
      "photoUrl": .text, "phoneNumber": .text, "passwordHash": .text, "salt": .text,
      "version": .integer, "passwordUpdatedAt": .integer, "providerUserInfo": .list(.provider),
      "validSince": .int64,
      "disabled": .flag, "createdAt": .int64, "lastLoginAt": .int64, "lastRefreshAt": .timestamp,
      "customAttributes": .text, "customAuth": .flag, "mfaInfo": .list(.factor),
      "tenantId": .text, "initialEmail": .text, "emailLinkSignin": .flag,
    ])

  static let mfa = named(
    "MultiFactorAuthConfig",
    [
      "state": .choice(MFAMessage.states).explicit,
      "enabledProviders": .list(.choice(MFAMessage.providers)),
      "providerConfigs": .list([
        "state": .choice(MFAMessage.entryStates).explicit,
        "totpProviderConfig": [
          "adjacentIntervals": .integer.noted("0 to 10; defaults to 5.")
        ],
      ]),
    ])

  static let config = named(
    "Config",
    [
      "name": .text, "subtype": .text,
      "signIn": [
        "email": ["enabled": .flag, "passwordRequired": .flag],
        "phoneNumber": ["enabled": .flag, "testPhoneNumbers": .map(.text)],
        "anonymous": ["enabled": .flag], "allowDuplicateEmails": .flag, "hashConfig": .object,
      ],
      "notification": notification, "quota": quota, "monitoring": monitoring,
      "multiTenant": ["allowTenants": .flag, "defaultTenantLocation": .text],
      "authorizedDomains": .list(.text), "client": userPermissions,
      "blockingFunctions": blockingFunctions, "smsRegionConfig": smsRegions,
      "recaptchaConfig": recaptcha, "passwordPolicyConfig": passwordPolicy,
      "emailPrivacyConfig": emailPrivacy, "mobileLinksConfig": mobileLinks,
      "autodeleteAnonymousUsers": .flag, "defaultHostingSite": .text, "mfa": .mfa,
      "importTotpSecrets": .flag.noted(
        "An extension: imported users may bring TOTP secrets, in the project and its tenants."),
    ])

  static let tenant = named(
    "Tenant",
    [
      "name": .text, "displayName": .text, "allowPasswordSignup": .flag,
      "enableEmailLinkSignin": .flag, "disableAuth": .flag, "enableAnonymousUser": .flag,
      "hashConfig": .object, "mfaConfig": .mfa, "testPhoneNumbers": .map(.text),
      "client": userPermissions, "monitoring": monitoring, "emailPrivacyConfig": emailPrivacy,
      "passwordPolicyConfig": passwordPolicy, "recaptchaConfig": recaptcha,
      "smsRegionConfig": smsRegions, "mobileLinksConfig": mobileLinks,
      "inheritance": ["emailSendingConfig": .flag],
      "notification": tenantNotification.noted(
        "An extension: the tenant's own email templates. An update without a mask keeps them."),
      "autodeleteAnonymousUsers": .flag.noted(
        "Stored and returned; the project's setting takes precedence."),
    ])
}
