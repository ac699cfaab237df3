import HTTP
import Identity
import JSON
import Testing
import Text

/// Writing back what was read changes nothing, whatever is stored and for every writer.
struct ConfigRoundTripTests {
  struct Written: Sendable, CustomTestStringConvertible {
    let isTenant: Bool
    let members: String
    var testDescription: String { (isTenant ? "tenant " : "project ") + members }
  }

  private static let shared = [
    #"{}"#, #"{"monitoring":{"requestLogging":{"enabled":false}}}"#,
    #"{"smsRegionConfig":{"allowlistOnly":{"allowedRegions":[]}}}"#,
    #"{"smsRegionConfig":{"allowByDefault":{}}}"#, #"{"client":{}}"#,
    #"{"client":{"permissions":{"disabledUserSignup":true,"disabledUserDeletion":false}}}"#,
    #"{"emailPrivacyConfig":{}}"#, #"{"emailPrivacyConfig":{"enableImprovedEmailPrivacy":false}}"#,
    #"{"mobileLinksConfig":{"domain":"DOMAIN_UNSPECIFIED"}}"#,
    #"{"recaptchaConfig":{"managedRules":[{"endScore":0,"action":"BLOCK"}]}}"#,
    #"{"passwordPolicyConfig":{"passwordPolicyEnforcementState":"OFF"}}"#,
    #"{"notification":{"sendEmail":{"resetPasswordTemplate":{"subject":"S","customized":false}}}}"#,
    #"{"notification":{"sendEmail":{}}}"#,
  ]

  static let cases =
    shared.flatMap {
      [Written(isTenant: false, members: $0), Written(isTenant: true, members: $0)]
    }
    + [
      #"{"signIn":{"email":{"enabled":true,"passwordRequired":false},"phoneNumber":{}}}"#,
      #"{"signIn":{"phoneNumber":{"enabled":true,"testPhoneNumbers":{"+16505550100":"123456"}}}}"#,
      #"{"signIn":{"phoneNumber":{"enabled":false,"testPhoneNumbers":{}}}}"#,
      #"{"notification":{"sendEmail":{"smtp":{"host":"h","port":0},"callbackUri":""}}}"#,
      #"{"notification":{"sendSms":{"smsTemplate":{"content":"x"}},"defaultLocale":""}}"#,
      #"{"multiTenant":{"allowTenants":true,"defaultTenantLocation":""}}"#,
      #"{"quota":{"signUpQuotaConfig":{"quota":"0"}},"autodeleteAnonymousUsers":true}"#,
      #"{"mfa":{}}"#, #"{"mfa":{"providerConfigs":[{"totpProviderConfig":{}}]}}"#,
      #"{"mfa":{"state":"MANDATORY","enabledProviders":["PHONE_SMS"]}}"#,
    ].map { Written(isTenant: false, members: $0) }
    + [
      #"{"inheritance":{}}"#, #"{"inheritance":{"emailSendingConfig":false}}"#,
      #"{"inheritance":{"emailSendingConfig":true}}"#,
      #"{"testPhoneNumbers":{"+16505550100":"123456"}}"#, #"{"autodeleteAnonymousUsers":true}"#,
      #"{"mfaConfig":{"providerConfigs":[{"totpProviderConfig":{}}]}}"#,
      #"{"mfaConfig":{"state":"DISABLED"}}"#,
    ].map { Written(isTenant: true, members: $0) }

  /// Writes back a configuration as a whole, and each member of it, with and without a mask.
  private func writeBack(_ path: String, _ credential: Credential, _ server: TestServer)
    async throws
  {
    let read = try await server.get(path, credential)
    let whole = try await server.get(path)
    let rows = try await server.identity.audit.list(limit: 1_000).items.count
    let body = try #require(read.json.objectValue)
    let names = body.names.map(\.text)
    for mask in [nil, names.joined(separator: ",")] + names {
      let query = mask.map { "?updateMask=\($0)" } ?? ""
      let answer = try await server.patch(path + query, read.json, credential)
      #expect(answer.status == 200 && answer.json == read.json, "\(mask ?? "no mask")")
      let log = try await server.identity.audit.list(limit: 1_000).items
      #expect(log.count == rows, "\(mask ?? "no mask"): \(log.first?.changes ?? [])")
    }
    #expect(try await server.get(path).json == whole.json)
  }

  @Test(arguments: cases)
  func `writing back a configuration isn't a change`(_ written: Written) async throws {
    try await TestServer.with { server in
      let tenant = try await server.addTenant()
      let path =
        written.isTenant ? "\(TenantTests.tenants)/\(tenant)" : TestServer.config
      let body = try json(written.members)
      let mask = (body.objectValue ?? [:]).names.map(\.text).joined(separator: ",")
      if !mask.isEmpty {
        #expect(try await server.patch(path + "?updateMask=\(mask)", body).status == 200)
      }
      try await writeBack(path, .owner, server)
      try await writeBack(path, .bearer(try await server.token(.policy)), server)
    }
  }

  @Test func `what an earlier version stored can be written back and changed in part`()
    async throws
  {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      let template = #"{"subject":"S","body":"","customized":false}"#
      let stored = [
        nil: """
        {"signIn":{"email":{"enabled":true,"passwordRequired":true},"anonymous":{"enabled":true},\
        "allowDuplicateEmails":false,"phoneNumber":{"enabled":false}},"emailPrivacyConfig":\
        {"enableImprovedEmailPrivacy":true},"multiTenant":{"allowTenants":true},"client":{},\
        "authorizedDomains":["localhost"],"monitoring":{"requestLogging":{"enabled":false}},\
        "notification":{"sendEmail":{"smtp":{"host":"h","port":0},"callbackUri":"",\
        "resetPasswordTemplate":\(template)}},"mobileLinksConfig":{"domain":"DOMAIN_UNSPECIFIED"}}
        """,
        id: """
        {"inheritance":{"emailSendingConfig":false},"client":{"permissions":{}},\
        "smsRegionConfig":{"allowlistOnly":{"allowedRegions":[]}},"testPhoneNumbers":{},\
        "notification":{"sendEmail":{"resetPasswordTemplate":\(template)}}}
        """,
      ]
      for (tenant, text) in stored {
        _ = try await server.identity.pools.update(
          project: ID(TestServer.project), tenant: tenant.map { ID($0) },
          by: .program(Author(actor: .commandLine))
        ) { $0.members = text }
        let policy = Credential.bearer(try await server.token(.policy))
        let path = tenant.map { "\(TenantTests.tenants)/\($0)" } ?? TestServer.config
        try await writeBack(path, .owner, server)
        try await writeBack(path, policy, server)
        let settings = try await server.identity.pools.existingSettings(
          project: ID(TestServer.project), tenant: tenant.map { ID($0) })
        #expect(settings.members == text)
        let change = try await server.patch(
          path + "?updateMask=monitoring", ["monitoring": ["requestLogging": ["enabled": true]]],
          policy)
        #expect(change.status == 200, "\(change.json)")
        try await writeBack(path, policy, server)
      }
    }
  }

  @Test func `a tenant's own email enumeration protection survives, and can be removed`()
    async throws
  {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      let path = "\(TenantTests.tenants)/\(id)"
      func setting() async throws -> Bool? {
        try await server.identity.pools.existingSettings(
          project: ID(TestServer.project), tenant: ID(id)
        ).edit
          .emailPrivacy
      }
      let mask = path + "?updateMask=emailPrivacyConfig"
      let off: JSON = ["emailPrivacyConfig": ["enableImprovedEmailPrivacy": false]]
      _ = try await server.patch(mask, ["emailPrivacyConfig": [:]])
      #expect(try await setting() == nil)
      _ = try await server.patch(mask, off)
      #expect(try await setting() == false)
      let read = try await server.get(path)
      #expect(read["emailPrivacyConfig"] == [:])
      _ = try await server.patch(path, read.json)
      #expect(try await setting() == false)
      _ = try await server.patch(mask, [:])
      #expect(try await setting() == nil)
    }
  }

  @Test func `a change of other settings doesn't enable password sign-in`() async throws {
    try await TestServer.with { server in
      let linkOnly = SignInMethods(password: false, emailLink: true, anonymous: false)
      func methods() async throws -> SignInMethods {
        let settings = try await server.identity.pools.existingSettings(
          project: ID(TestServer.project))
        return settings.signIn
      }
      _ = try await server.identity.pools.update(
        project: ID(TestServer.project), by: .program(Author(actor: .commandLine))
      ) { $0.signIn = linkOnly }
      let read = try await server.get(TestServer.config)
      for query in ["", "?updateMask=signIn", "?updateMask=emailPrivacyConfig"] {
        #expect(try await server.patch(TestServer.config + query, read.json).status == 200)
        #expect(try await methods() == linkOnly)
      }
      _ = try await server.patch(
        TestServer.config + "?updateMask=signIn.email.passwordRequired",
        ["signIn": ["email": ["passwordRequired": true]]])
      #expect(
        try await methods() == SignInMethods(password: true, emailLink: false, anonymous: false))
    }
  }

  @Test func `writing back a state that was never set keeps the policy's version`() async throws {
    try await TestServer.with { server in
      let pool = try await server.identity.pools.find(project: ID(TestServer.project))
      try await server.switchTOTPOn()
      let policy = try await server.identity.policies.read(pool)
      #expect(policy.configuration.state == nil)
      let read = try await server.get(TestServer.config)
      #expect(read["mfa"]?["state"] == "DISABLED")
      for mask in ["mfa", "mfa.state"] {
        _ = try await server.patch(TestServer.config + "?updateMask=\(mask)", read.json)
        let later = try await server.identity.policies.read(pool)
        #expect(later.version == policy.version && later.configuration == policy.configuration)
      }
      // A tenant without a configuration returns none, so a state that is written is new.
      let id = try await server.addTenant()
      let answer = try await server.patch(
        "\(TenantTests.tenants)/\(id)?updateMask=mfaConfig.state",
        ["mfaConfig": ["state": "DISABLED"]])
      #expect(answer["mfaConfig"] == ["state": "DISABLED"])
    }
  }

  @Test func `a mask of every member is none`() async throws {
    try await TestServer.with { server in
      let tenant = "\(TenantTests.tenants)/\(try await server.addTenant())"
      let provider = "/v2/projects/acme-mfa/oauthIdpConfigs"
      let created = try await server.post(
        provider + "?oauthIdpConfigId=oidc.a",
        [
          "clientId": "c", "issuer": "https://login.example.com", "displayName": "A",
          "responseType": ["idToken": true],
        ], .owner)
      #expect(created.status == 200, "\(created.json)")
      let cases: [(String, JSON)] = [
        (TestServer.config, ["monitoring": ["requestLogging": ["enabled": true]]]),
        (tenant, ["displayName": "renamed", "enableAnonymousUser": true]),
        (provider + "/oidc.a", ["displayName": "B"]),
      ]
      for (path, body) in cases {
        let before = try await server.get(path)
        let star = try await server.patch(path + "?updateMask=*", body)
        #expect(star.status == 200 && star.json != before.json, "\(path)")
        #expect(try await server.patch(path, body).json == star.json, "\(path)")
        let encoded = try await server.patch(path + "?update_mask=%2A", body)
        #expect(encoded.json == star.json, "\(path)")
      }
    }
  }

  @Test func `the paths of a mask can be in several parameters`() async throws {
    try await TestServer.with { server in
      let body: JSON = [
        "monitoring": ["requestLogging": ["enabled": true]], "defaultHostingSite": "site",
      ]
      let answer = try await server.patch(
        TestServer.config + "?updateMask=monitoring&updateMask=&update_mask=defaultHostingSite",
        body)
      #expect(answer["monitoring"] == ["requestLogging": ["enabled": true]])
      #expect(answer["defaultHostingSite"] == "site")
      let id = try await server.addTenant()
      let tenant = try await server.patch(
        "\(TenantTests.tenants)/\(id)?updateMask=displayName&updateMask=enableAnonymousUser",
        ["displayName": "renamed", "enableAnonymousUser": true])
      #expect(tenant["displayName"] == "renamed" && tenant["enableAnonymousUser"] == true)
      #expect(tenant["allowPasswordSignup"] == true)
    }
  }
}
