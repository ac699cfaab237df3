import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// The function that authorizes administrators' actions on users.
struct UserAuthorizationTests {
  private func administrator(_ role: Role, _ email: String = "agent@example.com") -> Administrator {
    Administrator(
      id: ID("a"), email: email, displayName: "Ada", grants: [Grant(role: role)])
  }

  private func name(_ denial: ActionDenial?) -> String {
    denial.map { "\($0)" } ?? "allowed"
  }

  @Test func `each action requires its permission for every role`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      for role in Role.allCases {
        for action in ConsoleAction.allCases {
          let denial = administrator(role).denial(of: action, on: alice, in: instance.acme)
          let needs = action.requirements.needs
          let isAllowed = role.permissions.contains(action.requirements.permission)
          let expected =
            !instance.acme.offers.contains(needs)
            ? name(.notOffered(needs)) : isAllowed ? "allowed" : "notAllowed"
          #expect(name(denial) == expected, "\(role) \(action)")
        }
      }
    }
  }

  @Test(arguments: [
    // Protected, locked, role, and the results for a factor and for sessions.
    (false, false, Role.support, ["allowed", "allowed"]),
    (true, false, Role.support, ["protectedAccount", "protectedAccount"]),
    (true, false, Role.owner, ["allowed", "allowed"]),
    (false, true, Role.support, ["changesLocked", "allowed"]),
    (false, true, Role.owner, ["changesLocked", "allowed"]),
    (true, true, Role.support, ["protectedAccount", "protectedAccount"]),
  ])
  func `protection and locks deny actions by what they change`(
    isProtected: Bool, isLocked: Bool, role: Role, answers: [String]
  ) async throws {
    try await withInstance { instance in
      let new = try await instance.account(.alice)
      try await instance.mark(new.id.text, isProtected: isProtected, isLocked: isLocked)
      let alice = try await instance.reload(new)
      let actions: [ConsoleAction] = [.removeFactor, .endSessions]
      let found = actions.map {
        name(administrator(role).denial(of: $0, on: alice, in: instance.acme))
      }
      #expect(found == answers)
      let own = administrator(role, Person.alice.email)
      for action in actions {
        #expect(name(own.denial(of: action, on: alice, in: instance.acme)) == "ownAccount")
      }
    }
  }

  @Test func `roles that can make changes require a second factor`() {
    #expect(Role.allCases.filter(\.needsSecondFactor) == [.owner, .policy, .support])
  }

  @Test func `the displayed role is the broadest one that applies`() async throws {
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
