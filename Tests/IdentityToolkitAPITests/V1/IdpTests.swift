import HTTP
import Identity
import JSON
import Testing

struct IdpTests {
  private static let path = "/v1/accounts:signInWithIdp"

  private static func body(
    _ token: String, provider: String = "google.com", _ members: JSON.Object = [:]
  ) -> JSON {
    let form: Form = ["id_token": token, "providerId": provider]
    var body: JSON.Object = [
      "postBody": .string(form.urlEncoded), "requestUri": "http://localhost",
      "returnIdpCredential": true, "returnSecureToken": true,
    ]
    for member in members { body[member.name] = member.value }
    return .object(body)
  }

  private static let ann =
    #"{"sub":"1001","email":"ann@example.com","email_verified":true,"name":"Ann","given_name":"A"}"#

  @Test func `the emulator responds like Google's emulator`() async throws {
    try await TestServer.with(.emulator) { server in
      let answer = try await server.post(Self.path, Self.body(Self.ann))
      var object = try #require(answer.json.objectValue)
      let raw = try json(try #require(object["rawUserInfo"]?.stringValue))
      object["rawUserInfo"] = nil
      #expect(
        masked(.object(object))
          == (try json(
            #"""
            {"kind": "identitytoolkit#VerifyAssertionResponse",
             "providerId": "google.com", "federatedId": "https://accounts.google.com/1001",
             "displayName": "Ann", "fullName": "Ann", "firstName": "A",
             "email": "ann@example.com", "emailVerified": true,
             "oauthIdToken":
             "{\"sub\":\"1001\",\"email\":\"ann@example.com\",\"email_verified\":true,\"name\":\"Ann\",\"given_name\":\"A\"}",
             "oauthAccessToken": "FirebaseAuthEmulatorFakeAccessToken_google.com",
             "localId": "<localId>", "isNewUser": true, "idToken": "<idToken>",
             "refreshToken": "<refreshToken>", "expiresIn": "3600"}
            """#)))
      #expect(raw["id"] == "1001")
      #expect(raw["verified_email"] == true)
      let token = try claims(answer["idToken"])
      #expect(
        token["firebase"]
          == [
            "identities": ["email": ["ann@example.com"], "google.com": ["1001"]],
            "sign_in_provider": "google.com",
          ])
      let again = try await server.post(
        Self.path, Self.body(TestTokenIssuer.unsigned(json(Self.ann))))
      #expect(again["isNewUser"] == nil)
      #expect(again["localId"] == answer["localId"])
      let user = try await server.post(
        "/v1/accounts:lookup", ["idToken": again["idToken"] ?? nil])["users"]?.arrayValue?.first
      #expect(user?["providerUserInfo"]?.arrayValue?.first?["federatedId"] == "1001")
    }
  }

  @Test func `an email that belongs to another account needs confirmation`() async throws {
    try await TestServer.with(.emulator) { server in
      _ = try await server.addPerson("ann")
      try await server.configure(
        "emailPrivacyConfig", ["emailPrivacyConfig": ["enableImprovedEmailPrivacy": false]])
      let answer = try await server.post(
        Self.path, Self.body(#"{"sub":"1","email":"ann@example.com"}"#))
      #expect(answer.status == 200)
      #expect(answer["needConfirmation"] == true)
      #expect(answer["idToken"] == nil)
      #expect(answer["localId"] == nil)
      #expect(answer["verifiedProvider"]?.arrayValue == [])
      try await server.configure(
        "emailPrivacyConfig", ["emailPrivacyConfig": ["enableImprovedEmailPrivacy": true]])
      let hidden = try await server.post(
        Self.path, Self.body(#"{"sub":"1","email":"ann@example.com"}"#))
      #expect(hidden["needConfirmation"] == true)
      #expect(hidden["verifiedProvider"] == nil)
    }
  }

  @Test
  func
    `linking adds an identity, and conflicts are reported`()
    async throws
  {
    try await TestServer.with(.emulator) { server in
      _ = try await server.addPerson("ann")
      let bob = try await server.addPerson("bob")
      let token = try await server.signIn(bob)["idToken"] ?? nil
      let link: JSON.Object = ["idToken": token]
      let taken = try await server.post(
        Self.path, Self.body(Self.ann, provider: "google.com", link))
      #expect(taken.status == 200)
      #expect(taken["errorMessage"] == "EMAIL_EXISTS")
      #expect(taken["oauthIdToken"]?.stringValue == Self.ann)
      let linked = try await server.post(
        Self.path,
        Self.body(#"{"sub":"2","email":"b@elsewhere.example"}"#, provider: "google.com", link))
      #expect(linked["localId"]?.stringValue == bob.uid)
      #expect(linked["isNewUser"] == nil)
      // An account has one identity of a provider, whether another one is the same, new, or taken.
      for claims in [#"{"sub":"2"}"#, #"{"sub":"3"}"#, Self.ann] {
        let twice = try await server.post(
          Self.path, Self.body(claims, provider: "google.com", link))
        #expect(twice["errorMessage"] == "PROVIDER_ALREADY_LINKED" && twice["localId"] == nil)
        #expect(twice["oauthIdToken"]?.stringValue == claims)
        let plain = try await server.post(
          Self.path,
          Self.body(
            claims, provider: "google.com", ["idToken": token, "returnIdpCredential": false]))
        #expect(plain.status == 400)
        #expect(plain.error == "PROVIDER_ALREADY_LINKED")
      }
      let user = try await server.post("/v1/accounts:lookup", ["idToken": token])
      let kept = user["users"]?.arrayValue?.first?["providerUserInfo"]?.arrayValue?.first
      #expect(kept?["rawId"] == "2" && kept?["email"] == "b@elsewhere.example")
    }
  }

  @Test(arguments: [
    (#"{}"#, 400, "MISSING_REQUEST_URI"),
    (#"{"requestUri":"nowhere"}"#, 400, "INVALID_REQUEST_URI"),
    (
      #"{"requestUri":"http://a"}"#, 400,
      "INVALID_CREDENTIAL_OR_PROVIDER_ID : Invalid IdP response/credential: no providerId."
    ),
    (
      #"{"requestUri":"http://a","postBody":"providerId=google.com"}"#, 400,
      "INVALID_IDP_RESPONSE : Sign-in requires a credential of the provider (id_token)."
    ),
    (
      #"{"requestUri":"http://a","postBody":"providerId=google.com&id_token=x"}"#, 400,
      "INVALID_IDP_RESPONSE : Unable to parse id_token. The emulator accepts only strict JSON and JSON Web Tokens."
    ),
    (
      #"{"requestUri":"http://a","postBody":"providerId=%"}"#, 400,
      "INVALID_IDP_RESPONSE : postBody is not a valid form."
    ),
    (
      #"{"requestUri":"http://a?providerId=saml.a#SAMLResponse=x"}"#, 501,
      "NOT_IMPLEMENTED : Sign-in with SAML is not supported; SAML configurations are stored only."
    ),
    (
      #"{"requestUri":"http://a","postBody":"providerId=facebook.com&access_token=x"}"#, 501,
      "NOT_IMPLEMENTED : This server doesn't verify access tokens with providers; send the id_token."
    ),
    (#"{"pendingToken":"x"}"#, 400, "INVALID_PENDING_TOKEN"),
    (#"{"idToken":"x","requestUri":"http://a"}"#, 400, "INVALID_ID_TOKEN"),
  ])
  func `invalid assertions are refused with an explanation`(
    body: String, status: Int, error: String
  )
    async throws
  {
    try await TestServer.with(.emulator) { server in
      let answer = try await server.call(.post, Self.path, text: body, .key)
      #expect(answer.status == status)
      #expect(answer.error == error)
    }
  }

  @Test func `the parameters can be in the query and the fragment of requestUri`() async throws {
    try await TestServer.with(.emulator) { server in
      let form: Form = ["id_token": #"{"sub":"1"}"#]
      let answer = try await server.post(
        Self.path,
        ["requestUri": .string("http://a/?providerId=Apple.com#\(form.urlEncoded)")])
      #expect(answer["providerId"] == "apple.com")
      #expect(answer["idToken"] != nil)
    }
  }
}

// MARK: - The standalone profile

extension IdpTests {
  private static let configs = "/v2/projects/acme-mfa/oauthIdpConfigs"

  private func configure(_ server: TestServer) async throws {
    let answer = try await server.post(
      Self.configs + "?oauthIdpConfigId=oidc.acme",
      [
        "displayName": "Acme login", "enabled": true, "issuer": "https://login.acme.example",
        "clientId": "client-1", "jwks": TestTokenIssuer.back.keySet(),
      ], .owner)
    #expect(answer.status == 200, "\(answer.json)")
  }

  private func token(_ server: TestServer, _ members: JSON.Object = [:]) throws -> String {
    var payload: JSON.Object = [
      "iss": "https://login.acme.example", "aud": "client-1", "sub": "user-1",
      "iat": .number(JSON.Number(server.now.seconds)),
      "exp": .number(JSON.Number(server.now.seconds + 600)), "email": "ann@example.com",
      "email_verified": true,
    ]
    for member in members { payload[member.name] = member.value }
    return try TestTokenIssuer.back.token(.object(payload))
  }

  @Test func `a signed ID token of a configured provider signs in`() async throws {
    try await TestServer.with { server in
      try await configure(server)
      let answer = try await server.post(
        Self.path, Self.body(try token(server), provider: "oidc.acme"))
      #expect(answer.status == 200)
      #expect(answer["isNewUser"] == true)
      #expect(answer["federatedId"] == "oidc.acme/user-1")
      #expect(try claims(answer["idToken"])["firebase"]?["sign_in_provider"] == "oidc.acme")
      // The pending token can replace the credential afterwards.
      let pending = try await server.post(
        Self.path,
        ["pendingToken": answer["pendingToken"] ?? nil, "requestUri": "http://localhost"])
      #expect(pending["localId"] == answer["localId"])
      #expect(pending["idToken"] != nil)
      #expect(pending["oauthIdToken"] != nil && pending["oauthIdToken"] == answer["oauthIdToken"])
    }
  }

  @Test func `using a pending token doesn't extend it`() async throws {
    try await TestServer.with { server in
      try await configure(server)
      var answer = try await server.post(
        Self.path, Self.body(try token(server), provider: "oidc.acme"))
      for _ in 1...2 {
        server.advance(seconds: 400)
        answer = try await server.post(
          Self.path,
          ["pendingToken": answer["pendingToken"] ?? nil, "requestUri": "http://localhost"])
        #expect(answer.status == 200)
      }
      server.advance(seconds: 400)
      let late = try await server.post(
        Self.path,
        ["pendingToken": answer["pendingToken"] ?? nil, "requestUri": "http://localhost"])
      #expect(late.error == "INVALID_PENDING_TOKEN")
    }
  }

  @Test func `a second factor is required after a provider sign-in`() async throws {
    try await TestServer.with { server in
      try await configure(server)
      try await server.switchTOTPOn()
      let ann = try await server.addPerson("ann")
      let enrolled = try await server.enroll(try await server.signIn(ann).text("idToken"))
      server.advance(seconds: 30)
      let answer = try await server.post(
        Self.path, Self.body(try token(server), provider: "oidc.acme"))
      #expect(answer.status == 200)
      #expect(answer["idToken"] == nil)
      #expect(answer["expiresIn"] == nil)
      #expect(answer["mfaInfo"]?.arrayValue?.first?["mfaEnrollmentId"]?.stringValue == enrolled.id)
      let done = try await server.post(
        "/v2/accounts/mfaSignIn:finalize",
        [
          "mfaPendingCredential": answer["mfaPendingCredential"] ?? nil,
          "mfaEnrollmentId": .string(enrolled.id),
          "totpVerificationInfo": [
            "verificationCode": .string(try enrolled.device.code(at: server.now))
          ],
        ])
      let firebase = try claims(done["idToken"])["firebase"]
      #expect(firebase?["sign_in_provider"] == "oidc.acme")
      #expect(firebase?["sign_in_second_factor"] == "totp")
    }
  }

  @Test func `the session has the provider's other claims, also after a second factor`()
    async throws
  {
    try await TestServer.with { server in
      try await configure(server)
      try await server.switchTOTPOn()
      let ann = try await server.addPerson("ann")
      func signIn(_ members: JSON.Object) async throws -> Answer {
        try await server.post(
          Self.path, Self.body(try token(server, members), provider: "oidc.acme"))
      }
      func attributes(_ token: JSON?) throws -> JSON? {
        try claims(token)["firebase"]?["sign_in_attributes"]
      }
      let given: JSON.Object = ["department": "sales", "groups": ["a", "b"], "amr": ["pwd"]]
      let expected: JSON = ["department": "sales", "groups": ["a", "b"]]
      let first = try await signIn(given)
      #expect(try attributes(first["idToken"]) == expected)
      #expect(try claims(first["idToken"])["department"] == nil)
      let refreshed = try await server.post(
        "/v1/token",
        ["grantType": "refresh_token", "refreshToken": first["refreshToken"] ?? nil])
      #expect(try attributes(refreshed["id_token"]) == expected)
      let long = try await signIn(["long": .string(String(repeating: "x", count: 4_096))])
      #expect(try attributes(long["idToken"]) == nil)
      let password = try await server.signIn(ann)
      #expect(try attributes(password["idToken"]) == nil)
      let enrolled = try await server.enroll(try password.text("idToken"))
      server.advance(seconds: 30)
      let pending = try await signIn(given)
      let done = try await server.post(
        "/v2/accounts/mfaSignIn:finalize",
        [
          "mfaPendingCredential": pending["mfaPendingCredential"] ?? nil,
          "mfaEnrollmentId": .string(enrolled.id),
          "totpVerificationInfo": [
            "verificationCode": .string(try enrolled.device.code(at: server.now))
          ],
        ])
      #expect(try attributes(done["idToken"]) == expected)
    }
  }

  @Test func `only signed tokens of configured providers are accepted`() async throws {
    try await TestServer.with { server in
      try await configure(server)
      let good = try token(server)
      let notFound = "OPERATION_NOT_ALLOWED : The identity provider configuration is not found."
      for provider in ["google.com", "oidc.other"] {
        #expect(
          try await server.post(Self.path, Self.body(good, provider: provider)).error == notFound)
      }
      let unsigned = TestTokenIssuer.unsigned(["sub": "1"])
      let refused = try await server.post(Self.path, Self.body(unsigned, provider: "oidc.acme"))
      #expect(
        refused.error
          == "INVALID_IDP_RESPONSE : The signature of the id_token doesn't match a registered key."
      )
      let nonce = try await server.post(
        Self.path, Self.body(try token(server, ["nonce": "x"]), provider: "oidc.acme"))
      #expect(nonce.error == "MISSING_OR_INVALID_NONCE : Nonce is missing in the request.")
      let tenant = try await server.addTenant()
      let there = try await server.post(
        Self.path, Self.body(good, provider: "oidc.acme", ["tenantId": .string(tenant)]))
      #expect(there.error == notFound)
      _ = try await server.patch(
        Self.configs + "/oidc.acme?updateMask=enabled", ["enabled": false])
      #expect(
        try await server.post(Self.path, Self.body(good, provider: "oidc.acme")).error
          == "OPERATION_NOT_ALLOWED : The identity provider configuration is disabled.")
      let code = try await server.post(
        Self.path, ["requestUri": "http://a", "postBody": "providerId=oidc.acme&code=1"])
      #expect(code.status == 501)
    }
  }

  @Test func `disabled sign-up blocks new accounts through a provider`() async throws {
    try await TestServer.with { server in
      try await configure(server)
      let path = TestServer.config + "?updateMask=client.permissions"
      _ = try await server.patch(path, ["client": ["permissions": ["disabledUserSignup": true]]])
      let body = Self.body(try token(server), provider: "oidc.acme")
      #expect(try await server.post(Self.path, body).error == "ADMIN_ONLY_OPERATION")
      let ann = try await server.addPerson("ann")
      #expect(try await server.post(Self.path, body)["localId"]?.stringValue == ann.uid)
    }
  }

  @Test func `no account is created if autoCreate is false`() async throws {
    try await TestServer.with { server in
      try await configure(server)
      let answer = try await server.post(
        Self.path, Self.body(try token(server), provider: "oidc.acme", ["autoCreate": false]))
      #expect(answer.error == "USER_NOT_FOUND")
    }
  }

  @Test func `an email can have several accounts if the project allows it`() async throws {
    try await TestServer.with(.emulator) { server in
      let ann = try await server.addPerson("ann")
      _ = try await server.patch(
        TestServer.config + "?updateMask=signIn.allowDuplicateEmails",
        ["signIn": ["allowDuplicateEmails": true]])
      let answer = try await server.post(Self.path, Self.body(Self.ann))
      #expect(answer["isNewUser"] == true)
      #expect(answer["localId"]?.stringValue != ann.uid)
      #expect(answer["email"] == "ann@example.com")
      // The new account itself has no email, so the first account keeps it.
      let user = try await server.post(
        "/v1/accounts:lookup", ["idToken": answer["idToken"] ?? nil])["users"]?.arrayValue?.first
      #expect(user?["email"] == nil)
      #expect(user?["providerUserInfo"]?.arrayValue?.first?["email"] == "ann@example.com")
      let again = try await server.post(Self.path, Self.body(Self.ann))
      #expect(again["localId"] == answer["localId"])
      // An identity with one user's email can be linked to another user.
      let bob = try await server.addPerson("bob")
      let link: JSON.Object = ["idToken": try await server.signIn(bob)["idToken"] ?? nil]
      let linked = try await server.post(
        Self.path,
        Self.body(#"{"sub":"2002","email":"ann@example.com"}"#, provider: "facebook.com", link))
      #expect(linked["localId"]?.stringValue == bob.uid)
      // An email still has only one account with a password.
      let second = try await server.post(
        "/v1/accounts:signUp", ["email": "ann@example.com", "password": "correct horse"])
      #expect(second.error == "EMAIL_EXISTS")
    }
  }
}
