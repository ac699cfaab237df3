import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// A second approver binds every way to weaken a policy, so that a service token can't be one.
struct TokenPolicyApprovalTests {
  /// Who created the token.
  enum Creator: CaseIterable {
    case owner, ownerElsewhere, policyAdmin, formerOwner, commandLine
    var isOwner: Bool { self == .owner }
  }

  /// A way in which a service token changes a policy.
  enum Way: CaseIterable { case policy, project, tenant }

  private func token(_ instance: Instance, by creator: Creator) async throws -> Author {
    let tokens = instance.identity.serviceTokens
    let project = instance.acme.project
    guard creator != .commandLine else {
      return try await tokens.create(
        project: project, tenant: nil, role: .policy, name: "deploy",
        by: .program(Author(actor: .commandLine))
      ).value.token.author(address: "198.51.100.9", requestID: "")
    }
    let isOwner = creator == .owner || creator == .formerOwner
    let maker = try await instance.agent("maker", role: isOwner ? .owner : .policy).administrator
    let token = try await tokens.create(
      project: project, tenant: nil, role: .policy, name: "deploy",
      by: .program(instance.author(maker))
    ).value.token
    let administrators = instance.identity.administrators
    let author = Author(actor: .commandLine)
    switch creator {
    case .ownerElsewhere:
      _ = try await administrators.grant(
        Grant(role: .owner, project: instance.globex.project), to: maker.id, by: .program(author))
    case .formerOwner:
      _ = try await instance.agent("other", role: .owner)
      _ = try await administrators.grant(Grant(role: .policy), to: maker.id, by: .program(author))
      _ = try await administrators.revoke(Grant(role: .owner), from: maker.id, by: .program(author))
    case .owner, .policyAdmin, .commandLine: break
    }
    return token.author(address: "198.51.100.9", requestID: "")
  }

  private func widen(_ instance: Instance, _ way: Way, by author: Author) async -> String {
    let identity = instance.identity
    let (acme, east) = (instance.acme, instance.east)
    return await outcome {
      switch way {
      case .policy:
        _ = try await identity.policies.change(acme, by: .program(author)) {
          $0.configuration.totp?.adjacentIntervals = 9
        }
      case .project:
        _ = try await identity.pools.update(project: acme.project, by: .program(author)) {
          $0.configuration.totp?.adjacentIntervals = 9
        }
      case .tenant:
        _ = try await identity.pools.update(
          project: east.project, tenant: east.tenant, by: .program(author)
        ) { $0.configuration.totp?.adjacentIntervals = 9 }
      }
    }
  }

  @Test(arguments: Creator.allCases)
  func `a token weakens a policy that requires approval only if an owner created it`(
    creator: Creator
  ) async throws {
    for way in Way.allCases {
      try await withInstance { instance in
        let pool = way == .tenant ? instance.east : instance.acme
        let author = try await token(instance, by: creator)
        _ = try await instance.identity.policies.change(pool, by: .program(Instance.boss)) {
          $0.configuration.state = .enabled
          $0.configuration.totp = TOTPConfiguration(state: .enabled, adjacentIntervals: 1)
        }
        for person in [Person.alice, .bob] { _ = try await instance.enrolled(person, in: pool) }
        try await instance.database.write { connection in
          var rules = SupportRules()
          rules.policyApprovalOverUsers = 2
          try rules.store(pool, connection)
        }
        #expect(await widen(instance, way, by: author) == "done", "within the limit")
        _ = try await instance.identity.policies.change(pool, by: .program(Instance.boss)) {
          $0.configuration.totp?.adjacentIntervals = 1
        }
        try await instance.database.write { connection in
          var rules = SupportRules()
          rules.policyApprovalOverUsers = 1
          try rules.store(pool, connection)
        }
        let refusal = way == .policy ? "approvalRequired" : "policy.approvalRequired"
        #expect(
          await widen(instance, way, by: author) == (creator.isOwner ? "done" : refusal),
          "\(creator) \(way)")
        let window = try await instance.identity.policies.read(pool).configuration.totp?
          .adjacentIntervals
        #expect(window == (creator.isOwner ? 9 : 1))
      }
    }
  }
}
