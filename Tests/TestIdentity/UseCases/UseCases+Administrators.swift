import Crypto
import Identity
import OTP
import TestAuthenticator
import Testing

extension UseCase {
  static let administration: [UseCase] = [
    UseCase("create an administrator", [.administratorCreate]) { i in
      { _ = try await i.administrator() }
    },
    UseCase("sign in to the console", [.administratorSignIn]) { i in
      _ = try await i.administrator()
      return { _ = try await i.consoleSession() }
    },
    UseCase("sign out of the console", [.administratorSignOut]) { i in
      let dora = try await i.administrator()
      let new = try await i.consoleSession()
      return { try await i.identity.consoleSessions.end(new.session, by: i.author(dora)) }
    },
    UseCase("set up", [.administratorCreate, .administratorSignIn]) { i in
      let code = try await i.identity.setup.issueCode()
      return {
        _ = try await i.identity.setup.complete(
          code: TypedCode(code?.revealedText ?? ""), email: "owner@example.com",
          displayName: "Olga",
          password: Secret("a long pass phrase"), address: "a", userAgent: "Browser")
      }
    },
  ]

  static let administrators: [UseCase] = [
    UseCase("invite an administrator", [.administratorInvite]) { i in
      let boss = try await i.administrator("boss", .owner)
      return { _ = try await i.invite("new@example.com", by: boss) }
    },
    UseCase(
      "accept an invitation", [.administratorCreate, .administratorSignIn]
    ) { i in
      let boss = try await i.administrator("boss", .owner)
      let token = try await i.invite("new@example.com", by: boss).token
      return { _ = try await i.accept(token) }
    },
    UseCase("revoke an invitation", [.administratorRevokeInvitation]) { i in
      let boss = try await i.administrator("boss", .owner)
      let created = try await i.invite("new@example.com", by: boss)
      return {
        try await i.identity.invitations.revoke(created.invitation.id, by: .program(i.author(boss)))
      }
    },
    UseCase("grant a role", [.administratorGrant]) { i in
      let (boss, nora) = try await i.bossAndNora()
      return {
        try await i.identity.administrators.grant(
          Grant(role: .policy), to: nora.id, by: .program(i.author(boss)))
      }
    },
    UseCase("change when a role ends", [.administratorGrantChange]) { i in
      let (boss, nora) = try await i.bossAndNora()
      let end = i.now.advanced(bySeconds: 86_400)
      return {
        try await i.identity.administrators.grant(
          Grant(role: .auditor), until: end, to: nora.id, by: .program(i.author(boss)))
      }
    },
    UseCase(
      "reach the end of a role, with a token that exceeds the rest",
      [.administratorGrantEnd, .serviceTokenRevoke]
    ) { i in
      let (boss, olga) = (
        try await i.administrator("boss", .owner), try await i.administrator("olga", .owner)
      )
      _ = try await i.identity.serviceTokens.create(
        project: i.acme.project, tenant: nil, role: .owner, name: "x",
        by: .program(i.author(olga)))
      try await i.identity.administrators.grant(
        Grant(role: .owner), until: i.now.advanced(bySeconds: 60), to: olga.id,
        by: .program(i.author(boss)))
      i.clock.advance(60)
      return { try await i.identity.purgeExpired() }
    },
    UseCase("change the limits of sessions", [.instanceChangeSessionLimits]) { i in
      let owner = try await i.agent("olga", role: .owner)
      return {
        _ = try await i.identity.consoleSessions.setLimits(
          SessionLimits(idleMinutes: 15, hours: 8), owner.request(nil))
      }
    },
    UseCase("end the sessions of another administrator", [.administratorEndSessions]) { i in
      let owner = try await i.agent("olga", role: .owner)
      let nora = try await i.administrator("nora", .auditor)
      _ = try await i.giveConsolePassword(nora)
      return { _ = try await i.identity.consoleSessions.end(nil, of: nora.id, owner.request(nil)) }
    },
    UseCase("revoke a role", [.administratorRevoke]) { i in
      let (boss, nora) = try await i.bossAndNora()
      return {
        try await i.identity.administrators.revoke(
          Grant(role: .auditor), from: nora.id, by: .program(i.author(boss)))
      }
    },
    UseCase("remove an administrator", [.administratorRemove]) { i in
      let (boss, nora) = try await i.bossAndNora()
      _ = try await i.giveConsolePassword(nora)
      return { try await i.identity.administrators.remove(nora.id, by: .program(i.author(boss))) }
    },
    UseCase(
      "remove an administrator who created a token", [.administratorRemove, .serviceTokenRevoke]
    ) { i in
      let (boss, olga) = (
        try await i.administrator("boss", .owner), try await i.administrator("olga", .owner)
      )
      _ = try await i.identity.serviceTokens.create(
        project: i.acme.project, tenant: nil, role: .owner, name: "x",
        by: .program(i.author(olga)))
      return { try await i.identity.administrators.remove(olga.id, by: .program(i.author(boss))) }
    },
    UseCase("set up one's second factor", [.administratorEnroll]) { i in
      let nora = try await i.administrator("nora", .auditor)
      return { _ = try await i.enroll(nora) }
    },
    UseCase("add a passkey", [.administratorPasskeyCreate]) { i in
      let nora = try await i.administrator("nora", .auditor)
      let session = try await i.giveConsolePassword(nora).session.session
      return {
        let authenticator = try TestAuthenticator()
        _ = try await i.addPasskey(authenticator, in: session)
      }
    },
    UseCase(
      "rename and remove a passkey", [.administratorPasskeyRename, .administratorPasskeyRemove]
    ) { i in
      let nora = try await i.administrator("nora", .auditor)
      let session = try await i.giveConsolePassword(nora).session.session
      let authenticator = try TestAuthenticator()
      let passkey = try await i.addPasskey(authenticator, in: session)
      let proved = try await i.reauthenticate(authenticator, in: session)
      return {
        try await i.identity.passkeys.rename(
          passkey.id, "Key", in: proved, by: i.author(nora))
        try await i.identity.passkeys.remove(passkey.id, in: proved, by: i.author(nora))
      }
    },
    UseCase(
      "use a passkey that isn't registered", [.administratorPasskeyRefused],
      ending: "passkeyRefused"
    ) { i in
      {
        let authenticator = try TestAuthenticator()
        _ = try await i.signIn(authenticator)
      }
    },
    UseCase("require passkeys", [.instancePasskeyRequirement]) { i in
      let (olga, authenticator) = try await i.passkeyOwner("olga")
      let session = try await i.signIn(authenticator)
      return {
        _ = try await i.identity.passkeys.setRequired(
          true, by: .console(i.request(olga, session, note: "Phishing")))
      }
    },
    UseCase("remove one's second factor", [.administratorWithdraw]) { i in
      let device = try await i.enroll(try await i.administrator("nora", .auditor))
      return {
        try await i.identity.administratorFactors.withdraw(
          from: device.administrator, currentCode: TypedCode(device.code(at: i.now)),
          by: i.author(device.administrator))
      }
    },
    UseCase("generate one's recovery codes", [.administratorRecoveryCodes]) { i in
      let device = try await i.enroll(try await i.administrator("nora", .auditor))
      return {
        _ = try await i.identity.administratorFactors.makeRecoveryCodes(
          for: device.administrator.id, currentCode: TypedCode(device.code(at: i.now)),
          by: i.author(device.administrator))
      }
    },
    UseCase("reset a second factor", [.administratorResetFactor]) { i in
      let (boss, nora) = try await i.bossAndNora()
      _ = try await i.enroll(nora)
      return {
        try await i.identity.administratorFactors.reset(nora.id, by: .program(i.author(boss)))
      }
    },
    UseCase("enter the password when a second factor is required", [.administratorCodeDue]) { i in
      let device = try await i.enroll(try await i.administrator("nora", .auditor))
      return { _ = try await i.giveConsolePassword(device.administrator) }
    },
    UseCase("sign in to the console with a code", [.administratorSignIn]) { i in
      let device = try await i.enroll(try await i.administrator("nora", .auditor))
      let pending = try await i.giveConsolePassword(device.administrator).pending
      return { _ = try await i.finish(pending, code: device.code(at: i.now)) }
    },
    UseCase("change one's password", [.administratorPassword]) { i in
      let nora = try await i.administrator("nora", .auditor)
      let session = try await i.giveConsolePassword(nora).session.session
      return {
        try await i.identity.ownAccount.changePassword(
          of: session, old: Instance.consolePassword, new: Secret("another pass phrase"),
          by: i.author(nora))
      }
    },
    UseCase("reset an administrator's password", [.administratorResetPassword]) { i in
      let nora = try await i.administrator("nora", .auditor)
      return {
        try await i.identity.ownAccount.resetPassword(
          of: nora, new: Secret("another pass phrase"), by: Author(actor: .commandLine))
      }
    },
    UseCase("change one's preferences", [.administratorPreferences]) { i in
      let nora = try await i.administrator("nora", .auditor)
      return {
        try await i.identity.ownAccount.change(
          Preferences(theme: .dark), of: nora, from: Preferences(), by: i.author(nora))
      }
    },
    UseCase("end one's other sessions", [.administratorEndSessions]) { i in
      let nora = try await i.administrator("nora", .auditor)
      let session = try await i.giveConsolePassword(nora).session.session
      _ = try await i.giveConsolePassword(nora)
      return {
        try await i.identity.consoleSessions.endOthers(
          than: session.id, of: nora, by: i.author(nora))
      }
    },
  ]
}

extension Instance {
  /// Creates an owner and an auditor.
  func bossAndNora() async throws -> (boss: Administrator, nora: Administrator) {
    (try await administrator("boss", .owner), try await administrator("nora", .auditor))
  }

  func invite(
    _ email: String, _ grant: Grant = Grant(role: .auditor), by inviter: Administrator
  ) async throws -> NewInvitation {
    try await identity.invitations.invite(
      email: email, displayName: "New", grant: grant, by: .program(author(inviter))
    ).value
  }

  func accept(
    _ token: Secret, password: Secret = Instance.consolePassword
  ) async throws -> NewConsoleSession {
    try await identity.invitations.accept(
      token: token.revealedText, displayName: "Newman", password: password, address: "a",
      userAgent: "Browser")
  }
}
