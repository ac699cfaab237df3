import Crypto
import HTTP
import Identity
import JSON
import Synchronization
import Testing

@testable import IdentityToolkitAPI

struct PoolRequestLimitTests {
  private final class Steady: Sendable {
    private let passed = Mutex(Duration.zero)
    var now: Duration { passed.withLock { $0 } }
    func advance(_ time: Duration) { passed.withLock { $0 += time } }
  }

  private static let acme = ID<Project>("acme")

  @Test func `C15: each pool has its own requests per second, and bursts of two seconds`() {
    let steady = Steady()
    let limit = PoolRequestLimit(perSecond: 5) { steady.now }
    func passed(_ count: Int, _ tenant: ID<Tenant>?) -> Int {
      (0..<count).count { _ in limit.allows(PoolRequestLimit.Key(Self.acme, tenant)) }
    }
    #expect(passed(30, nil) == 10)
    #expect(passed(30, ID("east")) == 10)
    #expect(limit.allows(.project(ID("globex"))))
    #expect(limit.rejections == 40)
    steady.advance(.milliseconds(100))
    #expect(passed(30, nil) == 0)
    steady.advance(.milliseconds(100))
    #expect(passed(30, nil) == 1)
    steady.advance(.seconds(1))
    #expect(passed(30, nil) == 5)
    steady.advance(.seconds(3_600))
    #expect(passed(30, nil) == 10)
  }

  @Test func `a flood of tenants' names doesn't fill the memory`() {
    let steady = Steady()
    let limit = PoolRequestLimit(perSecond: 5) { steady.now }
    for _ in 0..<10 { _ = limit.allows(.project(Self.acme)) }
    for number in 0..<(3 * PoolRequestLimit.most) {
      _ = limit.allows(.tenant(Self.acme, ID("tenant-\(number)")))
      #expect(limit.count <= PoolRequestLimit.most)
    }
  }

  @Test func `C15: requests that don't name their tenant count toward that of their token`()
    async throws
  {
    try await TestServer.with { server in
      let tenant = try await server.addTenant("east")
      let signedUp = try await server.post(
        "/v1/accounts:signUp",
        ["tenantId": .string(tenant), "email": "eve@example.com", "password": "correct horse"])
      let (idToken, refreshToken) = (signedUp["idToken"], signedUp["refreshToken"])
      let pool = try await server.identity.pools.find(
        project: ID(TestServer.project), tenant: ID(tenant))
      let eve = try #require(
        try await server.identity.accounts.lookup(pool, emails: ["eve@example.com"]).first)
      let pending = try server.identity.signIns.pendingCredential(pool, eve)
      let calls: [(String, JSON)] = [
        ("/v1/accounts:lookup", ["idToken": idToken ?? nil]),
        ("/v1/token", ["grantType": "refresh_token", "refreshToken": refreshToken ?? nil]),
        (
          "/v2/accounts/mfaSignIn:finalize",
          [
            "mfaPendingCredential": .string(pending), "mfaEnrollmentId": "none",
            "totpVerificationInfo": ["verificationCode": "123456"],
          ]
        ),
        (
          "/v2/accounts/mfaSignIn:start",
          [
            "mfaPendingCredential": .string(pending), "mfaEnrollmentId": "none",
            "phoneSignInInfo": [:],
          ]
        ),
      ]
      for (path, body) in calls {
        let limit = PoolRequestLimit(perSecond: 1) { .zero }
        let api = IdentityToolkitAPI(
          identity: server.identity, publicURL: "https://mfa.example.com", limit: limit)
        let request = Request(
          method: .post, target: try #require(Target("\(path)?key=\(server.key)")),
          fields: [.contentType: "application/json"], body: body.serialized())
        var statuses: [Status?] = []
        for _ in 0..<3 { statuses.append(await api.respond(to: request)?.status) }
        #expect(statuses.map { $0 == .tooManyRequests } == [false, false, true], "\(path)")
        let own = try #require(Target("/v1/accounts:signUp?key=\(server.key)"))
        let other = Request(
          method: .post, target: own, fields: [.contentType: "application/json"],
          body: Array("{}".utf8))
        #expect(await api.respond(to: other)?.status != .tooManyRequests)
      }
    }
  }

  @Test func `C15: made-up tokens and tenants count toward the project of the key`() async throws {
    try await TestServer.with { server in
      let tenant = try await server.addTenant("east")
      let limit = PoolRequestLimit(perSecond: 6) { .zero }
      let api = IdentityToolkitAPI(
        identity: server.identity, publicURL: "https://mfa.example.com", limit: limit)
      func send(_ path: String, _ body: JSON) async throws -> Status? {
        let request = Request(
          method: .post, target: try #require(Target("\(path)?key=\(server.key)")),
          fields: [.contentType: "application/json"], body: body.serialized())
        return await api.respond(to: request)?.status
      }
      func forged(_ tenant: String) -> JSON {
        let payload = #"{"firebase":{"tenant":"\#(tenant)"}}"#
        return .string("e30." + Base64URL.encode(Array(payload.utf8)) + ".")
      }
      func refreshToken(_ number: UInt8) -> JSON {
        .string(Base64URL.encode([UInt8](repeating: number, count: 48)))
      }
      let pool = try await server.identity.pools.find(
        project: ID(TestServer.project), tenant: ID(tenant))
      _ = try await server.post(
        "/v1/accounts:signUp",
        ["tenantId": .string(tenant), "email": "eve@example.com", "password": "correct horse"])
      let eve = try #require(
        try await server.identity.accounts.lookup(pool, emails: ["eve@example.com"]).first)
      let pending = try server.identity.signIns.pendingCredential(pool, eve)
      // Neither is read by these methods, or is valid, and the last tenants don't exist.
      let calls: [(String, JSON)] = [
        ("/v1/accounts:signInWithPassword", ["idToken": forged("a")]),
        ("/v1/accounts:signInWithPassword", ["refreshToken": refreshToken(1)]),
        ("/v1/accounts:lookup", ["idToken": forged("b")]),
        ("/v1/accounts:lookup", ["idToken": forged(tenant)]),
        ("/v1/accounts:lookup", ["refreshToken": refreshToken(2)]),
        ("/v1/token", ["grantType": "refresh_token", "refreshToken": refreshToken(3)]),
        ("/v1/token", ["grantType": "refresh_token", "idToken": forged("c")]),
        ("/v1/accounts:signInWithPassword", ["mfaPendingCredential": .string(pending)]),
        ("/v2/accounts/mfaSignIn:finalize", ["mfaPendingCredential": refreshToken(4)]),
        ("/v1/accounts:signUp", ["tenantId": "no-tenant-1"]),
        ("/v1/accounts:signUp", ["tenantId": "no-tenant-2"]),
        ("/v1/accounts:signUp", ["tenantId": "no-tenant-3"]),
      ]
      for (path, body) in calls {
        #expect(try await send(path, body) != .tooManyRequests)
      }
      for (path, body) in calls {
        #expect(try await send(path, body) == .tooManyRequests)
      }
      #expect(limit.count == 1)
      #expect(
        try await send("/v1/accounts:signUp", ["tenantId": .string(tenant)]) != .tooManyRequests)
    }
  }

  @Test func `C15: a call counts toward each pool that it acts on`() async throws {
    try await TestServer.with { server in
      let tenant = try await server.addTenant("east")
      let signedUp = try await server.post(
        "/v1/accounts:signUp",
        ["tenantId": .string(tenant), "email": "eve@example.com", "password": "correct horse"])
      let limit = PoolRequestLimit(perSecond: 1) { .zero }
      let api = IdentityToolkitAPI(
        identity: server.identity, publicURL: "https://mfa.example.com", limit: limit)
      let body: JSON = [
        "requestType": "PASSWORD_RESET", "email": "eve@example.com",
        "idToken": signedUp["idToken"] ?? nil,
      ]
      let request = Request(
        method: .post,
        target: try #require(Target("/v1/accounts:sendOobCode?key=\(server.key)")),
        fields: [.contentType: "application/json"], body: body.serialized())
      for _ in 0..<2 { _ = await api.respond(to: request) }
      #expect(limit.count == 2)
      #expect(!limit.allows(.project(ID(TestServer.project))))
      #expect(!limit.allows(.tenant(ID(TestServer.project), ID(tenant))))
    }
  }

  @Test func `C15: a request beyond the pool's limit gets 429 in the API's format`() async throws {
    try await TestServer.with { server in
      let limit = PoolRequestLimit(perSecond: 1) { .zero }
      let api = IdentityToolkitAPI(
        identity: server.identity, publicURL: "https://mfa.example.com", limit: limit)
      let request = Request(
        method: .post, target: try #require(Target("/v1/accounts:signUp?key=\(server.key)")),
        fields: [.contentType: "application/json"], body: Array("{}".utf8))
      for _ in 0..<2 {
        #expect(await api.respond(to: request)?.status != .tooManyRequests)
      }
      let response = try #require(await api.respond(to: request))
      #expect(response.status == .tooManyRequests && response.fields[.retryAfter] == "1")
      let message = try JSON.parse(response.body.bytes)["error"]?["message"]
      #expect(message == "QUOTA_EXCEEDED : Exceeded quota.")
    }
  }
}
