import Crypto
import HTTP
import Identity
import JSON
import Testing

/// Tests for the password policy and user actions in a project and a tenant.
struct PasswordPolicyTests {
  private static let policy: JSON = [
    "passwordPolicyEnforcementState": "ENFORCE",
    "passwordPolicyVersions": [
      [
        "customStrengthOptions": [
          "minPasswordLength": 8, "containsUppercaseCharacter": true,
          "containsNumericCharacter": true,
        ]
      ]
    ],
  ]
  private static let lacking =
    "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: "
    + "[Password must contain at least 8 characters, Password must contain an upper case character, "
    + "Password must contain a numeric character]"

  @Test func `a policy is enforced at sign-up, at a change, and for administrators`()
    async throws
  {
    try await TestServer.with { server in
      let changed = try await server.patch(
        TestServer.config + "?updateMask=passwordPolicyConfig",
        ["passwordPolicyConfig": Self.policy])
      #expect(changed.status == 200)
      let signUp = try await server.post(
        "/v1/accounts:signUp", ["email": "a@example.com", "password": "abc"])
      #expect(signUp.error == Self.lacking)
      let good = try await server.post(
        "/v1/accounts:signUp", ["email": "a@example.com", "password": "Abcdefg1"])
      #expect(good.status == 200)
      let update = try await server.post(
        "/v1/accounts:update",
        ["idToken": try #require(good["idToken"]), "password": "abcdefg"])
      #expect(update.error == Self.lacking)
      let created = try await server.call(
        .post, "/v1/projects/acme-mfa/accounts",
        text: #"{"email": "b@example.com", "password": "swordfish"}"#, .owner)
      #expect(created.error?.hasPrefix("PASSWORD_DOES_NOT_MEET_REQUIREMENTS : ") == true)
    }
  }

  @Test func `a tenant has its own policy, which clients can read`() async throws {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      let answer = try await server.patch(
        "/v2/projects/acme-mfa/tenants/\(id)?updateMask=passwordPolicyConfig",
        ["passwordPolicyConfig": Self.policy])
      let kept = try #require(answer["passwordPolicyConfig"])
      #expect(kept["passwordPolicyEnforcementState"] == "ENFORCE")
      #expect(
        kept["passwordPolicyVersions"] == [
          [
            "customStrengthOptions": [
              "minPasswordLength": 8, "containsUppercaseCharacter": true,
              "containsNumericCharacter": true,
            ], "schemaVersion": 1,
          ]
        ])
      #expect(kept["lastUpdateTime"] != nil)
      let own = try await server.get("/v2/passwordPolicy?tenantId=\(id)", .key)
      #expect(own["enforcementState"] == "ENFORCE")
      #expect(
        own["customStrengthOptions"] == [
          "minPasswordLength": 8, "containsUppercaseCharacter": true,
          "containsNumericCharacter": true,
        ])
      #expect(own["allowedNonAlphanumericCharacters"] == nil)
      let project = try await server.get("/v2/passwordPolicy", .key)
      #expect(
        project["customStrengthOptions"] == ["minPasswordLength": 6, "maxPasswordLength": 4096])
      #expect(project["enforcementState"] == "ENFORCE")
      _ = try await server.patch(
        TestServer.config + "?updateMask=passwordPolicyConfig",
        [
          "passwordPolicyConfig": [
            "passwordPolicyVersions": [
              ["customStrengthOptions": ["containsNonAlphanumericCharacter": true]]
            ]
          ]
        ])
      let symbols = try await server.get("/v2/passwordPolicy", .key)
      #expect(symbols["enforcementState"] == "OFF")
      #expect(symbols["allowedNonAlphanumericCharacters"]?.arrayValue?.isEmpty == false)
    }
  }

  @Test func `common passwords are refused whatever requirements a program sets`() async throws {
    try await TestServer.with { server in
      _ = try await server.identity.pools.update(
        project: ID(TestServer.project), by: .program(Author(actor: .commandLine))
      ) {
        $0.passwords = PasswordPolicy(isEnforced: true, shortest: 8, refusesCommon: true)
      }
      func signUp(_ password: String) async throws -> Answer {
        try await server.post(
          "/v1/accounts:signUp", ["email": "a@example.com", "password": .string(password)])
      }
      let refusal =
        "PASSWORD_DOES_NOT_MEET_REQUIREMENTS : Missing password requirements: "
        + "[Password must not be a common password]"
      #expect(try await signUp("PassWord1").error == refusal)
      let longer = try await server.patch(
        TestServer.config + "?updateMask=passwordPolicyConfig.passwordPolicyVersions",
        [
          "passwordPolicyConfig": [
            "passwordPolicyVersions": [["customStrengthOptions": ["minPasswordLength": 9]]]
          ]
        ])
      #expect(
        longer["passwordPolicyConfig"]?["passwordPolicyVersions"] == [
          ["customStrengthOptions": ["minPasswordLength": 9], "schemaVersion": 1]
        ])
      #expect(try await signUp("PassWord1").error == refusal)
      // An imported hash is of a password that nobody knows.
      let hashed = try #require(BatchCreateTests.hashes.first)
      var body = try #require(hashed.members.objectValue)
      body["users"] = [
        [
          "localId": "imported", "email": "imported@example.com",
          "passwordHash": .string(Base64URL.encode(hashed.hash)),
          "salt": .string(Base64URL.encode(hashed.salt)),
        ]
      ]
      #expect(try await server.post(BatchCreateTests.path, .object(body), .owner).status == 200)
      let signedIn = try await server.post(
        "/v1/accounts:signInWithPassword",
        ["email": "imported@example.com", "password": "password"])
      #expect(signedIn.status == 200)
      #expect(
        signedIn["userNotifications"] == [
          [
            "notificationCode": "MINIMUM_PASSWORD_LENGTH",
            "notificationMessage": "Password must contain at least 9 characters",
          ]
        ])
    }
  }

  @Test func `a policy without settings is none`() async throws {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      for (path, query) in [
        (TestServer.config, ""), ("/v2/projects/acme-mfa/tenants/\(id)", "?tenantId=\(id)"),
      ] {
        let never = try await server.get("/v2/passwordPolicy" + query, .key)
        let mask = path + "?updateMask=passwordPolicyConfig"
        _ = try await server.patch(mask, ["passwordPolicyConfig": Self.policy])
        for empty: JSON in [[:], ["forceUpgradeOnSignin": false]] {
          let cleared = try await server.patch(mask, ["passwordPolicyConfig": empty])
          #expect(cleared.status == 200 && cleared["passwordPolicyConfig"] == nil, "\(path)")
          let read = try await server.get("/v2/passwordPolicy" + query, .key)
          #expect(read.json == never.json, "\(path)")
        }
      }
    }
  }

  @Test func `with force upgrade on sign-in, weak passwords are refused and strong ones accepted`()
    async throws
  {
    try await TestServer.with { server in
      for (email, password) in [("weak@example.com", "swordfish"), ("ok@example.com", "Swordf1sh")]
      {
        _ = try await server.post(
          "/v1/accounts:signUp", ["email": .string(email), "password": .string(password)])
      }
      _ = try await server.patch(
        TestServer.config + "?updateMask=passwordPolicyConfig",
        ["passwordPolicyConfig": Self.policy])
      func signIn(_ email: String, _ password: String) async throws -> Answer {
        try await server.post(
          "/v1/accounts:signInWithPassword",
          ["email": .string(email), "password": .string(password)])
      }
      let notified = try await signIn("weak@example.com", "swordfish")
      #expect(notified.status == 200 && notified["idToken"] != nil)
      #expect(
        notified["userNotifications"] == [
          [
            "notificationCode": "MISSING_UPPERCASE_CHARACTER",
            "notificationMessage": "Password must contain an upper case character",
          ],
          [
            "notificationCode": "MISSING_NUMERIC_CHARACTER",
            "notificationMessage": "Password must contain a numeric character",
          ],
        ])
      #expect(try await signIn("ok@example.com", "Swordf1sh")["userNotifications"] == nil)
      _ = try await server.patch(
        TestServer.config + "?updateMask=passwordPolicyConfig.forceUpgradeOnSignin",
        ["passwordPolicyConfig": ["forceUpgradeOnSignin": true]])
      let refused = try await signIn("weak@example.com", "swordfish")
      #expect(refused.error?.hasPrefix("PASSWORD_DOES_NOT_MEET_REQUIREMENTS : ") == true)
      // A wrong password doesn't reveal the policy.
      #expect(
        try await signIn("weak@example.com", "other").error == "INVALID_LOGIN_CREDENTIALS")
      #expect(try await signIn("ok@example.com", "Swordf1sh").status == 200)
    }
  }

  @Test(arguments: [
    ("minPasswordLength", 5, "Minimum password length must be between 6 and 30"),
    ("minPasswordLength", 31, "Minimum password length must be between 6 and 30"),
    (
      "maxPasswordLength", 5, "Maximum password length must be greater than or equal to the minimum"
    ),
    ("maxPasswordLength", 4_097, "Maximum password length must be less than or equal to 4096"),
  ])
  func `invalid password lengths are refused`(
    name: String, length: Int, text: String
  ) async throws {
    try await TestServer.with { server in
      let answer = try await server.patch(
        TestServer.config + "?updateMask=passwordPolicyConfig",
        [
          "passwordPolicyConfig": [
            "passwordPolicyVersions": [
              ["customStrengthOptions": .object([name: .number(JSON.Number(length))])]
            ]
          ]
        ])
      #expect(answer.error?.hasPrefix("INVALID_CONFIG : \(text)") == true)
    }
  }

  @Test func `enums are accepted by number, and unknown names are refused`() async throws {
    try await TestServer.with { server in
      let mask = TestServer.config + "?updateMask=passwordPolicyConfig"
      let answer = try await server.patch(
        mask,
        [
          "password_policy_config": [
            "password_policy_enforcement_state": 2,
            "password_policy_versions": [["custom_strength_options": [:]]],
          ]
        ])
      #expect(answer["passwordPolicyConfig"]?["passwordPolicyEnforcementState"] == "ENFORCE")
      let wrong = try await server.patch(
        mask, ["passwordPolicyConfig": ["passwordPolicyEnforcementState": "ON"]])
      #expect(
        wrong.error
          == "Invalid value at 'config.password_policy_config.password_policy_enforcement_state' "
          + "(type.googleapis.com/google.cloud.identitytoolkit.admin.v2.PasswordPolicyConfig."
          + "PasswordPolicyEnforcementState), \"ON\"")
    }
  }

  @Test func `users can sign up and delete their accounts only if allowed`() async throws {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      let tenant = "/v2/projects/acme-mfa/tenants/\(id)"
      for (path, tenantID) in [(TestServer.config, ""), (tenant, id)] {
        var body: JSON.Object = ["email": "a@example.com", "password": "swordfish"]
        if !tenantID.isEmpty { body.append("tenantId", .string(tenantID)) }
        let before = try await server.post("/v1/accounts:signUp", .object(body))
        #expect(before.status == 200)
        let answer = try await server.patch(
          path + "?updateMask=client.permissions",
          ["client": ["permissions": ["disabledUserSignup": true, "disabledUserDeletion": true]]])
        #expect(
          answer["client"]?["permissions"]
            == ["disabledUserSignup": true, "disabledUserDeletion": true])
        body["email"] = "b@example.com"
        #expect(
          try await server.post("/v1/accounts:signUp", .object(body)).error
            == "ADMIN_ONLY_OPERATION")
        let delete = try await server.post(
          "/v1/accounts:delete", ["idToken": try #require(before["idToken"])])
        #expect(delete.error == "ADMIN_ONLY_OPERATION")
        _ = try await server.patch(
          path + "?updateMask=client.permissions.disabledUserDeletion", ["client": [:]])
        #expect(
          try await server.post(
            "/v1/accounts:delete", ["idToken": try #require(before["idToken"])]
          ).status == 200)
      }
    }
  }

  @Test func `reCAPTCHA is never required, regardless of the configuration`() async throws {
    try await TestServer.with { server in
      _ = try await server.patch(
        TestServer.config + "?updateMask=recaptchaConfig",
        ["recaptchaConfig": ["emailPasswordEnforcementState": "ENFORCE"]])
      let config = try await server.get(
        "/v2/recaptchaConfig?clientType=CLIENT_TYPE_WEB&version=RECAPTCHA_ENTERPRISE", .key)
      let states = config["recaptchaEnforcementState"]?.arrayValue ?? []
      #expect(states.count == 2 && states.allSatisfy { $0["enforcementState"] == "OFF" })
      let parameters = try await server.get("/v1/recaptchaParams", .key)
      #expect(parameters["kind"] == "identitytoolkit#GetRecaptchaParamResponse")
      #expect(parameters["recaptchaSiteKey"]?.stringValue?.isEmpty == false)
      let project = try await server.identity.pools.find(project: ID(TestServer.project))
      #expect(parameters["producerProjectNumber"] == .string("\(project.projectNumber)"))
    }
  }
}
