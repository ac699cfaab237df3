import Crypto
import TestAuthenticator
import TestProvider
import Testing

@testable import Identity
@testable import TestIdentity

/// Password sign-in turned off, and the break-glass account.
struct BreakGlassTests {
  /// Returns the problems for which the provider isn't saved.
  private func faults<Value>(_ save: () async throws -> Value) async -> [ConsoleProviderFault] {
    do { _ = try await save() } catch {
      if case ConsoleProviderError.invalid(let faults) = error { return faults }
    }
    return []
  }

  /// Turns password sign-in off, with Olga as the break-glass account and Nora as the acting owner.
  private static func turnOff(_ instance: Instance) async throws -> (
    olga: Administrator, nora: ConsoleSession
  ) {
    let olga = try await instance.setUpProvider().administrator
    let nora = try await instance.providerSession()
    #expect(try await instance.turnOffPasswords(except: olga.id, nora))
    return (olga, nora)
  }

  @Test func `V15: only the break-glass account signs in with a password, which raises an alert`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let pia = try await instance.administrator("pia", .auditor)
      let (olga, nora) = try await Self.turnOff(instance)
      await expect("refused") { _ = try await instance.giveConsolePassword(pia) }
      #expect(try await instance.identity.alerts.breakGlass() == nil)
      _ = try await instance.giveConsolePassword(olga, requestID: "r-1").session
      let rows = try await instance.wholeLog().prefix(2)
      #expect(Set(rows.map(\.action)) == [.administratorBreakGlass, .administratorSignIn])
      #expect(rows.map(\.requestID) == ["r-1", "r-1"])
      #expect(try await instance.identity.alerts.breakGlass()?.count == 1)
      _ = try await instance.giveConsolePassword(olga).session
      #expect(try await instance.identity.alerts.breakGlass()?.count == 2)
      let mails = try await instance.mails().filter { $0.purpose == "break-glass" }
      #expect(Set(mails.map(\.recipient)) == [nora.administrator.email])
      // The provider isn't affected.
      _ = try await instance.visit()
      #expect(try await instance.identity.alerts.breakGlass()?.count == 2)
      instance.clock.advance(7 * 86_400)
      try await instance.identity.purgeExpired()
      #expect(try await instance.identity.alerts.breakGlass() == nil)
    }
  }

  @Test func `someone who is no owner anymore isn't told about the break-glass account`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let (olga, nora) = try await Self.turnOff(instance)
      let sam = try await instance.administrator("sam", .owner)
      _ = try await instance.giveConsolePassword(olga).session
      let (administrators, author) = (
        instance.identity.administrators, Author(actor: .commandLine)
      )
      try await administrators.grant(Grant(role: .auditor), to: sam.id, by: .program(author))
      try await administrators.revoke(Grant(role: .owner), from: sam.id, by: .program(author))
      var recipients: [String] = []
      while let mail = try await instance.claim() {
        if mail.purpose == "break-glass" { recipients.append(mail.recipient) }
      }
      #expect(recipients == [nora.administrator.email])
    }
  }

  @Test func `passkeys and pending sign-ins are covered as well`() async throws {
    try await withInstance { instance in
      let (pia, authenticator) = try await instance.passkeyOwner("pia")
      let device = try await instance.enroll(try await instance.administrator("dora", .support))
      let pending = try await instance.giveConsolePassword(device.administrator).pending
      _ = try await Self.turnOff(instance)
      await expect("passkeyRefused") {
        _ = try await instance.signIn(authenticator, as: pia.id)
      }
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.new(.passkeyRefusal) == .code("sign-in-off"))
      await expect("ended") {
        _ = try await instance.finish(pending, code: try device.code(at: instance.now))
      }
    }
  }

  @Test func `the break-glass account keeps the passkey without which it couldn't sign in`()
    async throws
  {
    try await withInstance { instance in
      let (olga, _) = try await Self.turnOff(instance)
      let (passkeys, author) = (instance.identity.passkeys, instance.author(olga))
      let authenticator = try TestAuthenticator()
      let first = try await instance.giveConsolePassword(olga).session.session
      let passkey = try await instance.addPasskey(authenticator, in: first)
      let proved = try await instance.reauthenticate(authenticator, in: first)
      let session = try await instance.addApp(in: proved).session
      try await instance.removePassword(of: olga)
      let error = try await thrown(PasskeyError.self) {
        try await passkeys.remove(passkey.id, in: session, by: author)
      }
      guard case .mandatory(.breakGlass) = error else {
        throw Unexpected("\(String(describing: error))")
      }
      #expect(try await passkeys.list(of: olga.id).count == 1)
    }
  }

  @Test func `it takes a provider that works, and an owner who stays`() async throws {
    try await withInstance { instance in
      let olga = try await instance.setUpProvider()
      let providers = instance.identity.consoleProviders
      let account = olga.administrator.id
      #expect(
        await faults { try await instance.turnOffPasswords(except: account, olga.session) }
          == [.notProved])
      let nora = try await instance.providerSession()
      let pia = try await instance.administrator("pia", .auditor)
      for id in [pia.id, nora.administrator.id] {
        #expect(
          await faults { try await instance.turnOffPasswords(except: id, nora) }
            == [.invalidBreakGlassAccount])
      }
      // Neither can another provider be entered along with it.
      var other = Instance.consoleProvider()
      (other.clientID, other.breakGlassAccount) = ("other", account)
      let own = instance.request(nora.administrator, nora, note: "Single sign-on")
      let entered = other
      #expect(
        await faults { try await providers.save(entered, secret: nil, own) } == [.notProved])
      try await instance.turnOffPasswords(except: account, nora)
      await expect("passwordSignInOff") { _ = try await providers.remove(own) }
      let administrators = instance.identity.administrators
      await expect("breakGlassAccount") {
        try await administrators.remove(
          olga.administrator.id, by: .program(Author(actor: .commandLine)))
      }
      await expect("breakGlassAccount") {
        try await administrators.revoke(
          Grant(role: .owner), from: olga.administrator.id,
          by: .program(Author(actor: .commandLine)))
      }
    }
  }

  @Test func `the operator turns password sign-in on`() async throws {
    try await withInstance { instance in
      let pia = try await instance.administrator("pia", .auditor)
      _ = try await Self.turnOff(instance)
      let providers = instance.identity.consoleProviders
      let operatorAuthor = Author(actor: .commandLine)
      #expect(try await providers.turnOnPasswordSignIn(by: operatorAuthor))
      #expect(try await !providers.turnOnPasswordSignIn(by: operatorAuthor))
      let row = try #require(try await instance.wholeLog().first)
      #expect(row.action == .instancePasswordSignIn)
      #expect(row.old(.breakGlassAccount) == .text("olga@desk.example.com"))
      _ = try await instance.giveConsolePassword(pia)
    }
  }

  @Test func `the role of the break-glass account doesn't get an end date`() async throws {
    try await withInstance { instance in
      let (olga, _) = try await Self.turnOff(instance)
      _ = try await instance.administrator("second", .owner)
      await expect("breakGlassAccount") {
        try await instance.identity.administrators.grant(
          Grant(role: .owner), until: instance.now.advanced(bySeconds: 60), to: olga.id,
          by: .program(Author(actor: .commandLine)))
      }
    }
  }

  @Test func `no one is invited to set a password that would be of no use`() async throws {
    try await withInstance { instance in
      let boss = try await instance.administrator("boss", .owner)
      let token = try await instance.invite("new@example.com", by: boss).token
      _ = try await Self.turnOff(instance)
      await expect("passwordSignInOff") { _ = try await instance.accept(token) }
      await expect("passwordSignInOff") {
        _ = try await instance.invite("other@example.com", by: boss)
      }
    }
  }
}
