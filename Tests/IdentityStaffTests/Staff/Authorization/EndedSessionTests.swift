import Crypto
import Database
@testable import Identity
import OTP
import Testing

@testable import TestIdentity

/// Actions of a request whose session ended after the request had begun.
struct EndedSessionTests {
  /// What ends a session.
  enum End: CaseIterable {
    case signOut, idleness, length

    /// Ends the sessions of all administrators.
    func endSessions(of instance: Instance) async throws {
      let statement: SQL
      switch self {
      case .signOut: statement = "DELETE /* test */ FROM console_session"
      case .idleness:
        instance.clock.advance(SessionLimits.standard.idle + 1)
        return
      case .length:
        instance.clock.advance(SessionLimits.standard.lifetime + 1)
        statement = """
          UPDATE /* test */ console_session SET last_seen_at = \(instance.now)
          """
      }
      _ = try await instance.database.write { try $0.run(statement) }
    }
  }

  @Test(arguments: End.allCases)
  func `C3: no action is performed in a session that ended while it was requested`(
    end: End
  ) async throws {
    try await withInstance { instance in
      let owner = try await instance.agentWithDevice("olga", role: .owner)
      #expect(try await instance.authorize(.createProject, owner.request()) == "done")
      try await end.endSessions(of: instance)
      let code = try #require(owner.device).code(at: instance.now)
      for action in ConsoleAction.allCases
      where Role.owner.permissions.contains(action.requirements.permission) {
        let request = owner.request(note: "because", code: code)
        #expect(try await instance.authorize(action, request) == "sessionEnded", "\(action)")
      }
      // Another session of the same administrator doesn't count.
      instance.clock.advance(30)
      _ = try await instance.signIn(try #require(owner.device))
      #expect(try await instance.authorize(.createProject, owner.request()) == "sessionEnded")
    }
  }

  @Test func `without a second factor, an ended session that's recent doesn't suffice`()
    async throws
  {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let session = try await instance.giveConsolePassword(olga).session.session
      let request = ActionRequest(agent: session, author: instance.author(olga))
      #expect(try await instance.authorize(.inviteAdministrator, request) == "done")
      try await End.signOut.endSessions(of: instance)
      #expect(try await instance.authorize(.inviteAdministrator, request) == "sessionEnded")
    }
  }

  @Test func `a session stays open when another tab replaces its token`() async throws {
    try await withInstance { instance in
      let owner = try await instance.agentWithDevice("olga", role: .owner)
      let (session, now) = (owner.session, instance.now)
      let random = instance.identity.authorization.store.random
      let renewed = try await instance.database.write { connection in
        try ConsoleSessions.renew(session, at: now, random: random, connection)
      }
      #expect(renewed != nil)
      #expect(try await instance.authorize(.createProject, owner.request()) == "done")
    }
  }

  @Test(arguments: End.allCases)
  func `lists aren't previewed, and passwords and codes not replaced, after the session ended`(
    end: End
  ) async throws {
    try await withInstance { instance in
      let owner = try await instance.agentWithDevice("olga", role: .owner)
      let identity = instance.identity
      try await instance.addUsers(1, in: instance.acme)
      try await end.endSessions(of: instance)
      let list = try BulkList("u0")
      await expect("sessionEnded") {
        try await identity.bulkRemovals.draft(
          list, in: instance.acme, by: owner.author, owner.session)
      }
      await expect("sessionEnded") {
        try await identity.ownAccount.changePassword(
          of: owner.session, old: Instance.consolePassword, new: Secret("another pass phrase"),
          by: owner.author)
      }
      let code = try #require(owner.device).code(at: instance.now)
      await expect("sessionEnded") {
        try await identity.administratorFactors.makeRecoveryCodes(
          for: owner.administrator.id, currentCode: TypedCode(code), in: owner.session,
          by: owner.author)
      }
    }
  }

  @Test(arguments: End.allCases)
  func `the audit log isn't downloaded after the session ended`(end: End) async throws {
    try await withInstance { instance in
      let agent = try await instance.agent("ada", role: .auditor)
      try await end.endSessions(of: instance)
      await expect("sessionEnded") {
        _ = try await instance.identity.audit.export(
          AuditFilter(), words: [], into: 0, by: agent.author, in: agent.session
        ) { count, _ in count += 1 }
      }
      let log = try await instance.wholeLog()
      #expect(!log.contains { $0.action == .auditDownload })
    }
  }
}
