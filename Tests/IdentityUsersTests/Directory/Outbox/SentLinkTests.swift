import Crypto
import Testing

@testable import Identity
@testable import TestIdentity

struct SentLinkTests {
  /// Returns the states of the links in the messages of a purpose to an account, newest first.
  private func links(
    _ purpose: String, to account: Account, _ instance: Instance
  ) async throws -> [SentLink?] {
    let records = try #require(
      try await instance.identity.records(of: account.id, in: instance.acme, history: false))
    return records.messages.filter { $0.purpose == purpose }.map { records.links[$0.id] }
  }

  @Test func `a message shows whether its link was used, expired, or became invalid`()
    async throws
  {
    try await withInstance { instance in
      let (alice, bob) = (try await instance.account(.alice), try await instance.account(.bob))
      let code = try await instance.code(.passwordReset)
      // Of the same time, but to a different user.
      _ = try await instance.code(.passwordReset, .bob)
      #expect(try await links("reset-password", to: alice, instance) == [.valid])
      instance.clock.advance(60)
      try await instance.identity.outOfBandCodes.resetPassword(
        code, to: Secret("a new password"), by: Instance.visitor)
      let used = instance.now
      #expect(try await links("reset-password", to: alice, instance) == [.used(used)])
      #expect(try await links("reset-password", to: bob, instance) == [.valid])
      instance.clock.advance(1)
      _ = try await instance.code(.passwordReset)
      #expect(try await links("reset-password", to: alice, instance) == [.valid, .used(used)])
      var change = AccountChange()
      change.email = .set("alice@elsewhere.example")
      _ = try await instance.identity.accounts.update(
        instance.acme, alice.id, change, by: Instance.boss)
      #expect(try await links("reset-password", to: alice, instance) == [.invalid, .used(used)])
      instance.clock.advance(3_600)
      #expect(try await links("reset-password", to: alice, instance) == [.invalid, .used(used)])
      #expect(try await links("reset-password", to: bob, instance) == [.expired])
    }
  }

  @Test func `a link that signs in belongs to the user whose address it was sent to`()
    async throws
  {
    try await withInstance { instance in
      try await instance.allow(emailLink: true)
      let alice = try await instance.account(.alice)
      let code = try await instance.code(.signIn)
      #expect(try await links("sign-in", to: alice, instance) == [.valid])
      instance.clock.advance(60)
      _ = try await instance.identity.signIns.emailLink(
        instance.acme, email: Person.alice.email, code: code, by: Instance.visitor)
      #expect(try await links("sign-in", to: alice, instance) == [.used(instance.now)])
    }
  }

  @Test func `a link is invalid while its pool doesn't allow it`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      _ = try await instance.code(.passwordReset)
      try await instance.allow(password: false)
      #expect(try await links("reset-password", to: alice, instance) == [.invalid])
      try await instance.allow()
      #expect(try await links("reset-password", to: alice, instance) == [.valid])
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) {
        $0.disableAuth = true
      }
      let closed = try await instance.identity.pools.find(project: instance.acme.project)
      let disabled = try #require(
        try await instance.identity.records(of: alice.id, in: closed, history: false))
      #expect(disabled.messages.compactMap { disabled.links[$0.id] } == [.invalid])
    }
  }

  @Test func `a link to a later address is replaced once that of an earlier one was used`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let codes = instance.identity.outOfBandCodes
      for (old, new) in [(Person.alice.email, "m-1@example.com"), ("m-1@example.com", "m-2@x.de")] {
        var request = OutOfBandRequest(.changeEmail, for: .email(old))
        request.newEmail = new
        let link = try await codes.link(request, in: instance.acme, by: Instance.boss)
        _ = try await codes.apply(link.code, by: Instance.visitor)
        instance.clock.advance(60)
      }
      #expect(try await links("recover-email", to: alice, instance) == [.valid, .valid])
      let first = try #require(try await instance.mails("recover-email").first).code
      _ = try await codes.apply(first, by: Instance.visitor)
      #expect(
        try await links("recover-email", to: alice, instance) == [.replaced, .used(instance.now)])
    }
  }

  @Test(arguments: [false, true])
  func `an enrollment link is replaced by a newer one and ends with the sessions`(
    isReported: Bool
  ) async throws {
    try await withInstance { instance in
      let (alice, agent) = (try await instance.account(.alice), try await instance.agent())
      for _ in 0..<2 {
        instance.clock.advance(60)
        _ = try await instance.identity.enrollmentLinks.send(
          agent.request(), to: alice.id, in: instance.acme)
      }
      #expect(try await links("enrollment-link", to: alice, instance) == [.valid, .replaced])
      instance.clock.advance(60)
      if isReported {
        try await instance.reportChange(of: alice.id)
      } else {
        try await instance.identity.sessions.endAll(instance.acme, alice.id, by: Instance.support)
      }
      #expect(try await links("enrollment-link", to: alice, instance) == [.invalid, .replaced])
    }
  }
}
