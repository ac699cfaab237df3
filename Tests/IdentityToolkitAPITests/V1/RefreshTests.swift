import HTTP
import Identity
import JSON
import Testing

struct RefreshTests {
  private func refresh(
    _ server: TestServer, _ token: JSON?, path: String = "/v1/token"
  ) async throws -> Answer {
    try await server.post(
      path, ["grantType": "refresh_token", "refreshToken": token ?? nil])
  }

  @Test func `a form-encoded request is accepted like JSON`() async throws {
    try await TestServer.with { server in
      let session = try await server.signIn(try await server.addPerson())
      server.advance(seconds: 100)
      let token = try session.text("refreshToken")
      let form = try await server.call(
        .post, "/securetoken.googleapis.com/v1/token",
        text: "grant_type=refresh_token&refresh_token=\(token)", .key,
        fields: [.contentType: "application/x-www-form-urlencoded;charset=UTF-8"])
      #expect(
        masked(form.json)
          == (try json(
            """
            {"access_token": "<access_token>", "expires_in": "3600", "token_type": "Bearer",
             "refresh_token": "<refresh_token>", "id_token": "<id_token>", "user_id": "<user_id>",
             "project_id": "<project_id>"}
            """)))
      #expect(form["access_token"] == form["id_token"])
      let number = try await server.get("/v1/projects", .key)["projectId"]
      #expect(form["project_id"] == number)
      let token2 = try claims(form["id_token"])
      #expect(token2["auth_time"] == 1_790_244_000)
      #expect(token2["iat"] == 1_790_244_100)
      #expect(try await refresh(server, session["refreshToken"]).status == 200)
    }
  }

  @Test(arguments: [
    ("{}", "MISSING_GRANT_TYPE"), (#"{"grantType":"password"}"#, "INVALID_GRANT_TYPE"),
    (#"{"grantType":"refresh_token"}"#, "MISSING_REFRESH_TOKEN"),
    (#"{"grantType":"refresh_token","refreshToken":"x"}"#, "INVALID_REFRESH_TOKEN"),
  ])
  func `missing fields are reported as a v2 error`(body: String, error: String)
    async throws
  {
    try await TestServer.with { server in
      let answer = try await server.call(.post, "/v1/token", text: body, .key)
      #expect(
        answer["error"]
          == ["code": 400, "message": .string(error), "status": "INVALID_ARGUMENT"])
    }
  }

  @Test func `refreshing fails after revocation, disabling, or deletion of the user`() async throws
  {
    try await TestServer.with { server in
      let alice = try await server.addPerson()
      let first = try await server.signIn(alice)
      let uid = JSON.string(alice.uid)
      let update = TestServer.accounts + ":update"
      _ = try await server.post(update, ["localId": uid, "validSince": "1790244001"], .owner)
      #expect(try await refresh(server, first["refreshToken"]).error == "TOKEN_EXPIRED")
      server.advance(seconds: 10)
      let second = try await server.signIn(alice)
      _ = try await server.post(update, ["localId": uid, "disableUser": true], .owner)
      let disabled = try await refresh(server, second["refreshToken"])
      _ = try await server.post(TestServer.accounts + ":delete", ["localId": uid], .owner)
      let deleted = try await refresh(server, second["refreshToken"])
      #expect(disabled.error == "USER_DISABLED")
      #expect(deleted.error == "USER_NOT_FOUND")
    }
  }

  @Test func `withdrawing a factor revokes earlier sessions`() async throws {
    try await TestServer.with { server in
      try await server.switchTOTPOn()
      let session = try await server.signIn(try await server.addPerson())
      let enrolled = try await server.enroll(try session.text("idToken"))
      _ = try await server.post(
        "/v2/accounts/mfaEnrollment:withdraw",
        [
          "idToken": enrolled.answer["idToken"] ?? nil, "mfaEnrollmentId": .string(enrolled.id),
        ])
      let ended = try await refresh(server, session["refreshToken"])
      #expect(ended.error == "TOKEN_EXPIRED")
    }
  }

  @Test func `a refresh token is valid only in its own project and tenant`() async throws {
    try await TestServer.with { server in
      let id = try await server.addTenant()
      let session = try await server.signIn(try await server.addPerson(tenant: id), tenant: id)
      let wrong = try await refresh(
        server, session["refreshToken"], path: "/v1/token?tenantId=other-12345")
      #expect(wrong.error == "TENANT_ID_MISMATCH")
      let right = try await refresh(
        server, session["refreshToken"], path: "/v1/token?tenantId=\(id)")
      #expect(try claims(right["id_token"])["firebase"]?["tenant"]?.stringValue == id)
      let other = try await server.identity.pools.createProject(
        id: "other-mfa", displayName: "Other", by: .program(Author(actor: .commandLine))
      ).value
      let key = try await server.identity.apiKeys.list(other.pool.project).first?.text ?? ""
      let stolen = try await server.post(
        "/v1/token?key=\(key)",
        ["grantType": "refresh_token", "refreshToken": session["refreshToken"] ?? nil], .none)
      #expect(stolen.error == "INVALID_REFRESH_TOKEN")
    }
  }

  @Test func `tokens can't be refreshed while the tenant is disabled`() async throws {
    try await TestServer.with { server in
      let tenant = try await server.addTenant()
      let session = try await server.signIn(
        try await server.addPerson(tenant: tenant), tenant: tenant)
      let path = ErrorRow.tenants + "/\(tenant)?updateMask=disableAuth"
      _ = try await server.patch(path, ["disableAuth": true])
      #expect(try await refresh(server, session["refreshToken"]).error == "TENANT_DISABLED")
      _ = try await server.patch(path, ["disableAuth": false])
      #expect(try await refresh(server, session["refreshToken"]).status == 200)
    }
  }
}
