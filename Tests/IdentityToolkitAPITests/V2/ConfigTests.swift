import HTTP
import Identity
import JSON
import OTP
import Testing

/// A way to write a project's MFA configuration, and the configuration read afterward.
struct MFACase: CustomTestStringConvertible, Sendable {
  let written: String
  let read: String
  var mask = "mfa"
  var testDescription: String { "\(mask): \(written)" }
}

struct ConfigTests {
  @Test func `MFA is disabled in a new project`() async throws {
    try await TestServer.with { server in
      let config = try await server.get(TestServer.config)
      #expect(config["mfa"] == ["state": "DISABLED"])
      #expect(config["subtype"] == "IDENTITY_PLATFORM")
      let project = try await server.get("/v1/projects", .key)
      let number = try project.text("projectId")
      #expect(try config.text("name") == "projects/\(number)/config")
    }
  }

  @Test func `a new configuration has the default members`() async throws {
    try await TestServer.with { server in
      let config = try await server.get(TestServer.config)
      #expect(
        masked(config.json)
          == (try json(
            """
            {"name": "<name>", "subtype": "IDENTITY_PLATFORM",
             "signIn": {"email": {"enabled": true, "passwordRequired": true},
                        "anonymous": {"enabled": true}},
             "emailPrivacyConfig": {"enableImprovedEmailPrivacy": true},
             "multiTenant": {"allowTenants": true}, "authorizedDomains": ["localhost"],
             "client": {"apiKey": "<apiKey>", "permissions": {}, "firebaseSubdomain": "acme-mfa"},
             "mfa": {"state": "DISABLED"}}
            """)))
      let project = try await server.get("/v1/projects", .key)
      #expect(
        masked(project.json) == ["projectId": "<projectId>", "authorizedDomains": ["localhost"]])
    }
  }

  @Test func `initializeAuth succeeds each time and changes nothing`() async throws {
    try await TestServer.with { server in
      let config = try await server.get(TestServer.config)
      for body: JSON in [[:], ["ignored": true]] {
        let path = "/v2/projects/acme-mfa/identityPlatform:initializeAuth"
        let answer = try await server.post(path, body, .owner)
        #expect(answer.status == 200 && answer.json == [:], "\(answer.json)")
      }
      #expect(try await server.get(TestServer.config).json == config.json)
    }
  }

  @Test(arguments: ["5", "\"5\""])
  func `the documented call enables TOTP`(intervals: String) async throws {
    try await TestServer.with { server in
      let answer = try await server.call(
        .patch, "/admin/v2/projects/acme-mfa/config?updateMask=mfa",
        text: """
          {
            "mfa": {
              "providerConfigs": [{
                "state": "ENABLED",
                "totpProviderConfig": {
                  "adjacentIntervals": \(intervals)
                }
              }]
            }
          }
          """, .owner, fields: ["X-Goog-User-Project": "acme-mfa"])
      #expect(answer.status == 200)
      let expected = try json(
        """
        {"state": "DISABLED",
         "providerConfigs": [{"state": "ENABLED", "totpProviderConfig": {"adjacentIntervals": 5}}]}
        """)
      #expect(answer["mfa"] == expected)
      #expect(try await server.get(TestServer.config)["mfa"] == expected)
    }
  }

  @Test(arguments: [
    MFACase(
      written: #"{"providerConfigs":[{"state":"ENABLED","totpProviderConfig":{}}]}"#,
      read:
        #"{"state":"DISABLED","providerConfigs":[{"state":"ENABLED","totpProviderConfig":{}}]}"#),
    MFACase(
      written:
        #"{"providerConfigs":[{"state":"ENABLED","totpProviderConfig":{"adjacentIntervals":0}}]}"#,
      read:
        #"{"state":"DISABLED","providerConfigs":[{"state":"ENABLED","totpProviderConfig":{}}]}"#),
    MFACase(
      written:
        #"{"providerConfigs":[{"state":2,"totpProviderConfig":{"adjacentIntervals":"5.0"}}]}"#,
      read: """
        {"state":"DISABLED",
         "providerConfigs":[{"state":"ENABLED","totpProviderConfig":{"adjacentIntervals":5}}]}
        """),
    MFACase(
      written: """
        {"provider_configs":[{"state":"ENABLED","totp_provider_config":{"adjacent_intervals":1e1}}]}
        """,
      read: """
        {"state":"DISABLED",
         "providerConfigs":[{"state":"ENABLED","totpProviderConfig":{"adjacentIntervals":10}}]}
        """),
    MFACase(
      written: """
        {"providerConfigs":[{"state":"ENABLED","totpProviderConfig":{"adjacentIntervals":null}}]}
        """,
      read:
        #"{"state":"DISABLED","providerConfigs":[{"state":"ENABLED","totpProviderConfig":{}}]}"#),
    MFACase(
      written: #"{"providerConfigs":[{"totpProviderConfig":{"adjacentIntervals":5}}]}"#,
      read: """
        {"state":"DISABLED","providerConfigs":
          [{"state":"MFA_STATE_UNSPECIFIED","totpProviderConfig":{"adjacentIntervals":5}}]}
        """),
    MFACase(
      written: #"{"state":"ENABLED","providerConfigs":[{"state":"ENABLED"}]}"#,
      read: #"{"state":"ENABLED"}"#),
    MFACase(
      written: #"{"state":"DISABLED","enabledProviders":["PHONE_SMS"]}"#,
      read: #"{"state":"DISABLED","enabledProviders":["PHONE_SMS"]}"#),
    MFACase(written: #"{"state":"MANDATORY"}"#, read: #"{"state":"MANDATORY"}"#),
    MFACase(
      written: #"{"state":3,"enabledProviders":[1]}"#,
      read: """
        {"state":"MANDATORY","enabledProviders":["PHONE_SMS"]}
        """),
    MFACase(written: #"{"state":"STATE_UNSPECIFIED"}"#, read: #"{"state":"DISABLED"}"#),
    MFACase(written: "{}", read: #"{"state":"DISABLED"}"#),
    MFACase(written: "null", read: #"{"state":"DISABLED"}"#),
    MFACase(
      written: #"{"state":"ENABLED","providerConfigs":[{"totpProviderConfig":{}}]}"#,
      read: #"{"state":"ENABLED"}"#, mask: "mfa.state"),
    MFACase(
      written: #"{"state":"ENABLED","providerConfigs":[{"totpProviderConfig":{}}]}"#,
      read: """
        {"state":"DISABLED",
         "providerConfigs":[{"state":"MFA_STATE_UNSPECIFIED","totpProviderConfig":{}}]}
        """, mask: "mfa.provider_configs"),
    MFACase(
      written: #"{"state":"ENABLED","enabledProviders":["PHONE_SMS"]}"#,
      read: #"{"state":"ENABLED","enabledProviders":["PHONE_SMS"]}"#,
      mask: "mfa.state,mfa.enabledProviders,mfa.providerConfigs"),
    MFACase(
      written: #"{"state":"ENABLED"}"#, read: #"{"state":"DISABLED"}"#, mask: "mfa.nothing"),
    MFACase(
      written: #"{"state":"ENABLED"}"#, read: #"{"state":"DISABLED"}"#,
      mask: "signIn, mfa.state.x,,unknown"),
    MFACase(written: #"{"state":"ENABLED"}"#, read: #"{"state":"ENABLED"}"#, mask: ""),
  ])
  func `a configuration is read as written`(_ row: MFACase) async throws {
    try await TestServer.with { server in
      let answer = try await server.call(
        .patch, TestServer.config + "?updateMask=\(row.mask.replacing(" ", with: "%20"))",
        text: #"{"mfa":\#(row.written)}"#, .owner)
      #expect(answer.status == 200, "\(answer.json)")
      #expect(answer["mfa"] == (try json(row.read)))
      #expect(try await server.get(TestServer.config)["mfa"] == (try json(row.read)))
    }
  }

  @Test(
    arguments: [
      (
        #"{"providerConfigs":[{"totpProviderConfig":{"adjacentIntervals":11}}]}"#,
        "INVALID_ADJACENT_INTERVAL_RANGE : Allowed number of adjacent intervals must be between 0 and 10, inclusive",
        nil
      ),
      (
        #"{"providerConfigs":[{"totpProviderConfig":{"adjacentIntervals":-1}}]}"#,
        "INVALID_ADJACENT_INTERVAL_RANGE : Allowed number of adjacent intervals must be between 0 and 10, inclusive",
        nil
      ),
      (
        #"{"enabledProviders":["NOT_A_PROVIDER"]}"#,
        #"Invalid value at 'config.mfa.enabled_providers[0]' (type.googleapis.com/google.cloud.identitytoolkit.admin.v2.MultiFactorAuthConfig.Provider), "NOT_A_PROVIDER""#,
        "config.mfa.enabled_providers[0]"
      ),
      (
        #"{"state":"ON"}"#,
        #"Invalid value at 'config.mfa.state' (type.googleapis.com/google.cloud.identitytoolkit.admin.v2.MultiFactorAuthConfig.State), "ON""#,
        "config.mfa.state"
      ),
      (
        #"{"providerConfigs":[{"totpProviderConfig":{"adjacentIntervals":5.5}}]}"#,
        "Invalid value at 'config.mfa.provider_configs[0].totp_provider_config.adjacent_intervals' (TYPE_INT32), 5.5",
        "config.mfa.provider_configs[0].totp_provider_config.adjacent_intervals"
      ),
      (
        #"{"providerConfigs":[{"totpProviderConfig":{"adjacentIntervals":"NUM_ADJ_INTERVALS"}}]}"#,
        #"Invalid value at 'config.mfa.provider_configs[0].totp_provider_config.adjacent_intervals' (TYPE_INT32), "NUM_ADJ_INTERVALS""#,
        "config.mfa.provider_configs[0].totp_provider_config.adjacent_intervals"
      ),
      (
        #"{"providerConfigs":[{"totpProviderConfig":{"adjacentIntervals":{}}}]}"#,
        "Invalid value at 'config.mfa.provider_configs[0].totp_provider_config.adjacent_intervals' (TYPE_INT32), Starting an object on a scalar field",
        "config.mfa.provider_configs[0].totp_provider_config.adjacent_intervals"
      ),
      (
        #"{"providerConfigs":[{"totpProviderConfig":{"adjacentIntervals":[5]}}]}"#,
        "Invalid JSON payload received. Unknown name \"adjacent_intervals\" at 'config.mfa.provider_configs[0].totp_provider_config': Proto field is not repeating, cannot start list.",
        "config.mfa.provider_configs[0].totp_provider_config"
      ),
      (
        #"{"providerConfigs":[{"totpProviderConfig":{"adjacentIntervals":2147483648}}]}"#,
        "Invalid value at 'config.mfa.provider_configs[0].totp_provider_config.adjacent_intervals' (TYPE_INT32), 2147483648",
        "config.mfa.provider_configs[0].totp_provider_config.adjacent_intervals"
      ),
      (
        #"{"providerConfigs":[{"totpProviderConfig":{"adjacentInterval":5}}]}"#,
        "Invalid JSON payload received. Unknown name \"adjacentInterval\" at 'config.mfa.provider_configs[0].totp_provider_config': Cannot find field.",
        "config.mfa.provider_configs[0].totp_provider_config"
      ),
      (
        #"{"providerConfig":[]}"#,
        "Invalid JSON payload received. Unknown name \"providerConfig\" at 'config.mfa': Cannot find field.",
        "config.mfa"
      ),
      (
        #"{"providerConfigs":[{"totpProviderConfig":{}},{"totpProviderConfig":{}}]}"#,
        "INVALID_CONFIG : Only one TOTP provider config is allowed.", nil
      ),
      (
        #"{"providerConfigs":{"totpProviderConfig":{}}}"#,
        "Invalid value at 'config.mfa.provider_configs' (TYPE_LIST), Starting an object on a scalar field",
        "config.mfa.provider_configs"
      ),
    ] as [(String, String, String?)])
  func `an invalid configuration is refused and changes nothing`(
    written: String, message: String, field: String?
  ) async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn(adjacentIntervals: 3)
      let before = try await server.get(TestServer.config)
      let answer = try await server.call(
        .patch, TestServer.config + "?updateMask=mfa", text: #"{"mfa":\#(written)}"#, .owner)
      #expect(answer.status == 400)
      #expect(answer.error == message)
      #expect(answer["error"]?["status"] == "INVALID_ARGUMENT")
      #expect(answer["error"]?["errors"] == nil)
      let violation = answer["error"]?["details"]?.arrayValue?.first?["fieldViolations"]
      #expect(violation?.arrayValue?.first?["field"]?.stringValue == field)
      #expect(try await server.get(TestServer.config).json == before.json)
    }
  }

  @Test(
    arguments: [
      (TestServer.config, "mfa", "mfa"), (TestServer.config, "mfa", "mfa.providerConfigs"),
      (TestServer.config, "mfa", nil), (TenantTests.tenants, "mfaConfig", "mfaConfig"),
      (TenantTests.tenants, "mfaConfig", "mfaConfig.providerConfigs"),
      (TenantTests.tenants, "mfaConfig", nil),
    ] as [(String, String, String?)])
  func `writing back the configuration preserves a window of 0`(
    path: String, member: String, mask: String?
  ) async throws {
    try await TestServer.with { server in
      var path = path
      var tenant: String?
      if path == TenantTests.tenants {
        let created = try await server.post(
          path, ["displayName": "globex", "allowPasswordSignup": true], .owner)
        tenant = created["name"]?.stringValue?.split(separator: "/").last.map(String.init)
        path += "/" + (tenant ?? "")
      }
      let pool = try await server.identity.pools.existing(
        project: .init(TestServer.project), tenant: tenant.map { .init($0) })
      func intervals() async throws -> Int {
        try await server.identity.policies.read(pool).configuration.window.adjacentIntervals
      }
      func write(_ totp: JSON) async throws {
        var body: JSON.Object = [
          member: ["providerConfigs": [["state": "ENABLED", "totpProviderConfig": totp]]]
        ]
        if tenant != nil { body.append("displayName", "globex") }
        let query = mask.map { "?updateMask=\($0)" } ?? ""
        #expect(try await server.patch(path + query, .object(body)).status == 200)
      }
      try await write(["adjacentIntervals": 0])
      #expect(try await intervals() == 0)
      let read = try await server.get(path)[member]?["providerConfigs"]?.arrayValue?.first
      #expect(read?["totpProviderConfig"] == [:])
      try await write([:])
      #expect(try await intervals() == 0)
      try await write(["adjacentIntervals": .null])
      #expect(try await intervals() == 0)
      try await write(["adjacentIntervals": 5])
      try await write([:])
      #expect(try await intervals() == 5)
    }
  }

  @Test func `a full mask clears members that the body omits`() async throws {
    try await TestServer.with { server in
      _ = try await server.patch(
        TestServer.config + "?updateMask=mfa",
        ["mfa": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]]])
      try await server.switchTOTPOn()
      let config = try await server.get(TestServer.config)
      #expect(config["mfa"]?["state"] == "DISABLED")
      #expect(config["mfa"]?["enabledProviders"] == nil)
      let cleared = try await server.patch(TestServer.config + "?updateMask=mfa", [:])
      #expect(cleared["mfa"] == ["state": "DISABLED"])
    }
  }

  @Test func `an update of only the state, as by the Node SDK, preserves TOTP`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn(adjacentIntervals: 2)
      let answer = try await server.patch(
        TestServer.config + "?updateMask=mfa.state", ["mfa": ["state": "ENABLED"]])
      #expect(
        answer["mfa"]
          == (try json(
            """
            {"state": "ENABLED", "providerConfigs":
              [{"state": "ENABLED", "totpProviderConfig": {"adjacentIntervals": 2}}]}
            """)))
    }
  }
}
