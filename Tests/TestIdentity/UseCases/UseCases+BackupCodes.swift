import Crypto
import Identity
import OTP
import Testing

extension UseCase {
  static let backupCodes: [UseCase] = [
    UseCase("generate a temporary code", [.factorTemporaryCode]) { i in
      try await i.allowBackupCodes()
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      return { _ = try await i.temporaryCode(device.account, by: agent) }
    },
    UseCase("resynchronize a factor", [.factorResynchronize]) { i in
      try await i.allowResynchronization()
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      return { _ = try await i.resynchronize(device, by: agent, off: 12) }
    },
    UseCase(
      "resynchronize a factor with codes that don't match", [.factorRefuseResynchronization]
    ) { i in
      try await i.allowResynchronization()
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      return { _ = try await i.resynchronize(device, by: agent, off: 100) }
    },
    UseCase("clear a clock offset", [.factorClearOffset]) { i in
      try await i.allowResynchronization()
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      try await i.resynchronize(device, by: agent, off: 12)
      return { try await i.clearOffset(device, by: agent) }
    },
    UseCase("revoke a temporary code", [.factorEndTemporaryCode]) { i in
      try await i.allowBackupCodes()
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      _ = try await i.temporaryCode(device.account, by: agent)
      return {
        _ = try await i.identity.backupCodes.endTemporaryCode(
          agent.request(), of: device.account.id, in: i.acme)
      }
    },
    UseCase("sign in with a temporary code", [.factorUseTemporaryCode]) { i in
      try await i.allowBackupCodes()
      let device = try await i.enrolled(.alice)
      let code = try await i.temporaryCode(device.account)
      let pending = try await i.pending(.alice)
      return { _ = try await i.finalize(device, pending, code: code) }
    },
    UseCase("generate recovery codes", [.factorRecoveryCodes]) { i in
      try await i.allowBackupCodes()
      let device = try await i.enrolled(.alice)
      let grant = try await i.signIn(.alice, device, code: device.code(at: i.now))
      return {
        _ = try await i.identity.enrollments.makeRecoveryCodes(grant.session, by: Instance.visitor)
      }
    },
    UseCase("count recovery codes", []) { i in
      let device = try await i.enrolled(.alice)
      return { _ = try await i.identity.enrollments.recoveryCodes(of: device.session) }
    },
    UseCase("sign in with a recovery code", [.factorUseRecoveryCode]) { i in
      try await i.allowBackupCodes()
      let device = try await i.enrolled(.alice)
      let codes = try await i.recoveryCodes(.alice, device)
      let pending = try await i.pending(.alice)
      return { _ = try await i.finalize(device, pending, code: codes[0]) }
    },
    UseCase("revoke recovery codes", [.factorEndRecoveryCodes]) { i in
      try await i.allowBackupCodes()
      let device = try await i.enrolled(.alice)
      _ = try await i.recoveryCodes(.alice, device)
      let agent = try await i.agent()
      return {
        _ = try await i.identity.backupCodes.endRecoveryCodes(
          agent.request(), of: device.account.id, in: i.acme)
      }
    },
    UseCase("send an enrollment link", [.factorSendLink]) { i in
      let account = try await i.account(.alice)
      let agent = try await i.agent()
      return {
        _ = try await i.identity.enrollmentLinks.send(agent.request(), to: account.id, in: i.acme)
      }
    },
    UseCase("open an enrollment link", []) { i in
      let link = try await link(to: .alice, i)
      return { _ = try await i.identity.enrollmentLinks.open(link) }
    },
    UseCase("enroll through a link", [.factorEnroll]) { i in
      let link = try await link(to: .alice, i)
      let enrollment = try await i.identity.enrollmentLinks.open(link)
      let secret = Secret(Base32.decode(enrollment.key.revealedText) ?? [])
      let app = try #require(OneTimePassword(secret: secret))
      let code = try app.code(step: app.step(at: i.now.seconds))
      return {
        try await i.identity.enrollmentLinks.finish(
          link, ticket: enrollment.ticket.revealedText, typed: TypedCode(code), displayName: "x",
          by: Instance.visitor)
      }
    },
    UseCase("report an unrecognized change", [.factorReport]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      _ = try await i.identity.factorRemovals.remove(
        i.acme, device.account.id, device.factor, agent.request())
      let link = try await i.linkCode("notice-factors-removed", to: "/__/auth/not-me")
      return {
        _ = try await i.identity.reportedChanges.look(at: link)
        try await i.identity.reportedChanges.object(link, by: Instance.visitor)
      }
    },
  ]

  private static func link(to person: Person, _ instance: Instance) async throws -> String {
    let account = try await instance.account(person)
    let agent = try await instance.agent()
    _ = try await instance.identity.enrollmentLinks.send(
      agent.request(), to: account.id, in: instance.acme)
    return try await instance.linkCode("enrollment-link", to: "/__/auth/enroll")
  }
}
