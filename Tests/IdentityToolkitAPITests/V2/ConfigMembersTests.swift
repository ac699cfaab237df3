import HTTP
import Identity
import JSON
import Testing

struct ConfigMembersTests {
  /// A value of each member that is stored without effect, as written and as returned.
  static let echoed: [(name: String, written: String, kept: String)] = [
    (
      "notification",
      #"{"send_email": {"method": 2, "smtp": {"host": "h", "port": "25", "password": "secret"},"#
        + #" "resetPasswordTemplate": {"subject": "é", "bodyFormat": "HTML", "customized": true}},"#
        + #" "defaultLocale": "de"}"#,
      #"{"sendEmail": {"method": "CUSTOM_SMTP", "smtp": {"host": "h", "port": 25},"#
        + #" "resetPasswordTemplate": {"subject": "é", "bodyFormat": "HTML", "customized": true}},"#
        + #" "defaultLocale": "de"}"#
    ),
    (
      "quota", #"{"signUpQuotaConfig": {"quota": 100, "quotaDuration": "604800s"}}"#,
      #"{"signUpQuotaConfig": {"quota": "100", "quotaDuration": "604800s"}}"#
    ),
    (
      "monitoring", #"{"request_logging": {"enabled": "true"}}"#,
      #"{"requestLogging": {"enabled": true}}"#
    ),
    (
      "blockingFunctions", #"{"triggers": {"before_sign_in": {"function_uri": "https://x"}}}"#,
      #"{"triggers": {"before_sign_in": {"functionUri": "https://x"}}}"#
    ),
    (
      "recaptchaConfig",
      #"{"emailPasswordEnforcementState": 2, "phoneEnforcementState": "ENFORCE","#
        + #" "managedRules": [{"endScore": 0.3, "action": 1}], "useAccountDefender": true}"#,
      #"{"emailPasswordEnforcementState": "AUDIT", "phoneEnforcementState": "ENFORCE","#
        + #" "managedRules": [{"endScore": 0.3, "action": "BLOCK"}], "useAccountDefender": true,"#
        + #" "useSmsBotScore": false, "useSmsTollFraudProtection": false}"#
    ),
    (
      "recaptchaConfig", #"{"useAccountDefender": false}"#,
      #"{"useAccountDefender": false, "#
        + #""emailPasswordEnforcementState": "RECAPTCHA_PROVIDER_ENFORCEMENT_STATE_UNSPECIFIED","#
        + #" "phoneEnforcementState": "RECAPTCHA_PROVIDER_ENFORCEMENT_STATE_UNSPECIFIED","#
        + #" "useSmsBotScore": false, "useSmsTollFraudProtection": false}"#
    ),
    ("mobileLinksConfig", #"{"domain": 1}"#, #"{"domain": "HOSTING_DOMAIN"}"#),
    (
      "smsRegionConfig", #"{"allowlist_only": {"allowed_regions": ["DE"]}}"#,
      #"{"allowlistOnly": {"allowedRegions": ["DE"]}}"#
    ),
  ]

  @Test(arguments: 0..<7)
  func `a member without effect is returned in canonical form`(index: Int) async throws {
    let (name, written, kept) = Self.echoed[index]
    try await TestServer.with { server in
      let tenant = "/v2/projects/acme-mfa/tenants/\(try await server.addTenant())"
      let isOfTenants = ["monitoring", "recaptchaConfig", "mobileLinksConfig", "smsRegionConfig"]
      let paths = isOfTenants.contains(name) ? [TestServer.config, tenant] : [TestServer.config]
      for path in paths {
        let answer = try await server.call(
          .patch, path + "?updateMask=\(name)", text: "{\"\(name)\": \(written)}", .owner)
        #expect(answer[name] == (try json(kept)))
        #expect(try await server.get(path)[name] == (try json(kept)))
        let cleared = try await server.patch(path + "?updateMask=\(name)", [:])
        #expect(cleared[name] == nil)
      }
    }
  }

  @Test func `changing only the policy preserves all other members and adds one log entry`()
    async throws
  {
    try await TestServer.with { server in
      let tenant = "/v2/projects/acme-mfa/tenants/\(try await server.addTenant())"
      for (path, name) in [(TestServer.config, "mfa"), (tenant, "mfaConfig")] {
        _ = try await server.patch(
          path + "?updateMask=monitoring", ["monitoring": ["requestLogging": ["enabled": true]]])
        var before = try #require(try await server.get(path).json.objectValue)
        let rows = try await server.identity.audit.list(limit: 1_000).items.count
        let policy =
          #"{"state":"MANDATORY","providerConfigs":[{"state":"ENABLED","#
          + #""totpProviderConfig":{"adjacentIntervals":7}}]}"#
        let answer = try await server.call(
          .patch, path + "?updateMask=\(name)", text: "{\"\(name)\": \(policy)}", .owner)
        #expect(answer[name] == (try json(policy)))
        #expect(try await server.get(path).json == answer.json)
        before[name] = answer[name]
        #expect(answer.json == .object(before))
        let log = try await server.identity.audit.list(limit: 1_000).items
        #expect(log.count == rows + 1 && log.first?.action == .policyChange)
      }
    }
  }

  @Test func `values are stored in canonical form`() async throws {
    try await TestServer.with { server in
      let answer = try await server.call(
        .patch,
        TestServer.config
          + "?updateMask=autodeleteAnonymousUsers,defaultHostingSite,sign_in.phoneNumber",
        text: """
          {"autodelete_anonymous_users": "true", "defaultHostingSite": "site", "signIn":
            {"phone_number": {"enabled": true, "test_phone_numbers":
              {"+1 (650) 555-abcd": "12_3"}}, "hashConfig": null}}
          """, .owner)
      #expect(answer["autodeleteAnonymousUsers"] == true)
      #expect(answer["defaultHostingSite"] == "site")
      #expect(
        answer["signIn"]?["phoneNumber"]
          == ["enabled": true, "testPhoneNumbers": ["+16505552223": "12_3"]])
    }
  }

  @Test(arguments: [
    (#"{"autodeleteAnonymousUsers":2}"#, "config.autodelete_anonymous_users' (TYPE_BOOL), 2"),
    (#"{"defaultHostingSite":{}}"#, "config.default_hosting_site' (TYPE_STRING), Starting an"),
    (#"{"notification":"x"}"#, "config.notification' (TYPE_MESSAGE), \"x\""),
    (
      #"{"signIn":{"phoneNumber":{"testPhoneNumbers":{"+1":2}}}}"#,
      "config.sign_in.phone_number.test_phone_numbers' (TYPE_STRING), 2"
    ),
  ])
  func `stored members must have the declared type`(body: String, error: String)
    async throws
  {
    try await TestServer.with { server in
      let answer = try await server.call(.patch, TestServer.config, text: body, .owner)
      #expect(answer.status == 400)
      #expect(answer.error?.hasPrefix("Invalid value at '" + error) == true, "\(answer.json)")
    }
  }

  @Test func `a nested mask changes one member and preserves its siblings`() async throws {
    try await TestServer.with { server in
      _ = try await server.patch(
        TestServer.config + "?updateMask=signIn",
        [
          "signIn": [
            "email": ["enabled": true, "passwordRequired": true], "anonymous": ["enabled": true],
            "phoneNumber": ["enabled": true, "testPhoneNumbers": ["+16505550100": "123456"]],
          ]
        ])
      let answer = try await server.patch(
        TestServer.config + "?updateMask=sign_in.anonymous.enabled,emailPrivacyConfig"
          + ".enableImprovedEmailPrivacy",
        [
          "signIn": ["email": ["enabled": false]],
          "emailPrivacyConfig": ["enableImprovedEmailPrivacy": false],
        ])
      #expect(answer["signIn"]?["anonymous"] == [:])
      #expect(answer["signIn"]?["email"]?["enabled"] == true)
      #expect(answer["signIn"]?["phoneNumber"]?["testPhoneNumbers"] == ["+16505550100": "123456"])
      #expect(answer["emailPrivacyConfig"] == [:])
      let project = try await server.identity.pools.existingSettings(
        project: ID(TestServer.project))
      #expect(!project.hidesUsers)
      #expect(
        project.signIn
          == SignInMethods(password: true, emailLink: false, anonymous: false, phone: true))
    }
  }

  @Test func `setting one kind of SMS region list removes the other`() async throws {
    try await TestServer.with { server in
      let path = TestServer.config + "?updateMask=smsRegionConfig."
      _ = try await server.patch(
        path + "allowByDefault.disallowedRegions",
        ["smsRegionConfig": ["allowByDefault": ["disallowedRegions": ["AU"]]]])
      let answer = try await server.patch(
        path + "allowlistOnly.allowedRegions",
        ["smsRegionConfig": ["allowlistOnly": ["allowedRegions": ["DE"]]]])
      #expect(answer["smsRegionConfig"] == ["allowlistOnly": ["allowedRegions": ["DE"]]])
    }
  }

  @Test func `a password policy always includes its enforcement state`() async throws {
    try await TestServer.with { server in
      let answer = try await server.patch(
        TestServer.config + "?updateMask=passwordPolicyConfig",
        ["passwordPolicyConfig": ["forceUpgradeOnSignin": true]])
      #expect(answer["passwordPolicyConfig"]?["passwordPolicyEnforcementState"] == "OFF")
      #expect(answer["passwordPolicyConfig"]?["forceUpgradeOnSignin"] == true)
      let cleared = try await server.patch(
        TestServer.config + "?updateMask=passwordPolicyConfig", [:])
      #expect(cleared["passwordPolicyConfig"] == nil)
    }
  }

  @Test func `allowDuplicateEmails is stored`() async throws {
    try await TestServer.with { server in
      let answer = try await server.patch(
        TestServer.config + "?updateMask=signIn.allowDuplicateEmails",
        ["signIn": ["allowDuplicateEmails": true]])
      #expect(answer["signIn"]?["allowDuplicateEmails"] == true)
      let off = try await server.patch(
        TestServer.config + "?updateMask=signIn.allowDuplicateEmails",
        ["signIn": ["allowDuplicateEmails": false]])
      #expect(off["signIn"] != nil && off["signIn"]?["allowDuplicateEmails"] == nil)
    }
  }

  @Test func `output-only members are ignored in a request`() async throws {
    try await TestServer.with { server in
      let before = try await server.get(TestServer.config)
      let answer = try await server.patch(
        TestServer.config + "?updateMask=name,subtype,client.apiKey,somethingElse",
        [
          "name": "projects/1/config", "subtype": "FIREBASE_AUTH",
          "client": ["apiKey": "mine", "firebaseSubdomain": "mine"],
        ])
      #expect(answer.status == 200)
      #expect(answer.json == before.json)
    }
  }

  @Test func `projects refuse mfaConfig, and tenants refuse mfa`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let project = try await server.patch(
        TestServer.config + "?updateMask=mfa", ["mfaConfig": ["state": "ENABLED"]])
      #expect(
        project.error == "Invalid JSON payload received. Unknown name \"mfaConfig\" at 'config': "
          + "Cannot find field.")
      let id = try await server.addTenant()
      let tenant = try await server.patch(
        "/v2/projects/acme-mfa/tenants/\(id)?updateMask=mfaConfig", ["mfa": ["state": "ENABLED"]])
      #expect(
        tenant.error == "Invalid JSON payload received. Unknown name \"mfa\" at 'tenant': "
          + "Cannot find field.")
    }
  }

  @Test func `without a mask, the members in the body are replaced`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let answer = try await server.patch(
        TestServer.config, ["authorizedDomains": ["localhost", "app.example.com"]])
      #expect(answer["authorizedDomains"] == ["localhost", "app.example.com"])
      #expect(answer["mfa"]?["providerConfigs"]?.arrayValue?.count == 1)
      let project = try await server.get("/v1/projects", .key)
      #expect(project["authorizedDomains"] == ["localhost", "app.example.com"])
    }
  }

  @Test func `null clears a member only if the mask names it`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let before = try await server.get(TestServer.config).json
      let nulls: JSON = [
        "mfa": nil, "emailPrivacyConfig": nil, "authorizedDomains": nil, "multiTenant": nil,
        "sign_in": nil,
      ]
      #expect(try await server.patch(TestServer.config, nulls).status == 200)
      #expect(try await server.get(TestServer.config).json == before)
      let cleared = try await server.patch(
        TestServer.config + "?updateMask=mfa,emailPrivacyConfig", nulls)
      #expect(cleared["mfa"] == ["state": "DISABLED"])
      #expect(cleared["emailPrivacyConfig"] != before["emailPrivacyConfig"])
      #expect(cleared["multiTenant"]?["allowTenants"] == true)
    }
  }

  @Test func `members and the MFA configuration are changed atomically`() async throws {
    try await TestServer.with { server in
      let answer = try await server.patch(
        TestServer.config + "?updateMask=multiTenant,mfa",
        [
          "multiTenant": ["allowTenants": false],
          "mfa": ["providerConfigs": [["totpProviderConfig": ["adjacentIntervals": 11]]]],
        ])
      #expect(answer.status == 400)
      #expect(try await server.get(TestServer.config)["multiTenant"]?["allowTenants"] == true)
    }
  }

  @Test func `character classes that aren't required are returned as written`() async throws {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      for path in [TestServer.config, "/v2/projects/acme-mfa/tenants/\(id)"] {
        let options: JSON = [
          "minPasswordLength": 8, "containsUppercaseCharacter": true,
          "containsLowercaseCharacter": false, "containsNumericCharacter": false,
        ]
        let answer = try await server.patch(
          path + "?updateMask=passwordPolicyConfig",
          [
            "passwordPolicyConfig": [
              "passwordPolicyEnforcementState": "ENFORCE", "forceUpgradeOnSignin": false,
              "passwordPolicyVersions": [["customStrengthOptions": options]],
            ]
          ])
        let later = try await server.get(path)
        for answer in [answer, later] {
          let policy = answer["passwordPolicyConfig"]
          let kept = policy?["passwordPolicyVersions"]?.arrayValue?.first?["customStrengthOptions"]
          #expect(kept == options)
          #expect(policy != nil && policy?["forceUpgradeOnSignin"] == nil)
        }
        let cleared = try await server.patch(path + "?updateMask=passwordPolicyConfig", [:])
        #expect(cleared["passwordPolicyConfig"] == nil)
      }
    }
  }

  @Test(arguments: ["{}", "[]", #"{"disallowedRegions":["DE"],"x":1}"#])
  func `unknown members are refused at every level`(policy: String) async throws {
    try await TestServer.with { server in
      let body = #"{"smsRegionConfig":{"allowByDefault":\#(policy)},"monitoring":{"request":{}}}"#
      let answer = try await server.call(.patch, TestServer.config, text: body, .owner)
      #expect(answer.error?.hasPrefix("Invalid JSON payload received. Unknown name ") == true)
    }
  }

  @Test func `a reCAPTCHA configuration is validated as a whole in projects and tenants`()
    async throws
  {
    try await TestServer.with { server in
      let tenant = "/v2/projects/acme-mfa/tenants/\(try await server.addTenant())"
      for path in [TestServer.config, tenant] {
        func write(_ mask: String, _ config: JSON) async throws -> Answer {
          try await server.patch(path + "?updateMask=\(mask)", ["recaptchaConfig": config])
        }
        let misaligned =
          "INVALID_RECAPTCHA_PHONE_AUTH_CONFIGURATION : Phone auth enforcement state must be aligned "
          + "with toll fraud or bot score enablement."
        let scores = "recaptchaConfig.useSmsBotScore"
        #expect(try await write(scores, ["useSmsBotScore": true]).error == misaligned)
        let on = try await write("recaptchaConfig", ["phoneEnforcementState": "ENFORCE"])
        #expect(on.status == 200)
        // Stored values outside the mask are validated too.
        #expect(try await write(scores, ["useSmsBotScore": true]).status == 200)
        let off = try await write(
          "recaptchaConfig.phoneEnforcementState", ["phoneEnforcementState": "OFF"])
        #expect(off.error == misaligned)
        for (score, isAccepted) in [("0.7", true), ("1", true), ("0.75", false), ("-0.1", false)] {
          let body =
            #"{"recaptchaConfig":{"managedRules":[{"endScore":\#(score),"action":"BLOCK"}]}}"#
          let answer = try await server.call(
            .patch, path + "?updateMask=recaptchaConfig.managedRules", text: body, .owner)
          #expect((answer.status == 200) == isAccepted, "\(score)")
        }
        let text = try await write(
          "recaptchaConfig", ["managedRules": [["endScore": "high", "action": "BLOCK"]]])
        #expect(text.error?.hasSuffix("(TYPE_FLOAT), \"high\"") == true)
        // A mask without reCAPTCHA members doesn't validate the stored configuration.
        #expect(try await server.patch(path + "?updateMask=monitoring", [:]).status == 200)
      }
    }
  }

  @Test(arguments: [
    #"{"signIn":{"email":{"enabled":"on"}}}"#, #"{"multiTenant":[]}"#,
    #"{"authorizedDomains":"localhost"}"#, #"{"authorizedDomains":[""]}"#,
    #"{"emailPrivacyConfig":{"enableImprovedEmailPrivacy":2}}"#,
    #"{"smsRegionConfig":{"allowlistOnly":{"allowedRegions":["Germany"]}}}"#,
    #"{"signIn":{"phoneNumber":{"testPhoneNumbers":{"+":"123456"}}}}"#,
  ])
  func `members with an effect must have the declared type`(body: String) async throws {
    try await TestServer.with { server in
      let answer = try await server.call(.patch, TestServer.config, text: body, .owner)
      #expect(answer.status == 400)
      #expect(answer.error != nil)
    }
  }

  @Test func `two spellings of a test number are one, and many numbers take no square of time`()
    async throws
  {
    try await TestServer.with { server in
      func set(_ numbers: [String]) async throws -> (Answer, Duration) {
        var body = JSON.Object()
        for number in numbers { body.append(number, "111111") }
        let clock = ContinuousClock()
        let start = clock.now
        let answer = try await server.patch(
          TestServer.config + "?updateMask=signIn.phoneNumber.testPhoneNumbers",
          ["signIn": ["phoneNumber": ["testPhoneNumbers": .object(body)]]])
        return (answer, clock.now - start)
      }
      func numbers(_ count: Int) -> [String] { (0..<count).map { "+1202\(5_550_000 + $0)" } }
      let (one, _) = try await set(["+1 (202) 555-0143", "+12025550143"])
      #expect(
        one["signIn"]?["phoneNumber"]?["testPhoneNumbers"] == ["+12025550143": "111111"])
      // Other activity on the machine only adds to the time, so the minimum of each is the cost.
      var (short, long) = (Duration.seconds(1_000), Duration.seconds(1_000_000))
      for _ in 0..<6 where long >= short * 32 {
        let (few, once) = try await set(numbers(2_000))
        let (many, again) = try await set(numbers(16_000))
        #expect(few.status == 200 && many.status == 200)
        (short, long) = (min(short, once), min(long, again))
      }
      #expect(long < short * 32, "eight times as many: \(short), \(long)")
    }
  }
}
