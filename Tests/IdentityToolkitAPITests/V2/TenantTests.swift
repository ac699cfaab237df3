import HTTP
import Identity
import JSON
import Testing

struct TenantTests {
  static let tenants = "/v2/projects/acme-mfa/tenants"

  @Test func `a tenant can be created, read, listed, and deleted`() async throws {
    try await TestServer.with { server in
      let created = try await server.post(
        Self.tenants, ["displayName": "globex", "allowPasswordSignup": true], .owner)
      #expect(created.status == 200)
      let name = try created.text("name")
      let id = try #require(name.split(separator: "/").last.map(String.init))
      let number = try await server.get("/v1/projects", .key).text("projectId")
      #expect(name == "projects/\(number)/tenants/\(id)")
      #expect(id.wholeMatch(of: /globex-[a-z0-9]{5}/) != nil)
      #expect(
        created.json
          == (try json(
            """
            {"name": "\(name)", "displayName": "globex", "allowPasswordSignup": true,
             "inheritance": {}}
            """)))
      #expect(try await server.get("\(Self.tenants)/\(id)").json == created.json)
      #expect(
        try await server.get("/admin/v2/projects/acme-mfa/tenants/\(id)").json == created.json)
      #expect(try await server.get(Self.tenants)["tenants"] == [created.json])
      let deleted = try await server.delete("\(Self.tenants)/\(id)")
      #expect(deleted.status == 200)
      #expect(deleted.json == [:])
      #expect(try await server.get(Self.tenants).json == [:])
    }
  }

  @Test(arguments: [Profile.standalone, .emulator])
  func `the name of a resource is accepted as its address`(profile: Profile) async throws {
    try await TestServer.with(profile) { server in
      let config = try await server.get(TestServer.config).text("name")
      let number = try #require(config.split(separator: "/").dropFirst().first.map(String.init))
      let project = try await server.get("/v2/\(config)")
      #expect(project.status == 200 && project["name"]?.stringValue == config)
      let written = try await server.patch(
        "/v2/\(config)?updateMask=authorizedDomains", ["authorizedDomains": ["shop.example"]])
      #expect(written["authorizedDomains"] == ["shop.example"])

      let tenant = try await server.post(
        "/v2/projects/\(number)/tenants", ["displayName": "globex"], .owner
      ).text("name")
      let provider = try await server.post(
        "/v2/\(tenant)/oauthIdpConfigs?oauthIdpConfigId=oidc.acme",
        ["displayName": "Acme", "clientId": "client", "issuer": "https://oidc.example"], .owner
      ).text("name")
      #expect(provider == "\(tenant)/oauthIdpConfigs/oidc.acme")
      for name in [provider, tenant] {
        let changed = try await server.patch(
          "/v2/\(name)?updateMask=displayName", ["displayName": "renamed"])
        #expect(changed["displayName"] == "renamed")
        #expect(try await server.get("/v2/\(name)").json == changed.json)
        #expect(try await server.delete("/v2/\(name)").json == [:])
        #expect(try await server.get("/v2/\(name)").status == 404)
      }
      // The emulator profile adds no project whose ID is the number.
      await #expect(throws: PoolLookupError.self) {
        _ = try await server.identity.pools.existing(project: ID(number))
      }
    }
  }

  @Test func `a tenant can be created with templates of its emails`() async throws {
    try await TestServer.with { server in
      let template: JSON = ["resetPasswordTemplate": ["subject": "Choose a password"]]
      let created = try await server.post(
        Self.tenants, ["displayName": "globex", "notification": ["sendEmail": template]], .owner)
      #expect(created.status == 200)
      let id = try #require(try created.text("name").split(separator: "/").last.map(String.init))
      let read = try await server.get("\(Self.tenants)/\(id)")
      #expect(
        read["notification"]?["sendEmail"]?["resetPasswordTemplate"]?["subject"]
          == "Choose a password")
    }
  }

  @Test(arguments: [Method.get, .patch, .delete])
  func `unknown and deleted tenants respond 404`(method: Method) async throws {
    try await TestServer.with { server in
      let deleted = try await server.addTenant()
      _ = try await server.delete("\(Self.tenants)/\(deleted)")
      for id in ["never-12345", deleted] {
        let answer = try await server.call(
          method, "\(Self.tenants)/\(id)", text: "{}", .owner)
        #expect(answer.status == 404)
        #expect(
          answer["error"] == ["code": 404, "message": "TENANT_NOT_FOUND", "status": "NOT_FOUND"])
      }
    }
  }

  @Test(arguments: [
    (nil, "MISSING_DISPLAY_NAME : Missing tenant with valid display_name."),
    ("", "MISSING_DISPLAY_NAME : Missing tenant with valid display_name."),
    ("abc", invalid), ("1abcd", invalid), ("has space", invalid), ("under_score", invalid),
    ("a-name-with-21-letters", invalid),
  ])
  func `a tenant name has 4 to 20 letters, digits, and hyphens`(name: String?, error: String)
    async throws
  {
    try await TestServer.with { server in
      let body: JSON = name.map { ["displayName": .string($0)] } ?? [:]
      #expect(try await server.post(Self.tenants, body, .owner).error == error)
      let id = try await server.addTenant()
      let renamed = try await server.patch("\(Self.tenants)/\(id)?updateMask=displayName", body)
      #expect(renamed.error == error)
    }
  }

  private static let invalid =
    "INVALID_DISPLAY_NAME : display_name should start with a letter and only consist of letters, "
    + "digits and hyphens with 4-20 characters."

  @Test func `the documented call enables TOTP for a tenant`() async throws {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      let answer = try await server.patch(
        "\(Self.tenants)/\(id)?updateMask=mfaConfig",
        [
          "mfaConfig": ["providerConfigs": [["totpProviderConfig": ["adjacentIntervals": 5]]]]
        ])
      #expect(
        answer["mfaConfig"]
          == (try json(
            """
            {"state": "DISABLED", "providerConfigs": [
              {"state": "MFA_STATE_UNSPECIFIED", "totpProviderConfig": {"adjacentIntervals": 5}}]}
            """)))
      #expect(answer["allowPasswordSignup"] == true)
      let pool = try await server.identity.pools.find(
        project: ID(TestServer.project), tenant: ID(id))
      #expect(try await server.identity.policies.read(pool).configuration.isTOTPOn)
    }
  }

  @Test func `a tenant inherits nothing from its project`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let id = try await server.addTenant()
      #expect(try await server.get("\(Self.tenants)/\(id)")["mfaConfig"] == nil)
      let alice = try await server.addPerson(tenant: id)
      let session = try await server.signIn(alice, tenant: id)
      let start = try await server.post(
        "/v2/accounts/mfaEnrollment:start",
        ["idToken": session["idToken"] ?? nil, "totpEnrollmentInfo": [:]])
      #expect(start.error == "OPERATION_NOT_ALLOWED : TOTP based MFA not enabled.")
    }
  }

  @Test func `the Go SDK's mask changes exactly the members it names`() async throws {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      let path =
        "\(Self.tenants)/\(id)?updateMask=allowPasswordSignup,displayName,enableAnonymousUser,"
        + "enableEmailLinkSignin,mfaConfig"
      let answer = try await server.patch(
        path,
        [
          "displayName": "renamed", "enableAnonymousUser": true, "disableAuth": true,
          "mfaConfig": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]],
        ])
      var json = try #require(answer.json.objectValue)
      json["name"] = nil
      #expect(
        JSON.object(json) == [
          "displayName": "renamed", "enableAnonymousUser": true, "inheritance": [:],
          "mfaConfig": ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]],
        ])
    }
  }

  @Test func `without a mask, the whole tenant is replaced`() async throws {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      let path = "\(Self.tenants)/\(id)"
      let missing = try await server.patch(path, ["enableAnonymousUser": true])
      #expect(missing.error == "MISSING_DISPLAY_NAME : Missing tenant with valid display_name.")
      let answer = try await server.patch(
        path, ["displayName": "renamed", "enableAnonymousUser": true])
      #expect(answer["allowPasswordSignup"] == nil)
      #expect(answer["enableAnonymousUser"] == true)
    }
  }

  @Test func `in the emulator profile, a tenant without a name is changed like any other`()
    async throws
  {
    try await TestServer.with(.emulator) { server in
      let tenant = "/v2/" + (try await server.post(Self.tenants, [:], .owner).text("name"))
      let mfa: JSON = ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]]
      let changed = try await server.patch("\(tenant)?updateMask=mfaConfig", ["mfaConfig": mfa])
      #expect(changed.status == 200 && changed["mfaConfig"] == mfa, "\(changed.json)")
      #expect(changed["displayName"] == nil)
      let replaced = try await server.patch(tenant, ["enableAnonymousUser": true])
      #expect(replaced.status == 200 && replaced["enableAnonymousUser"] == true)
    }
  }

  @Test func `POST with an override is handled as that method, and with no other name`()
    async throws
  {
    try await TestServer.with { server in
      let tenant = "\(Self.tenants)/\(try await server.addTenant())"
      let provider = "\(tenant)/oauthIdpConfigs/oidc.acme"
      _ = try await server.post(
        "\(tenant)/oauthIdpConfigs?oauthIdpConfigId=oidc.acme",
        ["clientId": "client", "issuer": "https://oidc.example"], .owner)
      let policy = Credential.bearer(try await server.token(.policy))
      func override(
        _ path: String, with value: String?, _ credential: Credential = .owner
      ) async throws -> Answer {
        let fields: Fields = value.map { ["X-HTTP-Method-Override": $0] } ?? [:]
        return try await server.call(
          .post, path + "?updateMask=displayName", text: #"{"displayName":"renamed"}"#, credential,
          fields: fields)
      }
      for path in [tenant, "/admin\(tenant)", provider] {
        let before = try await server.get(path)
        for value in [nil, "patch", "PATCH, DELETE", "", "POST", "OPTIONS", "PUT"] {
          #expect(try await override(path, with: value).status == 405)
        }
        #expect(try await server.get(path).json == before.json)
        #expect(try await override(path, with: "GET").json == before.json)
        for value in ["PATCH", "DELETE", "GET"] {
          #expect(try await override(path, with: value, .none).status == 401)
        }
        let changed = try await override(path, with: "PATCH")
        #expect(changed.status == 200 && changed["displayName"] == "renamed")
        #expect(try await server.get(path).json == changed.json)
      }
      // The permission is that of PATCH.
      #expect(try await override(tenant, with: "PATCH", policy).status == 200)
      #expect(try await override(provider, with: "PATCH", policy).status == 403)
      // Only POST is overridden.
      let read = try await server.call(
        .get, tenant, text: "", .owner, fields: ["X-HTTP-Method-Override": "DELETE"])
      #expect(read.status == 200 && read["displayName"] == "renamed")
      let lookup = try await server.call(
        .post, TestServer.accounts + ":lookup", text: #"{"localId":["x"]}"#, .owner,
        fields: ["X-HTTP-Method-Override": "PATCH"])
      #expect(lookup.status == 405)
      #expect(try await override(provider, with: "DELETE", policy).status == 403)
      #expect(try await override(provider, with: "DELETE").status == 200)
      #expect(try await server.get(provider).status == 404)
    }
  }

  @Test func `an empty mask with an empty body changes nothing`() async throws {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      let before = try await server.get("\(Self.tenants)/\(id)")
      let answer = try await server.patch("\(Self.tenants)/\(id)?updateMask=", [:])
      #expect(answer.status == 200)
      #expect(answer.json == before.json)
    }
  }

  @Test func `members without effect are stored and returned`() async throws {
    try await TestServer.with { server in
      let members: JSON.Object = [
        "testPhoneNumbers": ["+16505550100": "123456"],
        "monitoring": ["requestLogging": ["enabled": true]],
        "smsRegionConfig": ["allowByDefault": [:]],
        "inheritance": ["emailSendingConfig": true],
      ]
      var body = members
      body["displayName"] = "globex"
      body["hashConfig"] = ["algorithm": "SCRYPT"]
      let answer = try await server.post(Self.tenants, .object(body), .owner)
      for (name, value) in members { #expect(answer.json[name] == value) }
      #expect(answer["hashConfig"] == nil)
      body["unknown"] = 1
      let refused = try await server.post(Self.tenants, .object(body), .owner)
      #expect(
        refused.error
          == "Invalid JSON payload received. Unknown name \"unknown\" at 'tenant': Cannot find field."
      )
    }
  }

  @Test func `the tenant list is paged`() async throws {
    try await TestServer.with { server in
      for name in ["alpha", "beta", "gamma"] { _ = try await server.addTenant(name) }
      let first = try await server.get(Self.tenants + "?pageSize=2")
      #expect(first["tenants"]?.arrayValue?.map { $0["displayName"] } == ["alpha", "beta"])
      let token = try first.text("nextPageToken")
      let second = try await server.get(Self.tenants + "?page_size=2&pageToken=\(token)")
      #expect(second["tenants"]?.arrayValue?.map { $0["displayName"] } == ["gamma"])
      #expect(second["nextPageToken"] == nil)
      let full = try await server.get(Self.tenants + "?pageSize=3")
      let end = try full.text("nextPageToken")
      #expect(end.hasPrefix("gamma-"))
      #expect(try await server.get(Self.tenants + "?pageToken=\(end)").json == [:])
      let all = try await server.get(Self.tenants + "?pageSize=-1")
      #expect(all["tenants"]?.arrayValue?.count == 3)
      let wrong = try await server.get(Self.tenants + "?pageSize=many")
      #expect(wrong.error == #"Invalid value at 'page_size' (TYPE_INT32), "many""#)
    }
  }

  @Test func `a page token is the ID of a tenant of the project, which may have been deleted`()
    async throws
  {
    try await TestServer.with { server in
      for name in ["alpha", "beta", "gamma"] { _ = try await server.addTenant(name) }
      _ = try await server.identity.pools.createProject(
        id: "other-mfa", displayName: "Other", by: .program(Author(actor: .commandLine)))
      let foreign = try await server.identity.pools.createTenant(
        in: ID("other-mfa"), PoolEdit(displayName: "aaaa"),
        by: .program(Author(actor: .commandLine))
      ).value
      for token in ["!", "not-a-token", "alpha", foreign.pool.objectID] {
        let answer = try await server.get(Self.tenants + "?pageToken=\(token)")
        #expect(answer.status == 200 && answer.json == [:], "\(token)")
      }
      let token = try await server.get(Self.tenants + "?pageSize=1").text("nextPageToken")
      #expect(token.hasPrefix("alpha-"))
      #expect(try await server.delete("\(Self.tenants)/\(token)").status == 200)
      let rest = try await server.get(Self.tenants + "?pageToken=\(token)")
      #expect(rest["tenants"]?.arrayValue?.map { $0["displayName"] } == ["beta", "gamma"])
    }
  }

  @Test func `a project with tenants disabled refuses all tenant calls`() async throws {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      _ = try await server.patch(TestServer.config + "?updateMask=multiTenant", [:])
      for answer in [
        try await server.post(Self.tenants, ["displayName": "globex"], .owner),
        try await server.get(Self.tenants), try await server.get("\(Self.tenants)/\(id)"),
        try await server.get("\(Self.tenants)/none"),
        try await server.patch("\(Self.tenants)/\(id)?updateMask=disableAuth", [:]),
      ] {
        #expect(answer.status == 400 && answer.error == "INVALID_PROJECT_ID")
      }
    }
  }

  @Test func `user calls distinguish unknown tenants from deleted ones`()
    async throws
  {
    try await TestServer.with { server in
      let deleted = try await server.addTenant()
      _ = try await server.delete("\(Self.tenants)/\(deleted)")
      for (id, error) in [("never-12345", "INVALID_TENANT_ID"), (deleted, "TENANT_DELETED")] {
        let client = try await server.post(
          "/v1/accounts:signInWithPassword",
          ["email": "a@example.com", "password": "secret", "tenantId": .string(id)])
        #expect(client.error == error)
        #expect(client.status == 400)
        let admin = try await server.post(
          "/v1/projects/acme-mfa/tenants/\(id)/accounts:lookup", ["localId": ["x"]], .owner)
        #expect(admin.error == error)
      }
    }
  }
}
