import Crypto
import JSON
import Synchronization
import Testing

@testable import IdentityToolkitClient

/// One access token at a time, which proves who asks and is renewed before it expires.
struct AccessTokenTests {
  private func tokens(_ remote: ScriptedRemote, _ clock: TestClock) throws -> AccessTokens {
    guard case .serviceAccount(let key) = try TestKey.credential() else { throw Unexpected() }
    return AccessTokens(key, remote, clock.remote, RemotePace(clock.remote))
  }

  private struct Unexpected: Error {}

  /// A remote whose tokens are numbered.
  private static func numbered(seconds: Int = 3_599) -> ScriptedRemote {
    let counter = Counter()
    return ScriptedRemote { _ in .token("ya29.\(counter.next())", seconds: seconds) }
  }

  @Test func `an assertion is for Google's own address, a minute back, and signed with the key`()
    async throws
  {
    let remote = Self.numbered()
    _ = try await tokens(remote, TestClock()).token()
    let request = try #require(remote.requests.first)
    #expect(request.url == "https://oauth2.googleapis.com/token" && request.body != nil)
    #expect(request.field("Content-Type") == "application/x-www-form-urlencoded")
    #expect(request.field("Authorization") == nil)
    #expect(
      request.parameter("grant_type") == "urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer")
    let assertion = try #require(request.parameter("assertion"))
    let parts = assertion.split(separator: ".").map(String.init)
    #expect(parts.count == 3)
    let header = try JSON.parse(try #require(Base64URL.decode(parts[0])))
    #expect(
      header == ["alg": "RS256", "typ": "JWT", "kid": "3f2a0000000000000000000000000000000000aa"])
    let claims = try JSON.parse(try #require(Base64URL.decode(parts[1])))
    let (issued, now) = (TestClock.now - 60, TestClock.now)
    #expect(
      claims == [
        "iss": .string(TestKey.email), "scope": "https://www.googleapis.com/auth/cloud-platform",
        "aud": "https://oauth2.googleapis.com/token", "iat": .number(JSON.Number(issued)),
        "exp": .number(JSON.Number(issued + 3_600)),
      ])
    #expect(issued + 3_600 > now)
    let signature = try #require(Base64URL.decode(parts[2]))
    #expect(try TestKey.rsa().verify(signature, of: Array("\(parts[0]).\(parts[1])".utf8)))
  }

  @Test func `a token is renewed five minutes before it expires`() async throws {
    let (remote, clock) = (Self.numbered(), TestClock())
    let tokens = try tokens(remote, clock)
    for (advance, text) in [(0, "ya29.1"), (3_298, "ya29.1"), (1, "ya29.2"), (3_298, "ya29.2")] {
      clock.advance(.seconds(advance))
      #expect(try await tokens.token().secret.revealedText == text, "\(advance)")
    }
    #expect(remote.requests.count == 2)
  }

  @Test func `a token is renewed once for all who wait`() async throws {
    let (remote, clock) = (Self.numbered(), TestClock())
    let tokens = try tokens(remote, clock)
    let texts = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<50 { group.addTask { try await tokens.token().secret.revealedText } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(texts == ["ya29.1"] && remote.requests.count == 1)
    // All of them learn that Google doesn't accept it.
    let refused = try await tokens.token()
    let others = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<50 {
        group.addTask { try await tokens.token(otherThan: refused).secret.revealedText }
      }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(others == ["ya29.2"] && remote.requests.count == 2)
  }

  @Test func `a token is used until it expires while Google can't be reached`() async throws {
    let clock = TestClock()
    let isDown = Mutex(false)
    let remote = ScriptedRemote { (_) throws(RemoteFault) in
      if isDown.withLock(\.self) { throw RemoteFault(.unreachable, "down") }
      return .token("ya29.1", seconds: 3_599)
    }
    let tokens = try tokens(remote, clock)
    _ = try await tokens.token()
    isDown.withLock { $0 = true }
    clock.advance(.seconds(3_400))
    let known = try await tokens.token()
    #expect(known.secret.revealedText == "ya29.1")
    // Unless Google doesn't accept it anymore.
    #expect(await thrown { _ = try await tokens.token(otherThan: known) }?.cause == .unreachable)
    clock.advance(.seconds(199))
    #expect(await thrown { _ = try await tokens.token() }?.cause == .unreachable)
    isDown.withLock { $0 = false }
    _ = try await tokens.token()
  }

  @Test(arguments: [(429, true), (503, true), (500, false), (400, false)])
  func `no calls are sent for as long as the endpoint of tokens wants none`(
    status: Int, isHeld: Bool
  ) async throws {
    let body: JSON = ["error": "temporarily_unavailable"]
    let remote = ScriptedRemote { _ in .json(body, status: status, retryAfter: "30") }
    let clock = TestClock()
    let client = try google(remote, clock)
    #expect(await thrown { _ = try await client.config(for: .person) } != nil)
    clock.advance(.seconds(29))
    let second = await thrown { _ = try await client.config(for: .person) }
    #expect((second?.cause == .quota(seconds: 1)) == isHeld)
    #expect(remote.requests.count == (isHeld ? 1 : 2))
    clock.advance(.seconds(1))
    _ = await thrown { _ = try await client.config(for: .person) }
    #expect(remote.requests.count == (isHeld ? 2 : 3))
  }

  @Test(
    arguments: [
      [:], ["access_token": ""], ["access_token": 1], ["access_token": "a\r\nX-Evil: 1"],
      ["access_token": "é"], ["access_token": .string(String(repeating: "a", count: 16_385))], [],
    ] as [JSON])
  func `what can't be sent in a header field is no token`(answer: JSON) async throws {
    let remote = ScriptedRemote { _ in .json(answer) }
    let tokens = try tokens(remote, TestClock())
    #expect(await thrown { _ = try await tokens.token() }?.cause == .unreadable)
  }

  @Test(arguments: [-1, 0, 86_400])
  func `a token isn't used longer than an hour, whatever Google says`(seconds: Int) async throws {
    let (remote, clock) = (Self.numbered(seconds: seconds), TestClock())
    let tokens = try tokens(remote, clock)
    _ = try await tokens.token()
    clock.advance(.seconds(3_600 - 300))
    _ = try await tokens.token()
    #expect(remote.requests.count == 2)
  }
}
