import Database
import JSON
import Testing

@testable import Identity
@testable import TestIdentity

struct SignUpQuotaTests {
  private static func signUp(
    _ instance: Instance, _ pool: Pool, from address: String = "203.0.113.5",
    backend: Bool = false
  ) async -> String {
    var author = Author(actor: .visitor, address: address)
    author.isOfBackend = backend
    let visitor = author
    return await outcome {
      try await instance.identity.signIns.signUp(pool, NewAccount(), by: visitor)
    }
  }

  @Test func `a network creates 100 accounts of a project in an hour`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      for _ in 0..<SignUpQuota.standard {
        #expect(await Self.signUp(instance, instance.acme) == "done")
      }
      #expect(await Self.signUp(instance, instance.acme) == "tooManySignUps")
      #expect(await Self.signUp(instance, instance.acme, from: "203.0.113.6") == "done")
      #expect(await Self.signUp(instance, instance.acme, backend: true) == "done")
      #expect(await Self.signUp(instance, instance.globex) == "done")
      instance.clock.advance(3_600)
      #expect(await Self.signUp(instance, instance.acme) == "done")
    }
  }

  @Test func `a refused sign-up stores nothing`() async throws {
    try await withInstance { instance in
      try await instance.allowPhones()
      try await instance.setMembers(#"{"quota":{"signUpQuotaConfig":{"quota":"1"}}}"#)
      #expect(await Self.signUp(instance, instance.acme) == "done")
      let before = try await instance.log().count
      #expect(await Self.signUp(instance, instance.acme) == "tooManySignUps")
      #expect(try await instance.log().count == before)
    }
  }

  @Test(arguments: [
    (#"{"quota":"5"}"#, 5), (#"{"quota":"0"}"#, 100), (#"{"quota":"1001"}"#, 100),
    (#"{"quota":"5","startTime":"2000-01-01T00:00:00Z","quotaDuration":"60s"}"#, 100),
    (#"{"quota":"5","startTime":"2000-01-01T00:00:00Z"}"#, 5),
    (#"{"quota":"5","startTime":"2999-01-01T00:00:00Z","quotaDuration":"604800s"}"#, 100),
    ("{}", 100),
  ])
  func `a project's setting applies in its period`(config: String, limit: Int) throws {
    let members = try JSON.parse(Array("{\"quota\":{\"signUpQuotaConfig\":\(config)}}".utf8))
    #expect(SignUpQuota.limit(in: members, at: Instant(seconds: 1_790_000_000)) == limit)
  }
}
