import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// Who may not remove a user's second factors may not get rid of them by deleting the user.
struct DeletionRuleTests {
  /// What keeps someone from removing a user's second factors.
  enum Obstacle: CaseIterable {
    case reportedChange, sessionWithoutFactor, suspendedFactor, tokensOff, secondApprover
  }

  /// The refusal of a deletion; nil if it's allowed.
  private func refusal(of kind: Actor.Kind, _ obstacle: Obstacle) -> String? {
    switch (kind, obstacle) {
    case (.user, .reportedChange), (.serviceToken, .reportedChange),
      (.administrator, .reportedChange):
      "changesLocked"
    case (.user, .sessionWithoutFactor): "secondFactorNeeded"
    case (.user, .suspendedFactor): "factorSuspended"
    case (.serviceToken, .tokensOff): "factorRemovalByTokenOff"
    case (.administrator, .secondApprover): "factorsNeedApproval"
    case (.visitor, _): "adminOnly"
    case (.user, _), (.serviceToken, _), (.administrator, _), (.commandLine, _),
      (.emulatorOwner, _),
      (.server, _), (.remote, _):
      nil
    }
  }

  private func actor(
    _ kind: Actor.Kind, _ account: Account, _ instance: Instance
  ) async throws -> Actor {
    switch kind {
    case .administrator: Instance.boss.actor
    case .serviceToken: try await instance.program().actor
    case .user: .user(account.id)
    case .commandLine: .commandLine
    case .emulatorOwner: .emulatorOwner
    case .server: .server
    case .visitor: .visitor
    case .remote: .remote("Google")
    }
  }

  private func run(_ instance: Instance, _ statement: SQL) async throws {
    try await instance.database.write { connection in _ = try connection.run(statement) }
  }

  @Test(arguments: Obstacle.allCases)
  func `every actor who can't remove the factors can't delete the user`(
    obstacle: Obstacle
  ) async throws {
    for kind in Actor.Kind.allCases {
      try await withInstance { instance in
        let device = try await instance.enrolled(.alice)
        let pool = instance.acme
        var session = device.session
        switch obstacle {
        case .reportedChange:
          try await run(
            instance,
            """
            UPDATE /* test */ account SET changes_locked_at = \(instance.now)
            WHERE account_key = \(device.account.key)
            """)
        case .sessionWithoutFactor:
          session = UserSession(
            id: session.id, pool: pool, account: session.account, authTime: session.authTime,
            provider: .password, secondFactor: nil, claims: nil)
        case .suspendedFactor:
          _ = try await instance.identity.support.suspend(
            pool, device.account.id, device.factor,
            until: instance.now.advanced(bySeconds: 3_600), instance.agent().request())
        case .tokensOff: try await instance.setSupportRules { $0.tokensRemoveFactors = false }
        case .secondApprover:
          try await instance.setSupportRules { $0.approvalForLastFactor = true }
          try await run(
            instance,
            """
            UPDATE /* test */ scope SET pattern = 'mandatory', mandatory_from = NULL
            WHERE scope_key = \(pool.key)
            """)
        }
        let author = Author(actor: try await actor(kind, device.account, instance))
        let (account, now) = (try await instance.reload(device.account), instance.now)
        let own = kind == .user ? session : nil
        let result = await outcome {
          try await instance.database.write { connection in
            _ = try Accounts.delete(
              account, in: pool, by: author, own, at: now, connection)
          }
        }
        #expect(result == refusal(of: kind, obstacle) ?? "done", "\(kind) \(obstacle)")
      }
    }
  }

  @Test func `all accounts at once are deleted only by those who own the server`() {
    let actors: [Actor] = [
      .administrator(ID("a"), name: ""), .serviceToken(ID("t"), name: ""), .user(ID("u")),
      .commandLine, .emulatorOwner, .server, .visitor,
      .remote("Google"),
    ]
    #expect(Set(actors.map(\.kind)) == Set(Actor.Kind.allCases))
    #expect(
      actors.filter(DeletionRules.canDeleteAll).map(\.kind) == [
        .commandLine, .emulatorOwner, .server,
      ])
  }

  @Test func `a role that may delete users may remove their factors`() {
    for role in Role.allCases where role.permissions.contains(.changeUsers) {
      #expect(role.permissions.contains(.removeFactors))
    }
  }
}
