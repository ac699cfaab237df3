import Crypto
import Foundation
import Identity
import OTP
import TestDatabases
import Testing

@testable import TestIdentity

struct DumpTests {
  /// Whether `hay` contains `needle`.
  private func occurs(_ needle: [UInt8], in hay: Data) -> Bool {
    hay.firstRange(of: needle) != nil
  }

  @Test func `K2: the database files contain no passwords, secrets, or tokens`() async throws {
    try await withInstance { instance in
      let identity = instance.identity
      var secrets: [String: [UInt8]] = [:]
      func keep(_ name: String, _ secret: Secret) { secrets[name] = secret.revealedBytes }
      func keep(_ name: String, _ text: String) { secrets[name] = Array(text.utf8) }

      let device = try await instance.enrolled(.alice)
      keep("password", Person.alice.password)
      keep("shared secret", device.secret)
      let start = try await enrollmentOfBob(instance)
      keep("shared secret in base32", start.sharedSecret)
      keep("enrollment session", start.sessionInfo)
      let pending = try await instance.pending(.alice)
      keep("pending credential", pending)
      let grant = try await instance.finalize(
        device, pending, code: device.code(at: instance.now))
      keep("refresh token", grant.refreshToken)
      var change = AccountChange()
      change.password = .set(Secret("a password of an update"))
      _ = try await identity.accounts.update(
        instance.acme, device.account.id, change, by: Instance.boss)
      keep("new password", "a password of an update")
      let renewed = try await identity.sessions.renew(grant.session)
      keep("renewed refresh token", renewed.refreshToken)
      let token = try await identity.serviceTokens.create(
        project: instance.acme.project, tenant: nil, role: .owner, name: "x",
        by: .program(Author(actor: .commandLine))
      ).value
      keep("service token", token.secret)
      let code = try #require(try await identity.setup.issueCode())
      keep("set-up code", code)
      keep("set-up code without hyphens", code.revealedText.filter { $0 != "-" })
      _ = try await instance.administrator()
      let console = try await instance.consoleSession()
      keep("cookie", console.token)
      keep("administrator's password", Instance.consolePassword)
      let olga = try await instance.enroll(try await instance.administrator("olga", .owner))
      keep("administrator's shared secret", olga.secret)
      keep("the same in base32", Base32.encode(olga.secret.revealedBytes))
      keep("recovery code", olga.recoveryCodes[0])
      keep("recovery code without hyphens", olga.recoveryCodes[1].filter { $0 != "-" })
      _ = try await instance.signIn(olga, code: olga.recoveryCodes[0])
      keep("pending sign-in", try await instance.giveConsolePassword(olga.administrator).pending)
      keep("invitation", try await instance.invite("n@example.com", by: olga.administrator).token)
      await expect("refused") {
        try await identity.consoleSessions.signIn(
          email: "a password typed as a name", password: Secret("a wrong console password"),
          address: "a", userAgent: "Browser")
      }
      keep("wrong console password", "a wrong console password")
      await expect("wrongPassword") {
        try await identity.signIns.password(
          instance.acme, email: Person.alice.email, password: Secret("a wrong user password"),
          address: "a")
      }
      keep("wrong user password", "a wrong user password")
      for key in instance.keys.text.revealedText.split(whereSeparator: \.isWhitespace)
      where key.utf8.count == 43 {
        keep("master key as text", String(key))
        let bytes: [UInt8] = try #require(Base64URL.decode(key))
        secrets["master key"] = bytes
      }
      for (name, text) in try await supportCodes(instance) { keep(name, text) }

      let files = try await instance.test.files()
      #expect(occurs(Array(Person.alice.email.utf8), in: files.reduce(Data(), +)))
      #expect(secrets.count == 34)
      for (name, secret) in secrets {
        #expect(secret.count >= 8, "\(name)")
        for bytes in files { #expect(!occurs(secret, in: bytes), "\(name)") }
      }
      // A private key in DER has the modulus, the exponent 65537, and another long number in
      // sequence. The stored certificate has no long number after the exponent.
      let key = try #require(identity.signingKeys.publicKeys().first)
      let der = key.modulus + [0x02, 0x03, 0x01, 0x00, 0x01, 0x02, 0x82]
      #expect(files.allSatisfy { !occurs(der, in: $0) })
    }
  }

  /// Generates and sends the codes and links that a user gets, and a provider's client secret.
  private func supportCodes(_ instance: Instance) async throws -> [String: String] {
    let identity = instance.identity
    var kept: [String: String] = [:]
    try await instance.allowBackupCodes()
    try await instance.setSupportRules { $0.callerVerification = .offered }
    let device = try await instance.enrolled(.mallory)
    let recovery = try await instance.recoveryCodes(.mallory, device)
    _ = try await instance.signIn(.mallory, device, code: recovery[0])
    kept["user's used recovery code"] = recovery[0]
    kept["user's recovery code"] = recovery[1]
    kept["user's recovery code without hyphens"] = recovery[1].filter { $0 != "-" }
    let agent = try await instance.agent()
    let temporary = try await instance.temporaryCode(device.account, by: agent)
    kept["temporary code"] = temporary
    kept["temporary code without hyphens"] = temporary.filter { $0 != "-" }
    _ = try await identity.support.sendCallerCode(
      to: device.account.id, in: instance.acme, agent.request(nil))
    let mail = try #require(try await instance.mails("caller-code").last)
    let line = mail.body.split(separator: "\n").first { $0.count == 9 && $0.contains(" ") }
    let callerCode = String(try #require(line))
    kept["caller code"] = callerCode
    kept["caller code without a space"] = callerCode.filter { $0 != " " }
    _ = try await identity.factorRemovals.remove(
      instance.acme, device.account.id, device.factor, agent.request())
    kept["code of a report link"] = try await instance.linkCode(
      "notice-factors-removed", to: "/__/auth/not-me")
    _ = try await identity.enrollmentLinks.send(
      agent.request(), to: device.account.id, in: instance.acme)
    kept["code of an enrollment link"] = try await instance.linkCode(
      "enrollment-link", to: "/__/auth/enroll")
    kept["code of a link"] = try await instance.code(.passwordReset, .mallory)
    var provider = ProviderSettings()
    provider.issuer = "https://login.acme.example"
    provider.clientID = "client-1"
    provider.clientSecret = Secret("a client secret of a provider")
    _ = try await identity.identityProviders.create(
      in: instance.acme, id: "oidc.acme", provider, by: .program(Instance.boss))
    kept["client secret"] = "a client secret of a provider"
    return kept
  }

  private func enrollmentOfBob(_ instance: Instance) async throws -> EnrollmentStart {
    _ = try await instance.account(.bob)
    let session = try await instance.session(.bob).session
    let start = try await instance.identity.enrollments.start(session)
    _ = try await instance.finish(start, session)
    return start
  }

  @Test func `K2: a secret is redacted in descriptions`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let start = try await enrollmentOfBob(instance)
      let shown = String(reflecting: start) + "\(start)" + String(reflecting: device.secret)
      #expect(!shown.contains(start.sharedSecret.revealedText))
      #expect(shown.contains("secret"))
    }
  }
}
