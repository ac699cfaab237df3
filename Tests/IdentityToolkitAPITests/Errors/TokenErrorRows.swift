import Crypto
import HTTP
import Identity
import JSON
import Testing

extension ErrorRow {
  /// Errors of tokens of all kinds.
  static let tokens: [ErrorRow] = [
    ErrorRow("INVALID_REFRESH_TOKEN") { server in
      try await server.post(token, ["grantType": "refresh_token", "refreshToken": "garbage"])
    },
    ErrorRow("MISSING_REFRESH_TOKEN") { server in
      try await server.post(token, ["grantType": "refresh_token"])
    },
    ErrorRow("INVALID_GRANT_TYPE") { server in
      try await server.post(token, ["grantType": "password", "refreshToken": "x"])
    },
    ErrorRow("PERMISSION_DENIED", status: 403) { server in
      let auditor = try await server.token(.auditor)
      return try await server.post(
        TestServer.accounts + ":delete", ["localId": "x"], .bearer(auditor))
    },
    ErrorRow("INSUFFICIENT_PERMISSION") { server in
      try await server.post(lookup, ["targetProjectId": "acme-mfa"])
    },
    ErrorRow("UNAUTHENTICATED", status: 401) { server in
      try await server.get(TestServer.config, .none)
    },
    ErrorRow("INVALID_DURATION") { server in
      let (_, token) = try await server.session()
      return try await server.post(
        "/v1/projects/acme-mfa:createSessionCookie",
        ["idToken": token, "validDuration": "299"], .owner)
    },
    ErrorRow("MISSING_CUSTOM_TOKEN") { server in
      try await server.post("/v1/accounts:signInWithCustomToken", [:])
    },
    ErrorRow("INVALID_CUSTOM_TOKEN") { server in
      try await server.post("/v1/accounts:signInWithCustomToken", ["token": "garbage"])
    },
    ErrorRow("CREDENTIAL_MISMATCH") { server in
      let now = server.now.seconds
      let payload = #"""
        {"iss":"a@example.com","sub":"a@example.com","uid":"x","iat":\#(now),"exp":\#(now + 60),
         "aud":"https://identitytoolkit.googleapis.com/google.identity.identitytoolkit.v1.IdentityToolkit"}
        """#
      let parts = [#"{"alg":"RS256","kid":"k","typ":"JWT"}"#, payload, "no signature"].map {
        Base64URL.encode(Array($0.utf8))
      }
      return try await server.post(
        "/v1/accounts:signInWithCustomToken", ["token": .string(parts.joined(separator: "."))])
    },
    ErrorRow("INVALID_IDP_RESPONSE", .emulator) { server in
      try await server.post(
        "/v1/accounts:signInWithIdp",
        [
          "postBody": "id_token=garbage&providerId=google.com",
          "requestUri": "http://localhost", "returnSecureToken": true,
        ])
    },
    ErrorRow("PROVIDER_ALREADY_LINKED", .emulator) { server in
      let (_, token) = try await server.session()
      func body(_ subject: String) -> JSON {
        [
          "postBody": .string(#"id_token={"sub":"\#(subject)"}&providerId=google.com"#),
          "requestUri": "http://localhost", "returnSecureToken": true, "idToken": token,
        ]
      }
      let path = "/v1/accounts:signInWithIdp"
      #expect(try await server.post(path, body("g1")).status == 200)
      return try await server.post(path, body("g2"))
    },
    ErrorRow("FEDERATED_USER_ID_ALREADY_LINKED", .emulator) { server in
      func body(_ token: JSON?) -> JSON {
        let claims = #"{"sub":"g1","email":"g@example.com","email_verified":true}"#
        var body: JSON.Object = [
          "postBody": .string("id_token=\(claims)&providerId=google.com"),
          "requestUri": "http://localhost", "returnSecureToken": true,
        ]
        if let token { body["idToken"] = token }
        return .object(body)
      }
      let path = "/v1/accounts:signInWithIdp"
      #expect(try await server.post(path, body(nil)).status == 200)
      let (_, token) = try await server.session()
      return try await server.post(path, body(token))
    },
    ErrorRow("NOT_IMPLEMENTED", status: 501, .emulator) { server in
      try await server.post("/v1/accounts:signInWithGameCenter", [:])
    },
  ]

  /// Errors of codes sent by email or SMS, and of requests for them.
  static let codes: [ErrorRow] = [
    ErrorRow("MISSING_REQ_TYPE") { server in try await server.post(sendOobCode, [:]) },
    ErrorRow("MISSING_OOB_CODE") { server in try await server.post(resetPassword, [:]) },
    ErrorRow("INVALID_OOB_CODE") { server in
      try await server.post(resetPassword, ["oobCode": "garbage"])
    },
    ErrorRow("EXPIRED_OOB_CODE") { server in
      let alice = try await server.addPerson()
      let sent = try await server.post(
        TestServer.accounts + ":sendOobCode",
        [
          "requestType": "PASSWORD_RESET", "email": .string(alice.email),
          "returnOobLink": true,
        ], .owner)
      server.advance(seconds: 7 * 86400)
      return try await server.post(resetPassword, ["oobCode": sent["oobCode"] ?? nil])
    },
    ErrorRow("UNAUTHORIZED_DOMAIN") { server in
      let alice = try await server.addPerson()
      return try await server.post(
        sendOobCode,
        [
          "requestType": "PASSWORD_RESET", "email": .string(alice.email),
          "continueUrl": "https://elsewhere.example/",
        ])
    },
    ErrorRow("RESET_PASSWORD_EXCEED_LIMIT") { server in
      let alice = try await server.addPerson()
      let body: JSON = ["requestType": "PASSWORD_RESET", "email": .string(alice.email)]
      for _ in 0..<500 {
        let answer = try await server.post(sendOobCode, body)
        guard answer.status == 200 else { return answer }
      }
      return try await server.post(sendOobCode, body)
    },
    ErrorRow("INVALID_IDENTIFIER") { server in
      try await server.post(
        "/v1/accounts:createAuthUri",
        ["identifier": "no address", "continueUri": "http://localhost/"])
    },
    ErrorRow("MISSING_CONTINUE_URI") { server in
      try await server.post("/v1/accounts:createAuthUri", ["identifier": "a@example.com"])
    },
    ErrorRow("MISSING_SESSION_INFO") { server in
      try await server.switchPhonesOn()
      return try await server.post("/v1/accounts:signInWithPhoneNumber", ["code": "123456"])
    },
    ErrorRow("MISSING_CODE") { server in
      try await server.switchPhonesOn()
      let sent = try await server.post(
        "/v1/accounts:sendVerificationCode", ["phoneNumber": "+15551230001"])
      return try await server.post(
        "/v1/accounts:signInWithPhoneNumber", ["sessionInfo": sent["sessionInfo"] ?? nil])
    },
    ErrorRow("INVALID_TEMPORARY_PROOF") { server in
      try await server.switchPhonesOn()
      return try await server.post(
        "/v1/accounts:signInWithPhoneNumber",
        ["temporaryProof": "garbage", "phoneNumber": "+15551230001"])
    },
  ]
}
