import HTTP
import Identity
import JSON
import Testing
import Text

struct QueryTests {
  private static let path = TestServer.accounts + ":query"

  private func fill(_ server: TestServer, tenant: String? = nil) async throws {
    let path = tenant.map { "/v1/projects/acme-mfa/tenants/\($0)/accounts" } ?? TestServer.accounts
    for (number, name) in ["carol", "alice", "bob"].enumerated() {
      let answer = try await server.post(
        path,
        [
          "localId": .string("u\(number)"), "email": .string("\(name)@example.com"),
          "displayName": .string(String(name.reversed())),
          "phoneNumber": .string("+4915100000\(number)"),
        ], .owner)
      #expect(answer.status == 200)
      server.advance(seconds: 1)
    }
  }

  private func ids(_ answer: Answer) -> [String] {
    (answer["userInfo"]?.arrayValue ?? []).compactMap { $0["localId"]?.stringValue }
  }

  @Test(
    arguments: [
      ("{}", "u0 u1 u2"), (#"{"order":"DESC"}"#, "u2 u1 u0"),
      (#"{"sortBy":"USER_EMAIL"}"#, "u1 u2 u0"), (#"{"sort_by":5,"order":1}"#, "u1 u2 u0"),
      (#"{"sortBy":"NAME"}"#, "u2 u1 u0"), (#"{"sortBy":"CREATED_AT","order":2}"#, "u2 u1 u0"),
      (#"{"sortBy":"LAST_LOGIN_AT"}"#, "u0 u1 u2"), (#"{"limit":"2"}"#, "u0 u1"),
      (#"{"limit":2,"offset":"2"}"#, "u2"), (#"{"offset":3}"#, ""),
      (#"{"limit":501,"offset":0,"sortBy":"SORT_BY_FIELD_UNSPECIFIED"}"#, "u0 u1 u2"),
      (#"{"limit":"0"}"#, ""),
      (#"{"expression":[{"email":"ALICE@example.com"}]}"#, "u1"),
      (#"{"expression":[{"phoneNumber":"+49151000002"}]}"#, "u2"),
      (#"{"expression":[{"userId":"u0"},{"userId":"u1"}]}"#, "u0"),
      (#"{"expression":[{"userId":"u0","email":"bob@example.com"}]}"#, "u2"),
      (#"{"expression":[{"userId":"nobody"}]}"#, ""), (#"{"expression":[{}]}"#, "u0 u1 u2"),
      (#"{"expression":[{"userId":"u0"}],"offset":1}"#, ""),
    ])
  func `a query applies its filter, order, and limits`(body: String, expected: String) async throws
  {
    try await TestServer.with { server in
      try await fill(server)
      for path in [Self.path, "/v1/projects/acme-mfa:queryAccounts"] {
        let answer = try await server.call(.post, path, text: body, .owner)
        #expect(answer.status == 200, "\(answer.json)")
        #expect(ids(answer).joined(separator: " ") == expected)
        let count = expected.split(separator: " ").count
        #expect(answer["recordsCount"]?.stringValue == String(count))
        #expect((answer["userInfo"] == nil) == (count == 0))
      }
    }
  }

  @Test func `without user info, a query counts all matches`() async throws {
    try await TestServer.with { server in
      try await fill(server)
      let tenant = try await server.addTenant()
      try await fill(server, tenant: tenant)
      let inTenant = "/v1/projects/acme-mfa/tenants/\(tenant)"
      for path in [Self.path, "\(inTenant)/accounts:query", "\(inTenant):queryAccounts"] {
        let all = try await server.post(path, ["returnUserInfo": false, "limit": 1], .owner)
        #expect(all.json == ["recordsCount": "3"])
        let one = try await server.post(
          path, ["returnUserInfo": false, "expression": [["userId": "u1"]]], .owner)
        #expect(one.json == ["recordsCount": "1"])
      }
      let answer = try await server.post("\(inTenant):queryAccounts", [:], .owner)
      let tenants = (answer["userInfo"]?.arrayValue ?? []).map { $0["tenantId"]?.stringValue }
      #expect(tenants == [tenant, tenant, tenant])
    }
  }

  @Test(
    arguments: [
      (#"{"limit":-1}"#, "INVALID_PAGE_SELECTION"),
      (#"{"offset":-1}"#, "INVALID_PAGE_SELECTION"),
      (#"{"offset":100001}"#, "INVALID_PAGE_SELECTION : At most 100000 accounts"),
      (#"{"sortBy":"COLOUR"}"#, "Invalid value at 'sort_by'"), (#"{"order":9}"#, "Invalid value"),
      (#"{"expression":{"userId":"u0"}}"#, "Invalid value"),
    ])
  func `invalid queries are refused`(body: String, error: String) async throws {
    try await TestServer.with { server in
      let answer = try await server.call(.post, Self.path, text: body, .owner)
      #expect(answer.status == 400 && answer.error?.hasPrefix(error) == true, "\(answer.json)")
      #expect(try await server.post(Self.path, ["offset": 100_000], .owner).status == 200)
    }
  }

  @Test func `a backend sees the project's sign-in methods`() async throws {
    try await TestServer.with { server in
      let answer = try await server.get("/v1/projects/acme-mfa")
      #expect(
        answer.json.objectValue?.names == [
          "projectId", "authorizedDomains", "allowPasswordUser", "enableAnonymousUser",
        ])
      #expect(answer["enableAnonymousUser"] == true)
      let short = try await server.get("/v1/projects", .key)
      #expect(short["projectId"] == answer["projectId"])
      #expect(try await server.get("/v1/projects/acme-mfa", .key).status == 401)
      #expect(try await server.get("/v1/projects/other-mfa").status == 403)
    }
  }
}
