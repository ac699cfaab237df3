import JSON
import Testing

@testable import IdentityToolkitClient

/// What changes send, each once, and whether a fault says that nothing was changed.
struct ChangeTests {
  private static let host = "https://identitytoolkit.googleapis.com"
  private static let users = "\(host)/v1/projects/demo-connected"
  private static let config = "\(host)/v2/projects/demo-connected"

  /// A remote that does what it's asked for.
  private static let done: ScriptedRemote.Answer = { _ in .json([:]) }

  // MARK: - Second factors of a project or tenant

  private static let policies:
    [(name: String, change: RemotePolicyChange, seen: String, mask: String, mfa: String)] = [
      (
        "TOTP on", .totpOn(adjacentIntervals: 3), "{}", "state,providerConfigs",
        #"{"state":"ENABLED","providerConfigs":[{"state":"ENABLED","#
          + #""totpProviderConfig":{"adjacentIntervals":3}}]}"#
      ),
      (
        "TOTP on without intervals", .totpOn(adjacentIntervals: 0), #"{"state":"DISABLED"}"#,
        "state,providerConfigs",
        #"{"state":"ENABLED","providerConfigs":[{"state":"ENABLED","#
          + #""totpProviderConfig":{"adjacentIntervals":0}}]}"#
      ),
      (
        "TOTP on where factors are mandatory", .totpOn(adjacentIntervals: 10),
        #"{"state":"MANDATORY"}"#, "providerConfigs",
        #"{"providerConfigs":[{"state":"ENABLED","#
          + #""totpProviderConfig":{"adjacentIntervals":10}}]}"#
      ),
      (
        "intervals of mandatory TOTP", .totpOn(adjacentIntervals: 1),
        #"{"state":"ENABLED","providerConfigs":[{"state":"MANDATORY","totpProviderConfig":{}}]}"#,
        "state,providerConfigs",
        #"{"state":"ENABLED","providerConfigs":[{"state":"MANDATORY","#
          + #""totpProviderConfig":{"adjacentIntervals":1}}]}"#
      ),
      (
        "TOTP off", .totpOff,
        #"{"state":"ENABLED","providerConfigs":[{"state":"ENABLED","#
          + #""totpProviderConfig":{"adjacentIntervals":7}}]}"#,
        "state,providerConfigs",
        #"{"state":"DISABLED","providerConfigs":[{"state":"DISABLED","#
          + #""totpProviderConfig":{"adjacentIntervals":7}}]}"#
      ),
      (
        "TOTP off beside SMS", .totpOff,
        #"{"state":"ENABLED","enabledProviders":["PHONE_SMS"],"#
          + #""providerConfigs":[{"state":"ENABLED","totpProviderConfig":{}}]}"#,
        "providerConfigs",
        #"{"providerConfigs":[{"state":"DISABLED","totpProviderConfig":{}}]}"#
      ),
      (
        "TOTP off where factors are mandatory", .totpOff,
        #"{"state":"MANDATORY","providerConfigs":[{"state":"MANDATORY","#
          + #""totpProviderConfig":{"adjacentIntervals":2}}]}"#,
        "providerConfigs",
        #"{"providerConfigs":[{"state":"DISABLED","#
          + #""totpProviderConfig":{"adjacentIntervals":2}}]}"#
      ),
      (
        "TOTP off without an entry", .totpOff, "{}", "state,providerConfigs",
        #"{"state":"DISABLED","#
          + #""providerConfigs":[{"state":"DISABLED","totpProviderConfig":{}}]}"#
      ),
      (
        "SMS on", .sms(true), #"{"state":"ENABLED"}"#, "enabledProviders",
        #"{"enabledProviders":["PHONE_SMS"]}"#
      ),
      (
        "SMS on where factors are mandatory", .sms(true), #"{"state":"MANDATORY"}"#,
        "enabledProviders", #"{"enabledProviders":["PHONE_SMS"]}"#
      ),
      (
        "SMS on where factors are off", .sms(true), #"{"state":"DISABLED"}"#,
        "state,enabledProviders", #"{"state":"ENABLED","enabledProviders":["PHONE_SMS"]}"#
      ),
      (
        "SMS on without a state", .sms(true), "{}", "state,enabledProviders",
        #"{"state":"ENABLED","enabledProviders":["PHONE_SMS"]}"#
      ),
      (
        "SMS off", .sms(false), #"{"state":"ENABLED","enabledProviders":["PHONE_SMS"]}"#,
        "enabledProviders", #"{"enabledProviders":[]}"#
      ),
    ]

  @Test(arguments: [nil, "eu/1"])
  func `a part of the second factors is written, and what's mandatory stays`(tenant: String?)
    async throws
  {
    let remote = ScriptedRemote(googleWith: Self.done)
    let client = try google(remote, access: .policy)
    let member = tenant == nil ? "mfa" : "mfaConfig"
    let path = tenant == nil ? "config" : "tenants/eu%2F1"
    for row in Self.policies {
      let seen = RemoteMFA(try JSON.parse(Array(row.seen.utf8)))
      _ = try await client.change(row.change, over: seen, of: tenant)
      let sent = try #require(remote.calls.last)
      #expect(sent.method == "PATCH" && sent.field("Content-Type") == "application/json")
      let mask = row.mask.split(separator: ",").map { "\(member).\($0)" }.joined(separator: "%2C")
      #expect(sent.url == "\(Self.config)/\(path)?updateMask=\(mask)", "\(row.name)")
      #expect(sent.text == #"{"\#(member)":\#(row.mfa)}"#, "\(row.name)")
    }
    #expect(remote.calls.count == Self.policies.count)
  }

  @Test func `a change of second factors returns what they are then`() async throws {
    let after: JSON = ["state": "ENABLED", "enabledProviders": ["PHONE_SMS"]]
    let remote = ScriptedRemote(googleWith: { request in
      request.url.contains("/tenants/")
        ? .json(["mfaConfig": after, "mfa": [:]]) : .json(["mfa": after, "mfaConfig": [:]])
    })
    let client = try google(remote, access: .policy)
    for tenant in [nil, "eu-1"] {
      let mfa = try await client.change(.sms(true), over: RemoteMFA(nil), of: tenant)
      #expect(mfa == RemoteMFA(after))
    }
  }

  // MARK: - Users

  private static let factors = #"""
    {"mfaInfo":[
      {"mfaEnrollmentId":"a","displayName":"Phone \"é\"","enrolledAt":"2026-01-02T03:04:05.678901Z",
       "totpInfo":{}},
      {"phoneInfo":"+12025550143","mfaEnrollmentId":"b","enrolledAt":"2026-01-02T03:04:05Z",
       "unobfuscatedPhoneInfo":"+12025550143"},
      {"mfaEnrollmentId":"c","totpInfo":{}}]}
    """#

  private static func user(_ text: String = factors) throws -> RemoteUser {
    RemoteUser(try JSON.parse(Array(text.utf8)))
  }

  @Test(arguments: [
    ("", "accounts:update"), ("eu/1", "tenants/eu%2F1/accounts:update"),
  ])
  func `only what changes of a user is sent`(tenant: String, path: String) async throws {
    let remote = ScriptedRemote(googleWith: Self.done)
    let client = try google(remote, access: .support)
    let factors = try Self.user().factors
    let kept = [
      #"{"mfaEnrollmentId":"a","displayName":"Phone \"é\"","#
        + #""enrolledAt":"2026-01-02T03:04:05.678901Z","totpInfo":{}}"#,
      #"{"mfaEnrollmentId":"b","phoneInfo":"+12025550143","enrolledAt":"2026-01-02T03:04:05Z"}"#,
      #"{"mfaEnrollmentId":"c","totpInfo":{}}"#,
    ]
    let rows: [(RemoteUserChange, String)] = [
      (.init(), ""),
      (.init(isDisabled: true), #","disableUser":true"#),
      (.init(isDisabled: false), #","disableUser":false"#),
      (.init(validSince: 1_795_161_601), #","validSince":"1795161601""#),
      (.init(factors: []), #","mfa":{"enrollments":[]}"#),
      (
        .init(factors: factors),
        #","mfa":{"enrollments":[\#(kept.joined(separator: ","))]}"#
      ),
      (
        .init(factors: [factors[1]], isDisabled: true, validSince: 7),
        #","mfa":{"enrollments":[\#(kept[1])]},"disableUser":true,"validSince":"7""#
      ),
    ]
    for (change, text) in rows {
      try await client.change(change, of: "u\"1", in: tenant.isEmpty ? nil : tenant)
      let sent = try #require(remote.calls.last)
      #expect(sent.method == "POST" && sent.url == "\(Self.users)/\(path)")
      #expect(sent.text == #"{"localId":"u\"1"\#(text)}"#)
    }
    #expect(remote.calls.count == rows.count)
  }

  @Test func `another Countersign learns that the list is complete`() async throws {
    let remote = ScriptedRemote { _ in .json([:]) }
    let client = try countersign(remote, access: .support)
    try await client.change(.init(factors: [try Self.user().factors[2]]), of: "u", in: nil)
    try await client.change(.init(isDisabled: true), of: "u", in: nil)
    let address = "https://mfa.example.com/v1/projects/demo-connected/accounts:update"
    #expect(remote.requests.map(\.url) == ["\(address)?updateMask=mfa.enrollments", address])
    #expect(
      remote.requests[0].text
        == #"{"localId":"u","mfa":{"enrollments":[{"mfaEnrollmentId":"c","totpInfo":{}}]}}"#)
  }

  @Test func `a factor of an unknown kind isn't sent, since it would be lost`() async throws {
    let remote = ScriptedRemote(googleWith: Self.done)
    let client = try google(remote, access: .support)
    let user = try Self.user(#"{"mfaInfo":[{"mfaEnrollmentId":"a","emailInfo":{}}]}"#)
    let fault = await thrown {
      try await client.change(.init(factors: user.factors), of: "u", in: nil)
    }
    #expect(fault?.cause == .unknownFactor && fault?.isRefusal == true)
    #expect(remote.requests.isEmpty)
  }

  // MARK: - Reading before and after

  @Test func `a tenant is read alone`() async throws {
    let remote = ScriptedRemote(googleWith: { _ in
      .json(["name": "projects/1/tenants/eu-1", "mfaConfig": ["state": "MANDATORY"]])
    })
    let tenant = try await google(remote).tenant("eu-1", for: .person)
    #expect(tenant.id == "eu-1" && tenant.mfa.state == .mandatory)
    let sent = try #require(remote.calls.first)
    #expect(sent.method == "GET")
    #expect(
      sent.url
        == "\(Self.config)/tenants/eu-1?fields=name%2CdisplayName%2CdisableAuth%2CmfaConfig")
    let empty = try google(ScriptedRemote(googleWith: { _ in .json([:]) }))
    let fault = await thrown { _ = try await empty.tenant("eu-1", for: .person) }
    #expect(fault?.cause == .unreadable)
  }

  @Test(arguments: [
    ("Fri, 20 Nov 2026 15:53:00 GMT", 1_795_189_980), (nil, TestClock.now),
    ("soon", TestClock.now),
  ])
  func `a user is read with the remote's time`(date: String?, seconds: Int64) async throws {
    let remote = ScriptedRemote(googleWith: { _ in
      RemoteResponse(status: 200, date: date, body: Array(#"{"users":[{"localId":"b"}]}"#.utf8))
    })
    let client = try google(remote)
    let found = try await client.datedUser("b", of: nil, for: .person)
    #expect(found.user?.id == "b" && found.date == seconds)
    let none = try await client.datedUser("c", of: nil, for: .person)
    #expect(none.user == nil && none.date == seconds)
  }

  // MARK: - Access and pace

  /// The calls that change, with the access level that they need.
  private static let calls:
    [(
      needs: AccessLevel, permission: String, purpose: RemotePurpose,
      call: @Sendable (ToolkitClient) async throws -> Void
    )] = [
      (
        .support, "firebaseauth.users.update", .userChange,
        { try await $0.change(.init(isDisabled: true), of: "u", in: nil) }
      ),
      (
        .support, "identitytoolkit.tenants.update", .userChange,
        { try await $0.change(.init(isDisabled: true), of: "u", in: "eu-1") }
      ),
      (
        .policy, "firebaseauth.configs.update", .policyChange,
        { _ = try await $0.change(.totpOff, over: RemoteMFA(nil), of: nil) }
      ),
      (
        .policy, "identitytoolkit.tenants.update", .policyChange,
        { _ = try await $0.change(.totpOff, over: RemoteMFA(nil), of: "eu-1") }
      ),
    ]

  @Test(arguments: AccessLevel.allCases)
  func `a change beyond the access level isn't sent`(access: AccessLevel) async throws {
    for row in Self.calls {
      let remote = ScriptedRemote(googleWith: Self.done)
      let client = try google(remote, access: access)
      let fault = await thrown { try await row.call(client) }
      #expect(fault?.cause == (row.needs <= access ? nil : .beyondAccess(row.needs)))
      #expect(fault?.isRefusal != false)
      #expect(remote.requests.isEmpty == (row.needs > access))
    }
  }

  @Test func `a change that isn't permitted names the permission`() async throws {
    for row in Self.calls {
      let remote = ScriptedRemote(googleWith: { _ in .error(403, "The caller does not have it") })
      let client = try google(remote, access: .policy)
      let fault = await thrown { try await row.call(client) }
      #expect(fault?.cause == .permissionMissing(row.permission) && fault?.isRefusal == true)
      #expect(remote.calls.count == 1)
    }
  }

  @Test(arguments: [(RemotePurpose.userChange, 500), (.policyChange, 1_000)])
  func `changes are sent one after another, and wait for nothing else`(
    purpose: RemotePurpose, milliseconds: Int
  ) async throws {
    let clock = TestClock()
    let pace = RemotePace(clock.remote)
    let start = clock.steady
    for _ in 0..<11 { try await pace.wait(for: purpose) }
    #expect(clock.steady - start == .milliseconds(milliseconds) * 10)
    #expect(clock.waits.allSatisfy { $0 == .milliseconds(milliseconds) })
    let waits = clock.waits.count
    let other = purpose == .userChange ? RemotePurpose.policyChange : .userChange
    for purpose in [other, .person, .walk] { try await pace.wait(for: purpose) }
    #expect(clock.waits.count == waits)
  }

  @Test func `changes learn at once when the remote wants no calls`() async throws {
    let clock = TestClock()
    let remote = ScriptedRemote(googleWith: { _ in
      .json(["error": ["message": "Too many"]], status: 429, retryAfter: "7")
    })
    let client = try google(remote, clock, access: .policy)
    for row in Self.calls {
      let fault = await thrown { try await row.call(client) }
      #expect(fault?.cause == .quota(seconds: 7) && fault?.isRefusal == true)
    }
    #expect(remote.calls.count == 1 && clock.waits.isEmpty)
  }

  // MARK: - Once

  @Test(arguments: [408, 500, 502, 503, 504])
  func `a change isn't sent again when the remote fails, which may have made it`(status: Int)
    async throws
  {
    for row in Self.calls {
      let remote = ScriptedRemote(googleWith: { _ in
        status == 408 ? .init(status: 408, body: []) : .error(status, "Backend Error")
      })
      let client = try google(remote, access: .policy)
      let fault = await thrown { try await row.call(client) }
      #expect(fault?.cause == .unreachable && fault?.isRefusal == false)
      #expect(remote.calls.count == 1)
    }
  }

  @Test(arguments: [RemoteFault.Cause.unreachable, .tooLarge])
  func `a change isn't sent again when its answer is lost`(cause: RemoteFault.Cause) async throws {
    for row in Self.calls {
      let remote = ScriptedRemote(googleWith: { (_) throws(RemoteFault) in
        throw RemoteFault(cause)
      })
      let client = try google(remote, access: .policy)
      let fault = await thrown { try await row.call(client) }
      #expect(fault?.cause == cause && fault?.isRefusal == false)
      #expect(remote.calls.count == 1)
    }
  }

  @Test func `a change is sent again with a new token, once`() async throws {
    for row in Self.calls {
      for accepted in ["2", "none"] {
        let counter = Counter()
        let remote = ScriptedRemote { request in
          if request.url == RemoteHost.token { return .token("ya29.\(counter.next())") }
          return request.field("Authorization") == "Bearer ya29.\(accepted)"
            ? .json([:]) : .error(401, "Invalid Credentials")
        }
        let client = try google(remote, access: .policy)
        let fault = await thrown { try await row.call(client) }
        #expect(fault?.cause == (accepted == "2" ? nil : .unauthorized))
        #expect(fault?.isRefusal != false)
        #expect(remote.calls.count == 2)
        #expect(remote.calls[0].text == remote.calls[1].text)
        #expect(Set(remote.calls.map(\.method)).count == 1)
      }
    }
  }

  // MARK: - Refusals

  @Test(arguments: [503, 200])
  func `a change without an access token wasn't sent`(status: Int) async throws {
    for row in Self.calls {
      let remote = ScriptedRemote { _ in .json([:], status: status) }
      let client = try google(remote, access: .policy)
      let fault = await thrown { try await row.call(client) }
      #expect([.unreachable, .unreadable].contains(fault?.cause) && fault?.isRefusal == true)
      #expect(remote.calls.isEmpty)
    }
  }

  private static let refusals: [(response: RemoteResponse, isRefusal: Bool)] = [
    (.error(400, "USER_NOT_FOUND"), true), (.error(400, "UNSUPPORTED_SECOND_FACTOR"), true),
    (.error(400, "TENANT_DISABLED"), true), (.error(404, "TENANT_NOT_FOUND"), true),
    (.error(401, "Invalid Credentials"), true), (.error(403, "denied"), true),
    (.error(429, "Too many"), true), (.init(status: 429, body: []), true),
    (.error(400, "QUOTA_EXCEEDED"), true), (.error(418, "TEAPOT"), true),
    (.error(500, "INTERNAL"), false), (.error(503, "Error code: 39"), false),
    // Whatever its words are, a server that fails may have done it.
    (.error(500, "USER_NOT_FOUND"), false), (.error(503, "Quota exceeded"), false),
    (.init(status: 502, body: []), false), (.init(status: 408, body: []), false),
    (.init(status: 302, body: []), false), (.init(status: 404, body: Array("<p>".utf8)), false),
    (.init(status: 200, body: Array("<p>".utf8)), false), (.json([]), false),
  ]

  @Test func `a fault says whether nothing was changed`() async throws {
    for (response, isRefusal) in Self.refusals {
      let client = try google(ScriptedRemote(googleWith: { _ in response }), access: .support)
      let fault = await thrown { try await client.change(.init(factors: []), of: "u", in: nil) }
      #expect(fault?.isRefusal == isRefusal, "\(response.status) \(fault?.detail ?? "")")
    }
  }
}

extension RemoteRequest {
  /// The body, as sent.
  fileprivate var text: String? { body.map { String(decoding: $0, as: UTF8.self) } }
}
