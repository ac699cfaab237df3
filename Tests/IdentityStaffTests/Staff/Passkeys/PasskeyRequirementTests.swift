import Crypto
import OTP
import TestAuthenticator
import Testing

@testable import Identity
@testable import TestIdentity

struct PasskeyRequirementTests {
  /// Turns the requirement on, by an owner who has used a passkey.
  private func require(
    _ instance: Instance, _ olga: Administrator, _ authenticator: TestAuthenticator
  ) async throws {
    let session = try await instance.signIn(authenticator, as: olga.id)
    let outcome = try await instance.identity.passkeys.setRequired(
      true, by: .console(instance.request(olga, session, note: "Phishing")))
    #expect(outcome.value)
  }

  @Test func `C1: only an owner who used a passkey in the session can require passkeys`()
    async throws
  {
    try await withInstance { instance in
      let (olga, authenticator) = try await instance.passkeyOwner("olga")
      let (app, _) = try await instance.addApp(in: try await instance.signIn(authenticator))
      instance.clock.advance(30)
      // The owner has a passkey, but signed in with a code.
      let byCode = try await instance.signIn(app).session
      let passkeys = instance.identity.passkeys
      let before = try await instance.wholeLog().count
      await expect("passkeyNotUsed") {
        _ = try await passkeys.setRequired(
          true, by: .console(instance.request(olga, byCode, note: "Phishing")))
      }
      #expect(try await !passkeys.isRequired())
      #expect(try await instance.wholeLog().count == before)
      // The passkey is all that was missing.
      let byPasskey = try await instance.reauthenticate(authenticator, in: byCode)
      let outcome = try await passkeys.setRequired(
        true, by: .console(instance.request(olga, byPasskey, note: "Phishing")))
      #expect(outcome.value)
      #expect(try await passkeys.isRequired())
    }
  }

  @Test func `C1: with the requirement, owners sign in with a passkey only`() async throws {
    try await withInstance { instance in
      let (olga, authenticator) = try await instance.passkeyOwner("olga")
      let device = try await instance.enroll(try await instance.administrator("nils", .owner))
      let agent = try await instance.enroll(try await instance.administrator("dora", .support))
      let open = try await instance.signIn(device)
      try await require(instance, olga, authenticator)
      // Open sessions have to add a passkey, and so do new ones.
      let sessions = instance.identity.consoleSessions
      let found = try await sessions.find(token: open.token.revealedText)
      #expect(found?.secondFactor == .passkeyDue)
      instance.clock.advance(30)
      let new = try await instance.signIn(device)
      #expect(new.session.secondFactor == .passkeyDue)
      // Then a code is no longer enough, and the session has to use the passkey.
      let own = try TestAuthenticator(2)
      _ = try await instance.addPasskey(own, in: new.session)
      let added = try await sessions.find(token: new.token.revealedText)
      #expect(added?.secondFactor == .passkeyUnused)
      let second = try TestAuthenticator(3)
      await expect("reauthenticationRequired") {
        _ = try await instance.addPasskey(second, in: new.session)
      }
      #expect(try await instance.reauthenticate(own, in: new.session).secondFactor == .enrolled)
      instance.clock.advance(30)
      await expect("passkeyRequired") { _ = try await instance.signIn(device) }
      await expect("passkeyRequired") {
        _ = try await instance.signIn(device, code: device.recoveryCodes[0])
      }
      #expect(
        try await instance.signIn(own, as: device.administrator.id).secondFactor == .enrolled)
      // Other roles aren't affected.
      #expect(try await instance.signIn(agent).session.secondFactor == .enrolled)
    }
  }

  @Test func `with the requirement, the last passkey stays, and a reset leads to a new one`()
    async throws
  {
    try await withInstance { instance in
      let (olga, authenticator) = try await instance.passkeyOwner("olga")
      try await require(instance, olga, authenticator)
      let session = try await instance.signIn(authenticator)
      let passkeys = instance.identity.passkeys
      let passkey = try #require(try await passkeys.list(of: olga.id).first)
      let error = try await thrown(PasskeyError.self) {
        try await passkeys.remove(passkey.id, in: session, by: instance.author(olga))
      }
      guard case .mandatory(.lastPasskey) = error else {
        throw Unexpected("\(String(describing: error))")
      }
      try await instance.identity.administratorFactors.reset(
        olga.id, by: .program(Author(actor: .commandLine)))
      let fresh = try await instance.giveConsolePassword(olga).session.session
      #expect(fresh.secondFactor == .passkeyDue)
    }
  }

  @Test func `with the requirement, a code adds no passkey to a session that began with one`()
    async throws
  {
    try await withInstance { instance in
      let (olga, authenticator) = try await instance.passkeyOwner("olga")
      let (app, signedIn) = try await instance.addApp(
        in: try await instance.signIn(authenticator))
      instance.clock.advance(400)
      let passkeys = instance.identity.passkeys
      let byCode = try await passkeys.reauthenticate(
        code: try TypedCode(app.code(at: instance.now)), in: signedIn, by: instance.author(olga)
      ).session
      #expect(try await !passkeys.needsReauthentication(byCode))
      try await require(instance, olga, authenticator)
      #expect(try await passkeys.needsReauthentication(byCode))
      let second = try TestAuthenticator(2)
      await expect("reauthenticationRequired") {
        _ = try await instance.addPasskey(second, in: byCode)
      }
      let byPasskey = try await instance.reauthenticate(authenticator, in: byCode)
      _ = try await instance.addPasskey(second, in: byPasskey)
    }
  }

  @Test func `the operator can stop requiring passkeys`() async throws {
    try await withInstance { instance in
      let (olga, authenticator) = try await instance.passkeyOwner("olga")
      try await require(instance, olga, authenticator)
      let passkeys = instance.identity.passkeys
      let operatorAuthor = Author(actor: .commandLine)
      #expect(try await passkeys.setRequired(false, by: .program(operatorAuthor)).value)
      #expect(try await !passkeys.setRequired(false, by: .program(operatorAuthor)).value)
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .instancePasskeyRequirement)
      #expect(row.old(.passkeyRequired) == .flag(true))
      #expect(row.new(.passkeyRequired) == .flag(false))
    }
  }
}
