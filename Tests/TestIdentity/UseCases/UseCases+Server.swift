import Crypto
import Database
@testable import Identity

extension UseCase {
  /// What the server and the command line do, and attempts that fail.
  static let server: [UseCase] = [
    UseCase("delete expired anonymous accounts", [.accountExpire]) { i in
      _ = try await i.identity.pools.update(project: i.acme.project, by: .program(Instance.boss)) {
        $0.signIn.anonymous = true
        $0.project?.expiresAnonymous = true
      }
      _ = try await i.identity.signIns.signUp(i.acme, NewAccount(), by: Instance.visitor)
      try await i.advancePurging(AnonymousAccounts.lifetime + 1)
      return { try await i.identity.purgeExpired() }
    },
    UseCase("end an hour in which lists showed users", [.accountList]) { i in
      try await i.identity.accounts.recordShown(
        .pools([DownloadedUsers.PoolCount(i.acme, count: 3)]), by: Instance.support)
      try await i.advancePurging(3_600 - i.now.seconds % 3_600)
      return { try await i.identity.purgeExpired() }
    },
    UseCase("let a request expire", [.approvalExpire]) { i in
      _ = try await i.waiting()
      try await i.advancePurging(Approval.lifetime)
      return { try await i.identity.purgeExpired() }
    },
    UseCase("approve a request overtaken by a change", [.approvalOvertake]) { i in
      let (device, agent) = try await i.lastFactor()
      let id = try await i.waiting(device, agent)
      try await i.addSecondDevice(to: device)
      let other = try await i.agent("omar")
      return { _ = try await i.identity.approvals.approve(id, in: i.acme, other.request(nil)) }
    },
    UseCase("hit the hourly action limit", [.supportHold], ending: "held") { i in
      try await i.setSupportRules { $0.actionsPerHour = 1 }
      let (alice, bob) = (try await i.account(.alice), try await i.account(.bob))
      let agent = try await i.agent()
      _ = try await i.identity.support.endSessions(i.acme, alice.id, agent.request())
      return { _ = try await i.identity.support.endSessions(i.acme, bob.id, agent.request()) }
    },
    UseCase("enter an incorrect password", [.administratorSignInRefused], ending: "refused") { i in
      let nora = try await i.administrator("nora", .auditor)
      return { _ = try await i.giveConsolePassword(nora, password: Secret("wrong")) }
    },
    UseCase(
      "enter the tenth incorrect password", [.administratorSignInRefused, .administratorBlock],
      ending: "refused"
    ) { i in
      let nora = try await i.administrator("nora", .auditor)
      for _ in 0..<9 {
        _ = await outcome { try await i.giveConsolePassword(nora, password: Secret("wrong")) }
      }
      return { _ = try await i.giveConsolePassword(nora, password: Secret("wrong")) }
    },
    UseCase("enter an incorrect code", [.administratorCodeRefused], ending: "wrongCode") { i in
      let device = try await i.enroll(try await i.administrator("nora", .auditor))
      let pending = try await i.giveConsolePassword(device.administrator).pending
      let wrong = try device.wrongCode(at: i.now)
      return { _ = try await i.finish(pending, code: wrong) }
    },
    UseCase("read a message", [.messageRead]) { i in
      try await i.write(.mail)
      let id = try await i.entries().first?.id ?? 0
      return { _ = try await i.identity.messages.open(i.acme, id, by: .program(Instance.boss)) }
    },
    UseCase("open a changed secret", [.secretUnreadable], ending: "unavailable") { i in
      let device = try await i.enrolled(.alice)
      try await i.database.write { connection in
        _ = try connection.run(
          """
          UPDATE /* test */ factor SET sealed_secret = \([UInt8](repeating: 0, count: 61))
          WHERE enrollment_id = \(device.factor)
          """)
      }
      let pending = try await i.pending(.alice)
      return { _ = try await i.finalize(device, pending, code: "123456") }
    },
    UseCase("start without a signing key", [.signingKeyCreate]) { i in
      try await i.database.write { connection in
        _ = try connection.run("DELETE /* test */ FROM signing_key")
      }
      return { try await i.identity().prepare() }
    },
    UseCase("confirm the clock", [.instanceConfirmClock]) { i in
      _ = try await i.identity.clockGuard.check()
      i.clock.advance(400 * 86_400)
      _ = try await i.identity.clockGuard.check()
      return { try await i.identity.clockGuard.confirm(by: .program(Author(actor: .commandLine))) }
    },
    UseCase("restore a backup", [.instanceRestore]) { i in
      {
        _ = try await i.identity.endTheRestoredPast(
          file: "monday.sqlite", keepsSessions: false, former: nil,
          by: Author(actor: .commandLine))
      }
    },
    UseCase("upgrade the database", [.instanceUpgrade]) { i in
      let begun = StoredCode("begun", ["2", "notes=3", "event_streams=1"]).text
      try await i.database.write { try InstanceValue("upgrade").store(begun, $0) }
      return { try await i.identity().prepare(creates: false) }
    },
    UseCase("move the instance to another database", [.instanceMove]) { i in
      {
        do {
          try await i.database.write { connection in
            try InstanceMove.record(at: WallClock.system.now(), connection)
          }
        } catch {
          throw MoveError.translated(error)
        }
      }
    },
    UseCase("rotate the master key", [.masterKeyRotate]) { i in
      i.keys.adopt(i.keys.rotated(random: .system))
      return { try await i.identity.masterKeys.begin(by: Instance.boss) }
    },
    UseCase("reencrypt stored secrets", [.masterKeyReseal]) { i in
      i.keys.adopt(i.keys.rotated(random: .system))
      try await i.identity.masterKeys.begin(by: Instance.boss)
      return { _ = try await i.identity.masterKeys.step() }
    },
    UseCase("drop a former master key", [.masterKeyDrop]) { i in
      i.keys.adopt(i.keys.rotated(random: .system))
      try await i.identity.masterKeys.begin(by: Instance.boss)
      while case .part = try await i.identity.masterKeys.step() {}
      i.clock.advance(MasterKeys.carried + 1)
      while case .part = try await i.identity.masterKeys.step() {}
      return { try await i.identity.masterKeys.drop() }
    },
  ]
}

extension Instance {
  /// Advances the clock; everything that expires earlier than in the last second is deleted.
  fileprivate func advancePurging(_ seconds: Int64) async throws {
    clock.advance(seconds - 1)
    try await identity.purgeExpired()
    clock.advance(1)
  }
}
