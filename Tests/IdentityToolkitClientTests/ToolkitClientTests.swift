import JSON
import Testing

@testable import IdentityToolkitClient

/// What a client sends, and when it sends a call again.
struct ToolkitClientTests {
  private static let users: JSON = ["users": [["localId": "a"], ["localId": "b"]]]

  @Test func `Google is asked for what's read, at its own address`() async throws {
    let remote = ScriptedRemote(googleWith: { _ in .json(["recordsCount": "5"]) })
    let client = try google(remote)
    _ = try await client.config(for: .person)
    _ = try await client.tenants(for: .person)
    _ = try await client.users(of: nil, after: nil, for: .person)
    _ = try await client.users(of: "eu/west", after: "a b", size: 7, for: .person)
    _ = try await client.user("b", of: "eu-1", for: .person)
    #expect(try await client.userCount(of: nil, for: .person) == 5)
    let calls = remote.calls
    let host = "https://identitytoolkit.googleapis.com"
    #expect(
      calls.map { "\($0.body == nil ? "GET" : "POST") \($0.url.split(separator: "?")[0])" } == [
        "GET \(host)/v2/projects/demo-connected/config",
        "GET \(host)/v2/projects/demo-connected/tenants",
        "GET \(host)/v1/projects/demo-connected/accounts:batchGet",
        "GET \(host)/v1/projects/demo-connected/tenants/eu%2Fwest/accounts:batchGet",
        "POST \(host)/v1/projects/demo-connected/tenants/eu-1/accounts:lookup",
        "POST \(host)/v1/projects/demo-connected/accounts:query",
      ])
    #expect(calls[0].parameter("fields") == "name%2Csubtype%2Cmfa")
    #expect(calls[1].parameter("pageSize") == "1000" && calls[1].parameter("pageToken") == nil)
    #expect(calls[2].parameter("maxResults") == "1000")
    #expect(calls[3].parameter("maxResults") == "7")
    #expect(calls[3].parameter("nextPageToken") == "a%20b")
    #expect(try JSON.parse(try #require(calls[4].body)) == ["localId": ["b"]])
    #expect(try JSON.parse(try #require(calls[5].body)) == ["returnUserInfo": false])
    for call in calls {
      #expect(call.field("Authorization") == "Bearer ya29.first")
      #expect((call.field("Content-Type") != nil) == (call.body != nil))
      #expect(call.field("X-Goog-User-Project") == nil)
      let asked = call.parameter("fields") ?? ""
      for secret in ["Hash", "salt", "customAttributes", "signIn", "testPhone", "lastRefresh"] {
        #expect(!asked.contains(secret))
      }
    }
  }

  @Test func `another Countersign gets its service token, at its own address`() async throws {
    let remote = ScriptedRemote { _ in .json([:]) }
    _ = try await countersign(remote).config(for: .person)
    let request = try #require(remote.requests.first)
    #expect(request.url == "https://mfa.example.com/v2/projects/demo-connected/config")
    #expect(request.field("Authorization") == "Bearer cst_0123456789")
    #expect(remote.requests.count == 1)
  }

  @Test(arguments: AccessLevel.allCases, AccessLevel.allCases)
  func `a call above the access level isn't sent`(needs: AccessLevel, has: AccessLevel)
    async throws
  {
    let remote = ScriptedRemote(googleWith: { _ in .json([:]) })
    let client = try google(remote, access: has)
    let call = RemoteCall(path: "/x", needs: needs, permission: "x")
    let fault = await thrown { _ = try await client.send(call, for: .person) }
    #expect((fault == nil) == (needs <= has))
    #expect(needs <= has || fault?.cause == .beyondAccess(needs))
    #expect(remote.requests.isEmpty == (needs > has))
  }

  // MARK: - Pages

  @Test func `a page that's too large is asked for again with half the size`() async throws {
    let remote = ScriptedRemote(googleWith: { (request) throws(RemoteFault) in
      guard let size = request.parameter("maxResults").flatMap({ Int($0) }), size <= 200 else {
        throw RemoteFault(.tooLarge)
      }
      return .json(Self.users)
    })
    let page = try await google(remote).users(of: nil, after: "x", for: .walk)
    #expect(page.size == 125 && page.items.map(\.id) == ["a", "b"] && page.next == nil)
    #expect(remote.calls.map { $0.parameter("maxResults") } == ["1000", "500", "250", "125"])
    #expect(remote.calls.allSatisfy { $0.parameter("nextPageToken") == "x" })
  }

  @Test func `a user who is too large alone is a fault`() async throws {
    let remote = ScriptedRemote(googleWith: { (_) throws(RemoteFault) in
      throw RemoteFault(.tooLarge)
    })
    let client = try google(remote)
    let fault = await thrown {
      _ = try await client.users(of: nil, after: nil, size: 5, for: .walk)
    }
    #expect(fault?.cause == .tooLarge)
    #expect(remote.calls.map { $0.parameter("maxResults") } == ["5", "2", "1"])
  }

  @Test func `all tenants are read, page by page`() async throws {
    let remote = ScriptedRemote(googleWith: { request in
      let token = request.parameter("pageToken") ?? "0"
      let tenant: JSON = ["name": .string("projects/1/tenants/t-\(token)")]
      return token == "2"
        ? .json(["tenants": [tenant], "nextPageToken": ""])
        : .json(["tenants": [tenant], "nextPageToken": .string("\((Int(token) ?? 0) + 1)")])
    })
    let tenants = try await google(remote).tenants(for: .person)
    #expect(tenants.map(\.id) == ["t-0", "t-1", "t-2"])
  }

  @Test func `a list that never ends is a fault`() async throws {
    let remote = ScriptedRemote(googleWith: { _ in .json(["nextPageToken": "again"]) })
    let client = try google(remote)
    #expect(await thrown { _ = try await client.tenants(for: .person) }?.cause == .unreadable)
    #expect(remote.calls.count == 100)
  }

  @Test(
    arguments: [
      [], "x", ["users": 7], ["users": [7]], ["users": ["a": 1]],
      ["nextPageToken": .string(String(repeating: "a", count: 1_025))],
    ] as [JSON])
  func `what isn't a page is a fault, and never an empty one`(answer: JSON) async throws {
    let remote = ScriptedRemote(googleWith: { _ in .json(answer) })
    let client = try google(remote)
    let fault = await thrown { _ = try await client.users(of: nil, after: nil, for: .walk) }
    #expect(fault?.cause == .unreadable)
  }

  @Test(
    arguments: [
      [:], ["recordsCount": "-1"], ["recordsCount": "many"], ["recordsCount": "2147483648"],
    ] as [JSON])
  func `a number of users that isn't one is a fault`(answer: JSON) async throws {
    let remote = ScriptedRemote(googleWith: { _ in .json(answer) })
    let client = try google(remote)
    let fault = await thrown { _ = try await client.userCount(of: nil, for: .walk) }
    #expect(fault?.cause == .unreadable)
  }

  @Test func `a lookup returns the user with the UID, and no other`() async throws {
    let client = try google(ScriptedRemote(googleWith: { _ in .json(Self.users) }))
    #expect(try await client.user("b", of: nil, for: .person)?.id == "b")
    #expect(try await client.user("c", of: nil, for: .person) == nil)
  }

  @Test func `a name with an unpaired surrogate doesn't stop a page`() async throws {
    let body = #"{"users":[{"localId":"a","displayName":"\uD83D"},{"localId":"b"}]}"#
    let remote = ScriptedRemote(googleWith: { _ in
      RemoteResponse(status: 200, body: Array(body.utf8))
    })
    let page = try await google(remote).users(of: nil, after: nil, for: .walk)
    #expect(page.items.map(\.displayName) == ["\u{FFFD}", nil])
  }

  // MARK: - Once more

  @Test func `a token that isn't accepted is renewed once`() async throws {
    let counter = Counter()
    let remote = ScriptedRemote { request in
      if request.url == RemoteHost.token { return .token("ya29.\(counter.next())") }
      return request.field("Authorization") == "Bearer ya29.2"
        ? .json(Self.users) : .error(401, "Invalid Credentials")
    }
    let client = try google(remote)
    let page = try await client.users(of: nil, after: nil, for: .person)
    #expect(page.items.count == 2 && remote.calls.count == 2)
    #expect(remote.requests.count == 4)
  }

  @Test func `a second token that isn't accepted is a fault`() async throws {
    let counter = Counter()
    let remote = ScriptedRemote { request in
      request.url == RemoteHost.token
        ? .token("ya29.\(counter.next())") : .error(401, "Invalid Credentials")
    }
    let client = try google(remote)
    let fault = await thrown { _ = try await client.config(for: .person) }
    #expect(fault?.cause == .unauthorized && remote.calls.count == 2)
  }

  @Test func `a service token that isn't accepted is a fault at once`() async throws {
    let remote = ScriptedRemote { _ in .error(401, "Invalid Credentials") }
    let client = try countersign(remote)
    let fault = await thrown { _ = try await client.config(for: .person) }
    #expect(fault?.cause == .unauthorized && remote.requests.count == 1)
  }

  private static func off(_ project: String) -> RemoteResponse {
    .json(
      [
        "error": [
          "code": 403, "message": "Identity Toolkit API has not been used",
          "details": [
            [
              "reason": "SERVICE_DISABLED",
              "metadata": ["consumer": .string("projects/\(project)")],
            ]
          ],
        ]
      ], status: 403)
  }

  @Test func `a service account of another project uses the quota of the connected one`()
    async throws
  {
    let remote = ScriptedRemote(googleWith: { request in
      request.field("X-Goog-User-Project") == "demo-connected" ? .json(Self.users) : Self.off("99")
    })
    let other = try TestKey.credential(["project_id": "other-project"])
    let client = try google(remote, credential: other)
    #expect(!client.namesQuotaProject)
    _ = try await client.users(of: nil, after: nil, for: .person)
    #expect(client.namesQuotaProject && remote.calls.count == 2)
    _ = try await client.users(of: nil, after: nil, for: .person)
    #expect(remote.calls.count == 3)
    // What was learned is kept with the connection.
    let again = try google(remote, credential: other, namesQuotaProject: true)
    _ = try await again.users(of: nil, after: nil, for: .person)
    #expect(remote.calls.count == 4)
  }

  @Test func `the quota of the connected project is tried once`() async throws {
    let remote = ScriptedRemote(googleWith: { _ in Self.off("99") })
    let client = try google(remote, credential: try TestKey.credential(["project_id": "other-1"]))
    let fault = await thrown { _ = try await client.config(for: .person) }
    #expect(fault?.cause == .apiOff(project: "99") && remote.calls.count == 2)
    #expect(!client.namesQuotaProject)
  }

  @Test(arguments: [("demo-connected", "99"), ("other-project", "demo-connected")])
  func `an API that's off in the connected project is a fault at once`(key: String, off: String)
    async throws
  {
    let remote = ScriptedRemote(googleWith: { _ in Self.off(off) })
    let credential = try TestKey.credential(["project_id": .string(key)])
    let client = try google(remote, credential: credential)
    let fault = await thrown { _ = try await client.config(for: .person) }
    #expect(fault?.cause == .apiOff(project: off) && remote.calls.count == 1)
  }

  @Test func `fields aren't selected where Google doesn't know how`() async throws {
    let remote = ScriptedRemote(googleWith: { request in
      request.parameter("fields") == nil
        ? .json(Self.users) : .error(400, "Invalid field selection passwordUpdatedAt")
    })
    let client = try google(remote)
    _ = try await client.users(of: nil, after: nil, for: .person)
    _ = try await client.users(of: nil, after: nil, for: .person)
    #expect(remote.calls.map { $0.parameter("fields") != nil } == [true, false, false])
  }

  @Test func `a response that isn't JSON is a fault`() async throws {
    let remote = ScriptedRemote(googleWith: { _ in
      RemoteResponse(status: 200, body: Array("<html>".utf8))
    })
    let client = try google(remote)
    #expect(await thrown { _ = try await client.config(for: .person) }?.cause == .unreadable)
  }
}
