import Crypto
import OTP
import TestAuthenticator
import Testing
import WebAuthn

@testable import Identity
@testable import TestIdentity

struct PasskeyTests {
  @Test func `V14: a passkey alone signs in as both factors`() async throws {
    try await withInstance { instance in
      let (olga, authenticator) = try await instance.passkeyOwner("olga")
      let session = try await instance.signIn(authenticator)
      #expect(session.administrator.id == olga.id)
      #expect(session.secondFactor == .enrolled && session.factors == [.passkey])
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .administratorSignIn && row.new(.verification) == .code("passkey"))
      #expect(row.new(.passkey) == .text("Laptop"))
      let eligibility = try await instance.identity.authorization.eligibility(
        .inviteAdministrator, session)
      #expect(!eligibility.needsReauthentication)
      let passkey = try #require(try await instance.identity.passkeys.list(of: olga.id).first)
      #expect(passkey.lastUsedAt == instance.now)
    }
  }

  @Test func `after the password, a passkey is the second factor, once`() async throws {
    try await withInstance { instance in
      let (olga, authenticator) = try await instance.passkeyOwner("olga")
      guard
        case .secondFactorDue(let secret, let methods) = try await instance.giveConsolePassword(
          olga)
      else { throw Unexpected("no second factor is required") }
      #expect(methods == [.passkey])
      let pending = secret.revealedText
      await expect("passkeyRequired") { _ = try await instance.finish(pending, code: "123456") }
      let challenge = try #require(
        try await instance.identity.passkeys.beginSecondFactor(pending, in: Instance.browser))
      #expect(challenge.credentials == [authenticator.id])
      let response = try instance.response(authenticator, challenge)
      @Sendable func finish(in browser: String = Instance.browser) async throws -> NewConsoleSession
      {
        try await instance.identity.passkeys.finish(
          pending, response, ticket: challenge.ticket.revealedText, in: browser,
          for: Instance.party, from: Instance.signInOrigin)
      }
      await expect("ended") { _ = try await finish(in: "another browser") }
      #expect(try await finish().session.administrator.id == olga.id)
      await expect("ended") { _ = try await finish() }
    }
  }

  @Test
  func `the first passkey comes with recovery codes, which sign in without it and end with it`()
    async throws
  {
    try await withInstance { instance in
      let nora = try await instance.administrator("nora", .auditor)
      let session = try await instance.giveConsolePassword(nora).session.session
      let new = try await instance.newPasskey(try TestAuthenticator(), in: session)
      let codes = new.recoveryCodes.map(\.revealedText)
      #expect(codes.count == 10)
      @Sendable func pending() async throws -> String {
        try await instance.giveConsolePassword(nora).pending
      }
      let sessions = instance.identity.consoleSessions
      #expect(try await sessions.acceptsRecoveryCode(try await pending()))
      await expect("passkeyRequired") {
        try await instance.finish(try await pending(), code: "123456")
      }
      let recovered = try await instance.finish(try await pending(), code: codes[0]).session
      await expect("wrongCode") { try await instance.finish(try await pending(), code: codes[0]) }
      let second = try await instance.newPasskey(
        try TestAuthenticator(2), named: "Key", in: recovered)
      #expect(second.recoveryCodes.isEmpty)
      let account = instance.identity.ownAccount
      #expect(try await account.recoveryCodesLeft(nora.id) == 9)
      let made = try await instance.identity.administratorFactors.makeRecoveryCodes(
        for: nora.id, currentCode: TypedCode(codes[1]), in: recovered, by: instance.author(nora))
      #expect(made.count == 10)
      for passkey in [new.passkey.id, second.passkey.id] {
        try await instance.identity.passkeys.remove(
          passkey, in: recovered, by: instance.author(nora))
      }
      #expect(try await account.recoveryCodesLeft(nora.id) == 0)
      let rows = try await instance.wholeLog().filter { $0.action == .administratorPasskeyRemove }
      #expect(rows.map { $0.old(.codes) } == [.number(10), nil])
    }
  }

  @Test func `V14: a challenge counts once, for ten minutes, and for its purpose`() async throws {
    try await withInstance { instance in
      let (olga, authenticator) = try await instance.passkeyOwner("olga")
      let passkeys = instance.identity.passkeys
      let challenge = try passkeys.beginSignIn(in: Instance.browser)
      let response = try instance.response(authenticator, challenge, handle: olga.id)
      @Sendable func signIn(_ ticket: Secret, _ response: PasskeyResponse) async throws
        -> ConsoleSession
      {
        try await passkeys.signIn(
          response, ticket: ticket.revealedText, in: Instance.browser, for: Instance.party,
          from: Instance.signInOrigin
        ).session
      }
      let session = try await signIn(challenge.ticket, response)
      await expect("ended") { _ = try await signIn(challenge.ticket, response) }
      let other = try await passkeys.beginReauthentication(session)
      let wrong = try instance.response(authenticator, other, handle: olga.id)
      await expect("ended") { _ = try await signIn(other.ticket, wrong) }
      let late = try passkeys.beginSignIn(in: Instance.browser)
      let lateResponse = try instance.response(authenticator, late, handle: olga.id)
      instance.clock.advance(601)
      await expect("ended") { _ = try await signIn(late.ticket, lateResponse) }
    }
  }

  @Test func `V14: a copied, unknown, removed, or foreign passkey is refused and recorded`()
    async throws
  {
    try await withInstance { instance in
      let (olga, authenticator) = try await instance.passkeyOwner("olga")
      let copy = try TestAuthenticator(signCount: authenticator.signCount)
      _ = try await instance.signIn(authenticator)
      await expect("passkeyRefused") { _ = try await instance.signIn(copy) }
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .administratorPasskeyRefused && row.objectID == olga.id.text)
      #expect(row.new(.passkeyRefusal) == .code("copied"))
      let stranger = try TestAuthenticator(9)
      await expect("passkeyRefused") { _ = try await instance.signIn(stranger) }
      #expect(try await instance.wholeLog().first?.new(.passkeyRefusal) == .code("unknown"))
      let handle = ID<Administrator>("another")
      await expect("passkeyRefused") {
        _ = try await instance.signIn(authenticator, as: handle)
      }
      let foreign = try #require(try await instance.wholeLog().first)
      #expect(foreign.action == .administratorPasskeyRefused && foreign.objectID == olga.id.text)
      #expect(foreign.new(.passkeyRefusal) == .code("invalid"))
      let count = try await instance.wholeLog().count
      authenticator.choices.origin = "https://mfa.example.org"
      await expect("passkeyRefused") { _ = try await instance.signIn(authenticator) }
      #expect(try await instance.wholeLog().first?.new(.passkeyRefusal) == .code("invalid"))
      #expect(try await instance.wholeLog().count == count + 1)
      authenticator.choices.origin = nil
      try await instance.identity.administratorFactors.reset(
        olga.id, by: .program(Author(actor: .commandLine)))
      await expect("passkeyRefused") { _ = try await instance.signIn(authenticator) }
      let removed = try #require(try await instance.wholeLog().first)
      #expect(removed.action == .administratorPasskeyRefused)
      #expect(removed.new(.passkeyRefusal) == .code("unknown"))
      #expect(try await instance.identity.passkeys.list(of: olga.id).isEmpty)
    }
  }

  @Test func `refused passkeys from a network are throttled`() async throws {
    try await withInstance { instance in
      _ = try await instance.passkeyOwner("olga")
      let stranger = try TestAuthenticator(9)
      var results: Set<String> = []
      for _ in 0..<101 {
        results.insert(await outcome { _ = try await instance.signIn(stranger) })
      }
      #expect(results == ["passkeyRefused", "throttled"])
    }
  }

  @Test func `re-authentication with a passkey renews the session and enables actions`()
    async throws
  {
    try await withInstance { instance in
      let (_, authenticator) = try await instance.passkeyOwner("olga")
      let session = try await instance.signIn(authenticator)
      instance.clock.advance(1_800)
      let authorization = instance.identity.authorization
      let eligibility = try await authorization.eligibility(.inviteAdministrator, session)
      #expect(eligibility.needsReauthentication && eligibility.isBlocked)
      #expect(eligibility.methods == [.passkey])
      let unmet = try await authorization.unmet(
        .confirmClock, instance.request(session.administrator, session, note: ""))
      #expect(unmet == [.passkeyRequired])
      let proved = try await instance.reauthenticate(authenticator, in: session)
      #expect(proved.id == session.id)
      #expect(try await instance.isReplaced(session, by: proved))
      #expect(
        try await !authorization.eligibility(.inviteAdministrator, proved).needsReauthentication)
      #expect(try await instance.wholeLog().first?.new(.verification) == .code("passkey"))
    }
  }

  @Test func `a passkey is added after a recent proof, or the password without a second factor`()
    async throws
  {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let new = try await instance.giveConsolePassword(olga).session
      let session = new.session
      instance.clock.advance(400)
      let authenticator = try TestAuthenticator()
      await expect("wrongPassword") {
        _ = try await instance.addPasskey(authenticator, in: session)
      }
      await expect("wrongPassword") {
        _ = try await instance.addPasskey(
          authenticator, in: session, password: Secret("not the password"))
      }
      _ = try await instance.addPasskey(
        authenticator, in: session, password: Instance.consolePassword)
      let second = try TestAuthenticator(2)
      let current = try #require(
        try await instance.identity.consoleSessions.find(token: new.token.revealedText))
      await expect("reauthenticationRequired") {
        _ = try await instance.addPasskey(second, in: current)
      }
      let proved = try await instance.reauthenticate(authenticator, in: session)
      await expect("exists") { _ = try await instance.addPasskey(authenticator, in: proved) }
      _ = try await instance.addPasskey(second, named: "  Key  ", in: proved)
      let names = try await instance.identity.passkeys.list(of: olga.id).map(\.name)
      #expect(names.sorted() == ["Key", "Laptop"])
      instance.clock.advance(400)
      let third = try TestAuthenticator(3)
      await expect("reauthenticationRequired") {
        _ = try await instance.addPasskey(third, in: proved)
      }
    }
  }

  @Test func `the last second factor of a role that needs one stays`() async throws {
    try await withInstance { instance in
      let (olga, authenticator) = try await instance.passkeyOwner("olga")
      let session = try await instance.signIn(authenticator)
      let passkeys = instance.identity.passkeys
      let passkey = try #require(try await passkeys.list(of: olga.id).first)
      let author = instance.author(olga)
      let error = try await thrown(PasskeyError.self) {
        try await passkeys.remove(passkey.id, in: session, by: author)
      }
      guard case .mandatory(.lastSecondFactor) = error else {
        throw Unexpected("\(String(describing: error))")
      }
      let renewed = try await instance.addApp(in: session).session
      try await passkeys.remove(passkey.id, in: renewed, by: author)
      await expect("passkeyRefused") { _ = try await instance.signIn(authenticator) }
      let row = try await instance.wholeLog().first { $0.action == .administratorPasskeyRemove }
      #expect(row?.old(.passkey) == .text("Laptop"))
    }
  }

  @Test func `V14: a session that has ended adds no passkey, and no authenticator app`()
    async throws
  {
    try await withInstance { instance in
      let nora = try await instance.administrator("nora", .auditor)
      let session = try await instance.giveConsolePassword(nora).session.session
      let factors = instance.identity.administratorFactors
      let enrollment = try factors.begin(for: nora)
      let app = try instance.device(enrollment, of: nora)
      _ = try await instance.identity.consoleSessions.endOthers(
        than: "", of: nora, by: instance.author(nora))
      await expect("reauthenticationRequired") {
        try await instance.addPasskey(try TestAuthenticator(), in: session)
      }
      await expect("sessionEnded") {
        try await factors.finish(
          enrollment.ticket.revealedText, code: try TypedCode(app.code(at: instance.now)),
          for: nora.id,
          in: session, by: instance.author(nora))
      }
      #expect(try await !instance.identity.administrators.record(nora.id).hasSecondFactor)
    }
  }

  @Test func `re-authentication in a session that has ended uses up nothing and records nothing`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enroll(try await instance.administrator("nora", .auditor))
      let nora = device.administrator
      let session = try await instance.signIn(device).session
      instance.clock.advance(30)
      let code = try device.code(at: instance.now)
      _ = try await instance.identity.consoleSessions.endOthers(
        than: "", of: nora, by: instance.author(nora))
      let before = try await instance.wholeLog().count
      for code in [code, device.recoveryCodes[0]] {
        await expect("sessionEnded") {
          try await instance.identity.passkeys.reauthenticate(
            code: TypedCode(code), in: session, by: instance.author(nora))
        }
      }
      #expect(try await instance.wholeLog().count == before)
      #expect(try await instance.identity.ownAccount.recoveryCodesLeft(nora.id) == 10)
      _ = try await instance.signIn(device, code: code)

      let (olga, authenticator) = try await instance.passkeyOwner("olga")
      let other = try await instance.signIn(authenticator, as: olga.id)
      let passkeys = instance.identity.passkeys
      let challenge = try await passkeys.beginReauthentication(other)
      let response = try instance.response(authenticator, challenge)
      _ = try await instance.identity.consoleSessions.endOthers(
        than: "", of: olga, by: instance.author(olga))
      let start = try await instance.wholeLog().count
      await expect("sessionEnded") {
        try await passkeys.reauthenticate(
          response, ticket: challenge.ticket.revealedText, in: other, for: Instance.party,
          by: instance.author(olga))
      }
      #expect(try await instance.wholeLog().count == start)
    }
  }

  @Test func `with only a passkey, an authenticator app needs the passkey first`() async throws {
    try await withInstance { instance in
      let (olga, authenticator) = try await instance.passkeyOwner("olga")
      let session = try await instance.signIn(authenticator)
      let factors = instance.identity.administratorFactors
      #expect(try await factors.proof(in: session) == nil)
      instance.clock.advance(400)
      #expect(try await factors.proof(in: session) == .passkey)
      let enrollment = try factors.begin(for: olga)
      let code = try instance.device(enrollment, of: olga).code(at: instance.now)
      await expect("passkeyRequired") {
        _ = try await factors.finish(
          enrollment.ticket.revealedText, code: TypedCode(code), for: olga.id, in: session,
          by: instance.author(olga))
      }
    }
  }
}
