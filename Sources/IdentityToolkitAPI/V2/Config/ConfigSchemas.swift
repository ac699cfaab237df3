extension Schema {
  private static func word(_ type: String, of words: String...) -> Schema {
    .choice(EnumType(name: "google.cloud.identitytoolkit.admin.v2.\(type)", values: words))
  }

  static let emailPrivacy: Schema = ["enableImprovedEmailPrivacy": .flag]

  static let userPermissions: Schema = [
    "permissions": ["disabledUserSignup": .flag, "disabledUserDeletion": .flag],
    "apiKey": .text, "firebaseSubdomain": .text,
  ]

  static let monitoring: Schema = ["requestLogging": ["enabled": .flag]]

  static let mobileLinks: Schema = [
    "domain": word(
      "MobileLinksConfig.Domain", of: "DOMAIN_UNSPECIFIED", "HOSTING_DOMAIN",
      "FIREBASE_DYNAMIC_LINK_DOMAIN")
  ]

  static let smsRegions: Schema = [
    "allowByDefault": ["disallowedRegions": .list(.text)],
    "allowlistOnly": ["allowedRegions": .list(.text)],
  ]

  private static let recaptchaState = word(
    "RecaptchaConfig.RecaptchaProviderEnforcementState",
    of:
      "RECAPTCHA_PROVIDER_ENFORCEMENT_STATE_UNSPECIFIED", "OFF", "AUDIT", "ENFORCE")
  private static let recaptchaAction = word(
    "RecaptchaManagedRule.RecaptchaAction", of: "RECAPTCHA_ACTION_UNSPECIFIED", "BLOCK")

  static let recaptcha: Schema = [
    "emailPasswordEnforcementState": recaptchaState.explicit,
    "phoneEnforcementState": recaptchaState.explicit,
    "managedRules": .list(["endScore": .float, "action": recaptchaAction]),
    "recaptchaKeys": .list([
      "key": .text,
      "type": word(
        "RecaptchaKey.ClientType", of: "CLIENT_TYPE_UNSPECIFIED", "WEB", "IOS", "ANDROID"),
    ]),
    "useAccountDefender": .flag.explicit, "useSmsBotScore": .flag.explicit,
    "useSmsTollFraudProtection": .flag.explicit,
    "tollFraudManagedRules": .list(["startScore": .float, "action": recaptchaAction]),
  ]

  static let passwordStrength: Schema = [
    "minPasswordLength": .integer, "maxPasswordLength": .integer,
    "containsLowercaseCharacter": .flag.explicit, "containsUppercaseCharacter": .flag.explicit,
    "containsNumericCharacter": .flag.explicit,
    "containsNonAlphanumericCharacter": .flag.explicit,
  ]

  static let passwordPolicy: Schema = [
    "passwordPolicyEnforcementState": word(
      "PasswordPolicyConfig.PasswordPolicyEnforcementState",
      of:
        "PASSWORD_POLICY_ENFORCEMENT_STATE_UNSPECIFIED", "OFF", "ENFORCE"
    ).explicit,
    "passwordPolicyVersions": .list([
      "customStrengthOptions": passwordStrength, "schemaVersion": .integer,
    ]),
    "forceUpgradeOnSignin": .flag, "lastUpdateTime": .timestamp,
  ]

  private static let mailTemplate: Schema = [
    "senderLocalPart": .text, "subject": .text, "senderDisplayName": .text, "body": .text,
    "bodyFormat": word(
      "EmailTemplate.BodyFormat", of: "BODY_FORMAT_UNSPECIFIED", "PLAIN_TEXT", "HTML"),
    "replyTo": .text, "customized": .flag,
  ]

  private static let mailTemplates: Schema = [
    "resetPasswordTemplate": mailTemplate, "verifyEmailTemplate": mailTemplate,
    "changeEmailTemplate": mailTemplate, "revertSecondFactorAdditionTemplate": mailTemplate,
    "signInTemplate": extraTemplate, "verifyAndChangeEmailTemplate": extraTemplate,
    "enrollmentLinkTemplate": extraTemplate, "callerCodeTemplate": extraTemplate,
    "noticeTemplate": extraTemplate,
  ]

  private static let extraTemplate = mailTemplate.noted(
    "An extension: production has no template of this email.")

  /// A tenant's own senders of emails, an extension.
  static let tenantNotification: Schema = ["sendEmail": mailTemplates]

  static let notification: Schema = [
    "sendEmail": .message(
      [
        "method": word("SendEmail.Method", of: "METHOD_UNSPECIFIED", "DEFAULT", "CUSTOM_SMTP"),
        "smtp": [
          "senderEmail": .text, "host": .text, "port": .integer, "username": .text,
          "password": Schema.text.noted(
            "Never stored: emails are sent with the server's own settings."),
          "securityMode": word(
            "Smtp.SecurityMode", of: "SECURITY_MODE_UNSPECIFIED", "SSL", "START_TLS"),
        ],
        "legacyResetPasswordTemplate": mailTemplate, "callbackUri": .text, "dnsInfo": .object,
      ], mailTemplates),
    "sendSms": ["useDeviceLocale": .flag, "smsTemplate": .object], "defaultLocale": .text,
  ]

  static let quota: Schema = [
    "signUpQuotaConfig": ["quota": .int64, "startTime": .text, "quotaDuration": .text]
  ]

  static let blockingFunctions: Schema = [
    "triggers": .map(["functionUri": .text, "updateTime": .text]),
    "forwardInboundCredentials": ["idToken": .flag, "accessToken": .flag, "refreshToken": .flag],
  ]
}
