import HTTP
import Identity
import JSON
import Testing

/// Checks that the REST API hides secrets from service tokens that can't change them.
struct HiddenSecretsTests {
  private static let project = "/v2/projects/acme-mfa"
  /// The secrets that are written; only a token that can change them can read them back.
  private static let clientSecret = "hidden-client-secret"
  private static let smtpPassword = "hidden-smtp-password"
  /// `hidden-hash-of-a-password-32-by` with a last byte that isn't text, and `hidden-salt`.
  private static let hash = "aGlkZGVuLWhhc2gtb2YtYS1wYXNzd29yZC0zMi1ieYA="
  private static let salt = "aGlkZGVuLXNhbHQ="

  /// Writes a secret of each kind to a project and a tenant, and returns the paths to read.
  private func prepare(_ server: TestServer) async throws -> (paths: [String], uid: String) {
    let tenant = try await server.addTenant()
    var paths = ["\(Self.project)/config", "\(Self.project)/tenants"]
    for place in [Self.project, "\(Self.project)/tenants/\(tenant)"] {
      let created = try await server.post(
        "\(place)/oauthIdpConfigs?oauthIdpConfigId=oidc.acme",
        [
          "displayName": "Acme", "enabled": true, "clientId": "client",
          "clientSecret": .string(Self.clientSecret), "issuer": "https://oidc.example/issuer",
          "responseType": ["code": true],
        ], .owner)
      #expect(try created.text("clientSecret") == Self.clientSecret, "owners can read it back")
      paths += ["\(place)/oauthIdpConfigs", "\(place)/oauthIdpConfigs/oidc.acme"]
    }
    paths += ["\(Self.project)/tenants/\(tenant)", "\(Self.project)/inboundSamlConfigs"]
    _ = try await server.patch(
      "\(Self.project)/config?updateMask=notification",
      [
        "notification": [
          "sendEmail": [
            "method": "CUSTOM_SMTP",
            "smtp": [
              "senderEmail": "a@example.com", "host": "smtp.example.com", "port": 587,
              "username": "a", "password": .string(Self.smtpPassword),
            ],
          ]
        ]
      ])
    let imported = try await server.post(
      "/v1/projects/acme-mfa/accounts:batchCreate",
      [
        "hashAlgorithm": "SHA256", "rounds": 1,
        "users": [
          [
            "localId": "imported", "email": "imported@example.com",
            "passwordHash": .string(Self.hash), "salt": .string(Self.salt),
          ]
        ],
      ], .owner)
    #expect(imported.status == 200 && imported["error"] == nil, "\(imported.json)")
    return (paths, "imported")
  }

  /// Returns the secrets that a response contains.
  private func revealedSecrets(_ answer: Answer, _ more: [String] = []) -> [String] {
    let text = String(decoding: answer.response.body.bytes, as: UTF8.self)
    return ([Self.clientSecret, Self.smtpPassword] + more).filter { text.contains($0) }
  }

  /// Whether a response contains a password hash or salt rather than the redacted placeholder.
  private func containsHashes(_ answer: Answer) -> Bool {
    let users = (answer["users"] ?? answer["userInfo"])?.arrayValue ?? []
    return users.contains { user in
      user["salt"] != nil || ![nil, "UkVEQUNURUQ="].contains(user["passwordHash"]?.stringValue)
    }
  }

  @Test(arguments: ServiceTokenRole.allCases)
  func `K2: no response reveals a secret to a token that can't change it`(role: ServiceTokenRole)
    async throws
  {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let (paths, imported) = try await prepare(server)
      let alice = try await server.addPerson()
      let idToken = try await server.signIn(alice).text("idToken")
      let start = try await server.post(
        "/v2/accounts/mfaEnrollment:start",
        ["idToken": .string(idToken), "totpEnrollmentInfo": [:]]
      )
      let secret = try #require(start["totpSessionInfo"]?["sharedSecretKey"]?.stringValue)
      let token = Credential.bearer(try await server.token(role))
      for path in paths {
        let answer = try await server.get(path, token)
        var mayChange = false
        if path.contains("oauthIdpConfigs"), answer.status == 200 {
          let one = path.contains("oauthIdpConfigs/") ? path : path + "/oidc.acme"
          let change = try await server.patch(
            one + "?updateMask=displayName", ["displayName": "Acme"], token)
          #expect(change.status == 200 || change.status == 403)
          mayChange = change.status == 200
        }
        #expect(
          revealedSecrets(answer) == (mayChange ? [Self.clientSecret] : []), "\(role) \(path)")
      }
      let lookup = try await server.post(
        "/v1/projects/acme-mfa/accounts:lookup",
        ["localId": [.string(imported), .string(alice.uid)]], token)
      let users = try await server.get("/v1/projects/acme-mfa/accounts:batchGet", token)
      let queried = try await server.post(
        "/v1/projects/acme-mfa/accounts:query", ["returnUserInfo": true], token)
      for answer in [lookup, users, queried] {
        #expect(revealedSecrets(answer, [secret]).isEmpty, "\(role)")
      }
      #expect(containsHashes(users) == (role == .owner), "\(role)")
      #expect(!containsHashes(lookup) && !containsHashes(queried), "\(role)")
    }
  }
}
