import Crypto
import Identity
import Testing

@testable import TestIdentity

/// The limits of how often users can change their own accounts.
struct OwnChangeTests {
  /// Returns whether an error is that of too many changes, the first of which was some seconds ago.
  private func isLimit(
    _ error: SessionError?, _ instance: Instance, since seconds: Int64 = 0
  ) -> Bool {
    guard case .tooManyChanges(let until) = error else { return false }
    return until == instance.now.advanced(bySeconds: 3_600 - seconds)
  }

  private func unlink(_ account: Account, _ session: UserSession, _ instance: Instance) async throws
  {
    var change = AccountChange()
    change.unlinked = ["oidc.acme"]
    _ = try await instance.identity.accounts.update(
      instance.acme, account.id, change, by: Author(actor: .user(account.id)), in: session)
  }

  /// Changes a user's name, and photo if there's one, in their session or as an administrator.
  private func rename(
    _ account: Account, to name: String, photo: String? = nil, _ session: UserSession?,
    _ instance: Instance
  ) async throws {
    var change = AccountChange()
    change.displayName = .set(name)
    if let photo { change.photoURL = .set(photo) }
    let author = session.map { Author(actor: .user($0.account)) } ?? Instance.boss
    _ = try await instance.identity.accounts.update(
      instance.acme, account.id, change, by: author, in: session)
  }

  @Test func `a user's new recovery codes, which send emails, are limited per hour`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let enrollments = instance.identity.enrollments
      let device = try await instance.enrolled(.alice)
      let session = try await instance.signIn(
        .alice, device, code: device.code(at: instance.now)
      ).session
      var last: [Secret] = []
      // The enrollment sent an alert as well.
      for _ in 0..<4 {
        last = try await enrollments.makeRecoveryCodes(session, by: Instance.visitor)
      }
      let mails = try await instance.mails()
      let rows = try await instance.log().count
      #expect(mails.count { $0.purpose == "notice-recovery-codes" } == 4)
      let refused = try await thrown(SessionError.self) {
        try await enrollments.makeRecoveryCodes(session, by: Instance.visitor)
      }
      #expect(isLimit(refused, instance, since: 30))
      #expect(try await instance.mails().count == mails.count)
      #expect(try await instance.log().count == rows)
      // The refused ones didn't replace the last ones.
      let code = try #require(last.first).revealedText
      try await instance.signIn(.alice, device, code: code)
      instance.clock.advance(3_600)
      let fresh = try await instance.signIn(
        .alice, device, code: device.code(at: instance.now)
      ).session
      _ = try await enrollments.makeRecoveryCodes(fresh, by: Instance.visitor)
    }
  }

  @Test func `a user's linked identities, which send emails, are limited per hour`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      let federation = instance.identity.federation
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      let assertion = try await instance.assertion(
        TestTokenIssuer.back.token(
          Instance.claims(#""email":"alice@example.com","email_verified":true"#)))
      for _ in 0..<4 {
        _ = try await federation.link(session, assertion, by: Instance.visitor)
        try await unlink(alice, session, instance)
      }
      // A sign-in that links by the email address sends the same email.
      _ = try await federation.signIn(
        instance.acme, assertion, mayCreate: false, by: Instance.visitor)
      // Taking an identity away isn't refused.
      try await unlink(alice, session, instance)
      let mails = try await instance.mails()
      #expect(mails.count { $0.purpose == "notice-provider-linked" } == 5)
      let linking = try await thrown(SessionError.self) {
        try await federation.link(session, assertion, by: Instance.visitor)
      }
      let signingIn = try await thrown(SessionError.self) {
        try await federation.signIn(
          instance.acme, assertion, mayCreate: false, by: Instance.visitor)
      }
      for refused in [linking, signingIn] { #expect(isLimit(refused, instance)) }
      #expect(try await instance.mails().count == mails.count)
      #expect(try await instance.reload(alice).providers.isEmpty)
      instance.clock.advance(3_600)
      _ = try await federation.link(session, assertion, by: Instance.visitor)
    }
  }

  @Test func `a user's changes of their own profile are limited per hour`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      for number in 0..<29 {
        try await rename(alice, to: number.isMultiple(of: 2) ? "Alice" : "Al", session, instance)
      }
      try await rename(
        alice, to: "Alice", photo: "https://example.com/alice.png", session, instance)
      let rows = try await instance.log().count
      let refused = try await thrown(SessionError.self) {
        try await rename(alice, to: "Al", session, instance)
      }
      #expect(isLimit(refused, instance))
      // What changes nothing isn't counted or refused.
      try await rename(alice, to: "Alice", session, instance)
      #expect(try await instance.log().count == rows)
      // Neither are changes by others.
      try await rename(alice, to: "Ally", nil, instance)
      #expect(try await instance.reload(alice).displayName == "Ally")
      instance.clock.advance(3_600)
      try await rename(alice, to: "Al", session, instance)
      #expect(try await instance.log().count == rows + 2)
    }
  }

  @Test func `names that don't change, and those that others set, don't use up the limit`()
    async throws
  {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let session = try await instance.session(.alice).session
      for number in 0..<40 {
        try await rename(alice, to: "Alice \(number)", nil, instance)
        try await rename(alice, to: "Alice \(number)", session, instance)
      }
      try await rename(alice, to: "Al", session, instance)
    }
  }
}
