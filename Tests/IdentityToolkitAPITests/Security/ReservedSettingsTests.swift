import HTTP
import Identity
import JSON
import Testing

/// What a token that can change configurations, but no users, can't read and change in them.
struct ReservedSettingsTests {
  private static let numbers: JSON = ["+16505550100": "135790"]

  /// A configuration with a test number, and the path of its test numbers.
  private static let places: [(isTenant: Bool, mask: String, body: JSON)] = [
    (
      false, "signIn.phoneNumber.testPhoneNumbers",
      ["signIn": ["phoneNumber": ["testPhoneNumbers": numbers]]]
    ),
    (true, "testPhoneNumbers", ["testPhoneNumbers": numbers]),
  ]

  @Test(arguments: [0, 1])
  func `a policy token can't change test phone numbers, which sign in as their users`(place: Int)
    async throws
  {
    try await TestServer.with { server in
      let (isTenant, mask, body) = Self.places[place]
      let id = try await server.addTenant()
      let path = isTenant ? "\(TenantTests.tenants)/\(id)" : TestServer.config
      let policy = Credential.bearer(try await server.token(.policy))
      let root = try #require(mask.split(separator: ".").first)
      for query in ["", "?updateMask=\(mask)", "?updateMask=\(root)"] {
        var body = try #require(body.objectValue)
        if isTenant { body["displayName"] = "globex" }
        let answer = try await server.patch(path + query, .object(body), policy)
        #expect(answer.status == 403, "\(query)")
      }
      #expect(try await server.patch(path + "?updateMask=\(mask)", body).status == 200)
      for (body, query) in [([:], "?updateMask=\(mask)"), (body, "?updateMask=\(mask)")]
        as [(JSON, String)]
      {
        // Clearing them is a change, and so is writing them, unless they're the same.
        let answer = try await server.patch(path + query, body, policy)
        #expect(answer.status == (body == [:] ? 403 : 200))
      }
    }
  }

  @Test(arguments: [0, 1])
  func `only tokens that can change test phone numbers see them, and others keep them`(place: Int)
    async throws
  {
    try await TestServer.with { server in
      let (isTenant, mask, body) = Self.places[place]
      let id = try await server.addTenant()
      let path = isTenant ? "\(TenantTests.tenants)/\(id)" : TestServer.config
      #expect(try await server.patch(path + "?updateMask=\(mask)", body).status == 200)
      func shows(_ answer: Answer) -> Bool {
        String(decoding: answer.response.body.bytes, as: UTF8.self).contains("135790")
      }
      for role in [ServiceTokenRole.owner, .policy, .auditor] {
        let token = Credential.bearer(try await server.token(role))
        for path in [path, TenantTests.tenants] where isTenant || path == TestServer.config {
          let answer = try await server.get(path, token)
          #expect(answer.status == 200 && shows(answer) == (role == .owner), "\(role) \(path)")
        }
      }
      let policy = Credential.bearer(try await server.token(.policy))
      let read = try await server.get(path, policy)
      let root = try #require(mask.split(separator: ".").first)
      for query in isTenant ? [""] : ["", "?updateMask=\(root)"] {
        let answer = try await server.patch(path + query, read.json, policy)
        #expect(answer.json == read.json && !shows(answer))
        #expect(shows(try await server.get(path)))
      }
    }
  }

  @Test func `the API key is in the configuration for tokens that manage keys`() async throws {
    try await TestServer.with { server in
      for role in [ServiceTokenRole.owner, .policy, .auditor] {
        let token = Credential.bearer(try await server.token(role))
        let client = try await server.get(TestServer.config, token)["client"]
        #expect(client?["apiKey"]?.stringValue == (role == .owner ? server.key : nil))
        #expect(client?["firebaseSubdomain"] == "acme-mfa")
      }
    }
  }

  @Test(arguments: [
    #"{"notification":{"sendEmail":{"resetPasswordTemplate":{"senderDisplayName":"Bank"}}}}"#,
    #"{"mobileLinksConfig":{"domain":"HOSTING_DOMAIN"}}"#,
    #"{"inheritance":{"emailSendingConfig":true}}"#,
    #"{"testPhoneNumbers":{"+16505550100":"135790"}}"#,
  ])
  func `a policy token can't create a tenant with settings that it can't change`(members: String)
    async throws
  {
    try await TestServer.with { server in
      var body = try #require(try json(members).objectValue)
      body["displayName"] = "globex"
      let policy = Credential.bearer(try await server.token(.policy))
      #expect(try await server.post(TenantTests.tenants, .object(body), policy).status == 403)
      #expect(try await server.get(TenantTests.tenants).json == [:])
      #expect(try await server.post(TenantTests.tenants, .object(body), .owner).status == 200)
      let plain = try await server.post(TenantTests.tenants, ["displayName": "other"], policy)
      #expect(plain.status == 200)
    }
  }

  @Test func `a tenant can't be created with an invalid sender of emails`() async throws {
    try await TestServer.with { server in
      let template: JSON = ["resetPasswordTemplate": ["replyTo": "a,b"]]
      let answer = try await server.post(
        TenantTests.tenants, ["displayName": "globex", "notification": ["sendEmail": template]],
        .owner)
      #expect(answer.error == "INVALID_EMAIL_TEMPLATE : replyTo isn't an email address.")
    }
  }
}
