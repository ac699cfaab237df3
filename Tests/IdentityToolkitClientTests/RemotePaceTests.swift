import JSON
import Testing

@testable import IdentityToolkitClient

/// Walks and people have five calls a second each, and none while the remote wants none.
struct RemotePaceTests {
  private static let empty = ScriptedRemote(googleWith: { _ in .json([:]) })

  @Test func `a walk calls five times a second`() async throws {
    let clock = TestClock()
    let client = try google(Self.empty, clock)
    let start = clock.steady
    for _ in 0..<51 { _ = try await client.users(of: nil, after: nil, for: .walk) }
    #expect(clock.steady - start == .seconds(10))
    #expect(clock.waits.allSatisfy { $0 == .milliseconds(200) })
  }

  @Test func `people call five times at once, and then five times a second`() async throws {
    let clock = TestClock()
    let client = try google(Self.empty, clock)
    let start = clock.steady
    for _ in 0..<5 { _ = try await client.config(for: .person) }
    #expect(clock.steady == start)
    for _ in 0..<50 { _ = try await client.config(for: .person) }
    #expect(clock.steady - start == .seconds(10))
  }

  @Test(arguments: [(RemotePurpose.walk, RemotePurpose.person, 49), (.person, .walk, 45)])
  func `people don't wait for a walk, nor a walk for people`(
    many: RemotePurpose, other: RemotePurpose, waits: Int
  ) async throws {
    let counter = Counter()
    let pace = RemotePace(
      RemoteClock(now: { 0 }, steady: { .seconds(9) }, sleep: { _ in _ = counter.next() }))
    for _ in 0..<50 { try await pace.wait(for: many) }
    try await pace.wait(for: other)
    #expect(counter.next() == waits + 1)
  }

  @Test(
    arguments: [
      (nil, 5), ("0", 5), ("3", 5), ("30", 30), ("soon", 5), ("-7", 5), ("999999", 3_600),
      ("Fri, 20 Nov 2026 08:01:00 GMT", 60), ("Thu, 19 Nov 2026 08:00:00 GMT", 5),
    ] as [(String?, Int)])
  func `calls are kept back as told, for at least five seconds`(told: String?, seconds: Int) {
    #expect(RemotePace(TestClock().remote).hold(told) == seconds)
  }

  @Test func `calls are kept back twice as long each time, up to five minutes`() {
    let clock = TestClock()
    let pace = RemotePace(clock.remote)
    for seconds in [5, 10, 20, 40, 80, 160, 300, 300] {
      #expect(pace.hold(nil) == seconds)
      clock.advance(.seconds(seconds))
    }
    pace.succeed()
    #expect(pace.hold(nil) == 5)
    // Another call that was on its way doesn't make it longer.
    #expect(pace.hold(nil) == 5)
  }

  @Test(arguments: [
    (429, "Too many requests"), (400, "QUOTA_EXCEEDED"), (503, "Error code: 39"),
  ])
  func `a walk waits while the remote wants no calls, and goes on`(status: Int, message: String)
    async throws
  {
    let (clock, counter) = (TestClock(), Counter())
    let remote = ScriptedRemote(googleWith: { _ in
      counter.next() < 3 ? .error(status, message) : .json([:])
    })
    _ = try await google(remote, clock).users(of: nil, after: nil, for: .walk)
    #expect(remote.calls.count == 3 && clock.waits == [.seconds(5), .seconds(10)])
  }

  @Test func `a walk gives up after three refusals`() async throws {
    let remote = ScriptedRemote(googleWith: { _ in
      .json(["error": ["message": "Too many"]], status: 429, retryAfter: "7")
    })
    let client = try google(remote)
    let fault = await thrown { _ = try await client.users(of: nil, after: nil, for: .walk) }
    #expect(fault?.cause == .quota(seconds: 20) && remote.calls.count == 3)
    #expect(fault?.detail == "Too many")
  }

  @Test func `people learn at once when the next call may be sent`() async throws {
    let clock = TestClock()
    let remote = ScriptedRemote(googleWith: { _ in
      .json(["error": ["message": "Too many"]], status: 429, retryAfter: "7")
    })
    let client = try google(remote, clock)
    let first = await thrown { _ = try await client.config(for: .person) }
    #expect(first?.cause == .quota(seconds: 7) && remote.calls.count == 1)
    clock.advance(.milliseconds(2_500))
    let second = await thrown { _ = try await client.config(for: .person) }
    #expect(second?.cause == .quota(seconds: 5) && remote.calls.count == 1)
    clock.advance(.milliseconds(4_500))
    _ = await thrown { _ = try await client.config(for: .person) }
    #expect(remote.calls.count == 2)
    #expect(clock.waits.isEmpty)
  }

  @Test(arguments: [500, 502, 504])
  func `another error of the server isn't repeated`(status: Int) async throws {
    let remote = ScriptedRemote(googleWith: { _ in .error(status, "Backend Error") })
    let client = try google(remote)
    let fault = await thrown { _ = try await client.users(of: nil, after: nil, for: .walk) }
    #expect(fault?.cause == .unreachable && remote.calls.count == 1)
  }
}
