import Testing

@testable import Identity

struct PermissionTests {
  /// What each role may do where it was granted.
  static let table: [Role: Set<Permission>] = [
    .owner: [
      .seeScope, .readPolicy, .changePolicy, .createProject, .changeScope, .manageTenants,
      .deleteProject, .manageKeys, .manageTrust, .findUsers, .changeUsers, .exportUsers,
      .removeFactors, .endSessions, .readMessages, .readAudit,
      .seeAdministrators, .manageAdministrators, .editSupportRules, .protectUsers, .changeLinks,
      .seeApprovals,
    ],
    .policy: [
      .seeScope, .readPolicy, .changePolicy, .createProject, .changeScope, .manageTenants,
      .manageKeys, .editSupportRules, .seeApprovals,
    ],
    .support: [
      .seeScope, .readPolicy, .findUsers, .removeFactors, .endSessions, .seeApprovals,
    ],
    .auditor: [.seeScope, .readPolicy, .findUsers, .readAudit, .seeAdministrators],
  ]

  private func administrator(_ grants: Grant...) -> Administrator {
    Administrator(id: ID("a"), email: "a@example.com", displayName: "A", grants: grants)
  }

  @Test(arguments: Role.allCases)
  func `a role may do what the table says`(role: Role) throws {
    let allowed = try #require(Self.table[role])
    #expect(role.permissions == allowed)
    let somebody = administrator(Grant(role: role))
    for permission in Permission.allCases {
      #expect(somebody.may(permission, in: nil) == allowed.contains(permission))
    }
  }

  @Test func `who decides does not act on users, and who helps does not decide`() throws {
    let users: Set<Permission> = [.findUsers, .changeUsers, .removeFactors, .endSessions]
    #expect(Role.policy.permissions.isDisjoint(with: users))
    let deciding: Set<Permission> = [.changePolicy, .changeScope, .manageTenants, .exportUsers]
    #expect(Role.support.permissions.isDisjoint(with: deciding.union([.changeUsers])))
    let reading: Set<Permission> = [
      .seeScope, .readPolicy, .findUsers, .readAudit, .seeAdministrators,
    ]
    #expect(Role.auditor.permissions == reading)
  }

  @Test func `a grant covers its place and what lies below, nothing beside or above`() {
    let (p, q) = (ID<Project>("p"), ID<Project>("q"))
    let (t, u) = (ID<Tenant>("t"), ID<Tenant>("u"))
    let places: [(ID<Project>?, ID<Tenant>?)] = [
      (nil, nil), (p, nil), (p, t), (p, u), (q, nil), (q, t), (p, ID("")), (ID(""), nil),
    ]
    let grants: [(Grant, [Bool])] = [
      (Grant(role: .owner), [true, true, true, true, true, true, true, true]),
      (
        Grant(role: .owner, project: p), [false, true, true, true, false, false, true, false]
      ),
      (
        Grant(role: .owner, project: p, tenant: t),
        [false, false, true, false, false, false, false, false]
      ),
    ]
    for (grant, expected) in grants {
      for (place, covered) in zip(places, expected) {
        #expect(grant.covers(project: place.0, tenant: place.1) == covered, "\(grant) \(place)")
        let somebody = administrator(grant)
        #expect(somebody.may(.seeScope, project: place.0, tenant: place.1) == covered)
      }
    }
  }

  @Test func `a tenant without a project is no place to grant`() {
    #expect(Grant(role: .owner, project: nil, tenant: ID("t")).tenant == nil)
  }

  @Test func `several grants add up, each in its own place`() {
    let (p, q) = (ID<Project>("p"), ID<Project>("q"))
    let somebody = administrator(
      Grant(role: .support, project: p), Grant(role: .policy, project: q, tenant: ID("t")))
    #expect(somebody.may(.removeFactors, project: p, tenant: ID("x")))
    #expect(!somebody.may(.changePolicy, project: p, tenant: nil))
    #expect(somebody.may(.changePolicy, project: q, tenant: ID("t")))
    #expect(!somebody.may(.changePolicy, project: q, tenant: nil))
    #expect(!somebody.may(.createProject, in: nil))
    #expect(somebody.maySee(p) && somebody.maySee(q) && !somebody.maySee(ID("r")))
    #expect(!somebody.seesEveryProject)
    #expect(somebody.onlyTenants(of: p) == nil)
    #expect(somebody.onlyTenants(of: q) == [ID("t")])
    #expect(somebody.onlyTenants(of: ID("r")) == [])
  }

  @Test func `without a grant one may nothing`() {
    let nobody = administrator()
    for permission in Permission.allCases {
      #expect(!nobody.may(permission, in: nil))
      #expect(!nobody.may(permission, project: ID("p"), tenant: nil))
    }
    #expect(!nobody.maySee(ID("p")))
  }
}
