import Database
import DatabaseSQLite
import Testing

@testable import Identity

/// The one function that decides what an administrator may do to a user.
struct UserAuthorizationTests {
  private func administrator(_ role: Role, _ email: String = "agent@example.com") -> Administrator {
    Administrator(
      id: ID("a"), email: email, displayName: "Ada", grants: [Grant(role: role)])
  }

  private func word(_ denial: ActionDenial?) -> String {
    denial.map { "\($0)" } ?? "allowed"
  }

  @Test func `each action needs its permission, whatever the role`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      for role in Role.allCases {
        for action in ConsoleAction.allCases {
          let denial = administrator(role).denial(of: action, on: alice, in: instance.acme)
          let isAllowed = role.permissions.contains(action.requirements.permission)
          #expect(word(denial) == (isAllowed ? "allowed" : "notAllowed"), "\(role) \(action)")
        }
      }
    }
  }

  @Test(arguments: [
    // protected, locked, role, and the answers for a factor, for sessions, and for a note
    (false, false, Role.support, ["allowed", "allowed", "allowed"]),
    (true, false, Role.support, ["protectedAccount", "protectedAccount", "allowed"]),
    (true, false, Role.owner, ["allowed", "allowed", "allowed"]),
    (false, true, Role.support, ["changesLocked", "allowed", "allowed"]),
    (false, true, Role.owner, ["changesLocked", "allowed", "allowed"]),
    (true, true, Role.support, ["protectedAccount", "protectedAccount", "allowed"]),
  ])
  func `marks of a user stop actions by what these change`(
    isProtected: Bool, isLocked: Bool, role: Role, answers: [String]
  ) async throws {
    try await withInstance { instance in
      let new = try await instance.account(.alice)
      let since = isLocked ? instance.now.microseconds : nil
      try await instance.database.write { connection in
        _ = try connection.run(
          """
          UPDATE /* test */ account SET protected = \(isProtected), changes_locked_at = \(since)
          """)
      }
      let alice = try await instance.reload(new)
      let actions: [ConsoleAction] = [.removeFactor, .endSessions, .writeNote]
      let found = actions.map {
        word(administrator(role).denial(of: $0, on: alice, in: instance.acme))
      }
      #expect(found == answers)
      let own = administrator(role, Person.alice.email)
      for action in actions {
        #expect(word(own.denial(of: action, on: alice, in: instance.acme)) == "ownAccount")
      }
    }
  }

  @Test func `a second factor is required of whoever can change something`() {
    #expect(Role.allCases.filter(\.needsSecondFactor) == [.owner, .policy, .support])
  }

  @Test func `the role in the bar is the broadest that applies`() async throws {
    try await withInstance { instance in
      let acme = instance.acme.project
      let ada = Administrator(
        id: ID("a"), email: "ada@example.com", displayName: "Ada",
        grants: [
          Grant(role: .auditor), Grant(role: .support, project: acme),
          Grant(role: .policy, project: acme, tenant: instance.east.tenant),
        ])
      #expect(ada.role(in: nil) == .auditor)
      #expect(ada.role(in: instance.acme) == .support)
      #expect(ada.role(in: instance.east) == .policy)
      #expect(ada.role(in: instance.globex) == .auditor)
    }
  }
}
