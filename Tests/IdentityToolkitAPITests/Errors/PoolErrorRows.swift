import Identity
import JSON
import Testing

extension ErrorRow {
  /// Errors of projects and tenants.
  static let pool: [ErrorRow] = [
    ErrorRow("TENANT_ID_MISMATCH") { server in
      let (_, token) = try await server.session()
      let tenant = try await server.addTenant()
      return try await server.post(lookup, ["idToken": token, "tenantId": .string(tenant)])
    },
    ErrorRow("INVALID_TENANT_ID") { server in
      try await server.post(
        signIn,
        ["email": "a@example.com", "password": "swordfish", "tenantId": "never-was"])
    },
    ErrorRow("TENANT_NOT_FOUND", status: 404) { server in
      try await server.get(tenants + "/never-was")
    },
    ErrorRow("UNSUPPORTED_TENANT_OPERATION") { server in
      let tenant = try await server.addTenant()
      return try await server.post(
        "/v1/accounts:sendVerificationCode",
        ["phoneNumber": "+15551230001", "tenantId": .string(tenant)])
    },
    ErrorRow("INVALID_PROJECT_ID") { server in
      let alice = try await server.waiting()
      _ = try await server.identity.pools.createProject(
        id: "another-one", displayName: "Another", by: .program(Author(actor: .commandLine)))
      let keys = try await server.identity.apiKeys.list(ID("another-one"))
      let key = try #require(keys.first?.text)
      return try await server.post(
        finalizeSecond + "?key=\(key)",
        [
          "mfaPendingCredential": alice.pending,
          "mfaEnrollmentId": .string(alice.enrolled.id),
          "totpVerificationInfo": ["verificationCode": "000000"],
        ], .none)
    },
    ErrorRow("CONFIGURATION_NOT_FOUND", status: 404) { server in
      try await server.get("/v2/projects/acme-mfa/oauthIdpConfigs/oidc.none")
    },
    ErrorRow("INVALID_PAGE_SELECTION") { server in
      try await server.post(TestServer.accounts + ":query", ["offset": "-1"], .owner)
    },
    ErrorRow("INVALID_DISPLAY_NAME") { server in
      try await server.post(tenants, ["displayName": "1"], .owner)
    },
    ErrorRow("INVALID_CONFIG") { server in
      try await server.patch(
        TestServer.config + "?updateMask=passwordPolicyConfig",
        ["passwordPolicyConfig": ["passwordPolicyEnforcementState": "ENFORCE"]])
    },
    ErrorRow("INVALID_AUTHORIZED_DOMAIN") { server in
      try await server.patch(
        TestServer.config + "?updateMask=authorizedDomains", ["authorizedDomains": ["a b"]])
    },
    ErrorRow("INVALID_REGION_CODE") { server in
      try await server.patch(
        TestServer.config, ["smsRegionConfig": ["allowlistOnly": ["allowedRegions": ["ZZ"]]]])
    },
    ErrorRow("INVALID_HOSTING_LINK_DOMAIN") { server in
      let alice = try await server.addPerson()
      return try await server.post(
        "/v1/accounts:sendOobCode",
        [
          "requestType": "PASSWORD_RESET", "email": .string(alice.email),
          "linkDomain": "evil.example",
        ])
    },
    ErrorRow("TENANT_DISABLED") { server in
      let tenant = try await server.addTenant()
      let alice = try await server.addPerson(tenant: tenant)
      _ = try await server.patch(
        "\(tenants)/\(tenant)?updateMask=disableAuth", ["disableAuth": true])
      return try await server.signIn(alice, tenant: tenant)
    },
    ErrorRow("PROJECT_DISABLED") { server in
      let alice = try await server.addPerson()
      _ = try await server.identity.pools.update(
        project: ID(TestServer.project), by: .program(Author(actor: .commandLine))
      ) { (project) throws(PoolError) in project.disableAuth = true }
      return try await server.signIn(alice)
    },
  ]
}
