import Database
import Identity

extension UseCase {
  /// Support actions on users.
  static let support: [UseCase] = [
    UseCase("change support rules", [.supportChange]) { i in
      {
        var settings = SupportRules()
        settings.undoHours = 1
        try await i.identity.support.change(i.acme, to: settings, by: .program(Instance.boss))
      }
    },
    UseCase(
      "change support rules with a code", [.administratorStepUp, .supportChange]
    ) { i in
      let agent = try await i.agentWithDevice("olga", role: .owner)
      i.clock.advance(900)
      guard let device = agent.device else { throw Unexpected("no device") }
      let code = try device.code(at: i.now)
      return {
        var settings = SupportRules()
        settings.undoHours = 1
        _ = try await i.identity.support.change(
          i.acme, to: settings, by: .console(agent.request(code: code)))
      }
    },
    UseCase("change the re-authentication interval", [.supportStepUp]) { i in
      { try await i.identity.support.setStepUp(minutes: 5, by: .program(Instance.boss)) }
    },
    UseCase("dismiss what needs attention", [.attentionDismiss]) { i in
      let agent = try await i.agent()
      return {
        try await i.identity.dismissedAttention.set(i.attention(.unverified), agent.request())
      }
    },
    UseCase("show what was dismissed again", [.attentionRestore]) { i in
      let agent = try await i.agent()
      let mark = i.attention(.unverified)
      try await i.identity.dismissedAttention.set(mark, agent.request())
      return {
        try await i.identity.dismissedAttention.set(mark, isUndo: true, agent.request())
      }
    },
    UseCase("unblock an agent", [.supportRelease]) { i in
      let agent = try await i.agent()
      let id = agent.administrator.id
      try await i.block(agent)
      let owner = try await i.agent("olga", role: .owner)
      return {
        _ = try await i.identity.support.unblock(id, in: i.acme, by: .console(owner.request()))
      }
    },
    UseCase("re-authenticate with an action", [.administratorStepUp, .sessionsEnd]) { i in
      let alice = try await i.account(.alice)
      let agent = try await i.agentWithDevice()
      i.clock.advance(900)
      guard let device = agent.device else { throw Unexpected("no device") }
      let code = try device.code(at: i.now)
      return {
        _ = try await i.identity.support.endSessions(i.acme, alice.id, agent.request(code: code))
      }
    },
    UseCase("suspend a factor", [.factorSuspend]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      let until = i.now.advanced(bySeconds: 60)
      return {
        _ = try await i.identity.support.suspend(
          i.acme, device.account.id, device.factor, until: until, agent.request())
      }
    },
    UseCase("resume a factor", [.factorResume]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      _ = try await i.identity.support.suspend(
        i.acme, device.account.id, device.factor, until: i.now.advanced(bySeconds: 60),
        agent.request())
      return {
        _ = try await i.identity.support.resume(
          i.acme, device.account.id, device.factor, agent.request(.found))
      }
    },
    UseCase("restore a removed factor", [.factorRestore]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      let other = try await i.agent("erik")
      let removal = try await i.identity.factorRemovals.remove(
        i.acme, device.account.id, nil, agent.request()
      ).value.removal
      let id = removal.hold?.id ?? ID("")
      return {
        _ = try await i.identity.factorRemovals.undo(
          i.acme, device.account.id, id, other.request(.mistake))
      }
    },
    UseCase("purge a removed factor after its retention period", [.factorPurge]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      _ = try await i.identity.factorRemovals.remove(
        i.acme, device.account.id, nil, agent.request())
      i.clock.advance(72 * 3_600)
      return { _ = try await i.purgeBatch() }
    },
    UseCase("purge a removed factor early", [.factorPurgeNow]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      let removal = try await i.identity.factorRemovals.remove(
        i.acme, device.account.id, nil, agent.request()
      ).value.removal
      let id = removal.hold?.id ?? ID("")
      return {
        _ = try await i.identity.factorRemovals.purge(
          i.acme, device.account.id, id, agent.request(.stolen))
      }
    },
    UseCase("unlock codes", [.accountUnlock]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      let pending = try await i.pending(.alice)
      let wrong = try device.wrongCode(at: i.now)
      _ = await outcome { try await i.finalize(device, pending, code: wrong) }
      return {
        _ = try await i.identity.support.unlock(i.acme, device.account.id, agent.request(.locked))
      }
    },
    UseCase("end a user's sessions in the console", [.sessionsEnd]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent()
      return {
        _ = try await i.identity.support.endSessions(i.acme, device.account.id, agent.request())
      }
    },
    UseCase("protect an account", [.accountProtect]) { i in
      let alice = try await i.account(.alice)
      let agent = try await i.agent("olga", role: .owner)
      return { _ = try await i.identity.support.protect(i.acme, alice.id, true, agent.request()) }
    },
    UseCase("end protection of an account", [.accountUnprotect]) { i in
      let alice = try await i.account(.alice)
      let agent = try await i.agent("olga", role: .owner)
      _ = try await i.identity.support.protect(i.acme, alice.id, true, agent.request())
      return { _ = try await i.identity.support.protect(i.acme, alice.id, false, agent.request()) }
    },
    UseCase("send a code to verify a caller", [.accountSendCallerCode]) { i in
      let alice = try await i.account(.alice)
      try await i.setSupportRules { $0.callerVerification = .offered }
      let agent = try await i.agent()
      return {
        _ = try await i.identity.support.sendCallerCode(
          to: alice.id, in: i.acme, agent.request(nil))
      }
    },
    UseCase(
      "give an incorrect code as a caller", [.accountRefuseCallerCode], ending: "callerCodeWrong"
    ) { i in
      let alice = try await i.account(.alice)
      try await i.setSupportRules { $0.callerVerification = .offered }
      let agent = try await i.agent()
      _ = try await i.identity.support.sendCallerCode(
        to: alice.id, in: i.acme, agent.request(nil))
      return {
        _ = try await i.identity.support.endSessions(
          i.acme, alice.id, agent.request(callerCode: "0000 0000"))
      }
    },
    UseCase("exempt a user from MFA", [.accountExempt]) { i in
      let alice = try await i.account(.alice)
      let agent = try await i.agent("olga", role: .owner)
      let until = i.now.advanced(bySeconds: 86_400)
      return {
        _ = try await i.identity.exemptions.grant(
          i.acme, alice.id, until: until, agent.request())
      }
    },
    UseCase("end an exemption", [.accountEndExemption]) { i in
      let alice = try await i.account(.alice)
      let agent = try await i.agent("olga", role: .owner)
      _ = try await i.identity.exemptions.grant(
        i.acme, alice.id, until: i.now.advanced(bySeconds: 86_400), agent.request())
      return { _ = try await i.identity.exemptions.end(i.acme, alice.id, agent.request()) }
    },
    UseCase("sign off a review", [.policySignOff]) { i in
      let agent = try await i.agent("iris", role: .auditor)
      let digest = try await i.identity.reviews.summary(of: i.acme.project).seen.digest
      let due = Day(i.now).next
      return {
        _ = try await i.identity.reviews.signOff(
          i.acme.project, seen: digest, dueOn: due, agent.request(nil))
      }
    },
    UseCase("create the evidence key", [.evidenceKeyCreate]) { i in
      { _ = try await i.identity.evidenceKeys.current() }
    },
    UseCase("rotate the evidence key", [.evidenceKeyRotate]) { i in
      { _ = try await i.identity.evidenceKeys.rotate(by: Instance.boss) }
    },
    UseCase("allow changes again", [.accountAllowChanges]) { i in
      let alice = try await i.account(.alice)
      let agent = try await i.agent("olga", role: .owner)
      try await i.reportChange(of: alice.id)
      return { _ = try await i.identity.support.allowChanges(i.acme, alice.id, agent.request()) }
    },
    UseCase("enable a user in the console", [.accountChange]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent("olga", role: .owner)
      _ = try await i.identity.support.disable(i.acme, device.account.id, agent.request(.left))
      return {
        _ = try await i.identity.support.enable(i.acme, device.account.id, agent.request(.mistake))
      }
    },
    UseCase("mark an email as verified in the console", [.accountChange]) { i in
      let alice = try await i.account(.alice, isVerified: false)
      let agent = try await i.agent("olga", role: .owner)
      return {
        _ = try await i.identity.support.verifyEmail(i.acme, alice.id, agent.request(.confirmed))
      }
    },
    UseCase("disable a user in the console", [.accountChange]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent("olga", role: .owner)
      return {
        _ = try await i.identity.support.disable(i.acme, device.account.id, agent.request(.left))
      }
    },
    UseCase("delete a user in the console", [.accountDelete]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent("olga", role: .owner)
      return {
        _ = try await i.identity.support.delete(
          i.acme, device.account.id, agent.request(.left, typed: "ALICE@example.com"))
      }
    },
    UseCase("export a user's data in the console", [.accountExportData]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent("olga", role: .owner)
      return {
        _ = try await i.identity.userData.export(
          i.acme, device.account.id, by: .console(agent.request(.dataRequest)))
      }
    },
    UseCase("erase a user's data in the console", [.accountErase]) { i in
      let device = try await i.enrolled(.alice)
      let agent = try await i.agent("olga", role: .owner)
      return {
        _ = try await i.identity.userData.erase(
          i.acme, device.account.id,
          by: .console(agent.request(.dataRequest, typed: "ALICE@example.com"))
        )
      }
    },
    UseCase("erase a deleted user's data", [.accountErase]) { i in
      let alice = try await i.account(.alice)
      try await i.identity.accounts.delete(i.acme, alice.id, by: Instance.boss)
      let agent = try await i.agent("olga", role: .owner)
      return {
        _ = try await i.identity.userData.eraseDeleted(
          i.acme, alice.id, agent.request(nil, note: "asked by email"))
      }
    },
  ]
}
