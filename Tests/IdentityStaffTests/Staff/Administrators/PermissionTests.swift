import Testing

@testable import Identity

struct PermissionTests {
  /// The permissions of each role.
  static let table: [Role: Set<Permission>] = [
    .owner: [
      .seePool, .readPolicy, .changePolicy, .createProject, .changePool, .manageTenants,
      .deleteProject, .manageKeys, .manageTrust, .findUsers, .changeUsers, .exportUsers,
      .removeFactors, .endSessions, .readMessages, .readAudit,
      .seeAdministrators, .manageAdministrators, .editSupportRules, .protectUsers, .changeLinks,
      .seeApprovals, .signOffReview,
    ],
    .policy: [
      .seePool, .readPolicy, .changePolicy, .createProject, .changePool, .manageTenants,
      .manageKeys, .editSupportRules, .seeApprovals,
    ],
    .support: [
      .seePool, .readPolicy, .findUsers, .removeFactors, .endSessions, .seeApprovals,
    ],
    .auditor: [
      .seePool, .readPolicy, .findUsers, .readAudit, .seeAdministrators, .signOffReview,
    ],
  ]

  private func administrator(_ grants: Grant...) -> Administrator {
    Administrator(id: ID("a"), email: "a@example.com", displayName: "A", grants: grants)
  }

  @Test(arguments: Role.allCases)
  func `a role has the permissions in the table`(role: Role) throws {
    let allowed = try #require(Self.table[role])
    #expect(role.permissions == allowed)
    let admin = administrator(Grant(role: role))
    for permission in Permission.allCases {
      #expect(admin.may(permission, in: nil) == allowed.contains(permission))
    }
  }

  @Test func `policy admins don't act on users, and support agents don't change settings`() throws {
    let users: Set<Permission> = [.findUsers, .changeUsers, .removeFactors, .endSessions]
    #expect(Role.policy.permissions.isDisjoint(with: users))
    let deciding: Set<Permission> = [.changePolicy, .changePool, .manageTenants, .exportUsers]
    #expect(Role.support.permissions.isDisjoint(with: deciding.union([.changeUsers])))
    let reading: Set<Permission> = [
      .seePool, .readPolicy, .findUsers, .readAudit, .seeAdministrators, .signOffReview,
    ]
    #expect(!Role.auditor.needsSecondFactor)
    #expect(Role.auditor.permissions == reading)
  }

  @Test func `a grant covers its resource and everything below it, nothing else`() {
    let (p, q) = (ID<Project>("p"), ID<Project>("q"))
    let (t, u) = (ID<Tenant>("t"), ID<Tenant>("u"))
    let resources: [(ID<Project>?, ID<Tenant>?)] = [
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
      for (resource, covered) in zip(resources, expected) {
        #expect(
          grant.covers(project: resource.0, tenant: resource.1) == covered, "\(grant) \(resource)")
        let admin = administrator(grant)
        #expect(admin.may(.seePool, project: resource.0, tenant: resource.1) == covered)
      }
    }
  }

  @Test func `a grant's tenant is ignored without a project`() {
    #expect(Grant(role: .owner, project: nil, tenant: ID("t")).tenant == nil)
  }

  @Test func `several grants add up, each for its own resource`() {
    let (p, q) = (ID<Project>("p"), ID<Project>("q"))
    let admin = administrator(
      Grant(role: .support, project: p), Grant(role: .policy, project: q, tenant: ID("t")))
    #expect(admin.may(.removeFactors, project: p, tenant: ID("x")))
    #expect(!admin.may(.changePolicy, project: p, tenant: nil))
    #expect(admin.may(.changePolicy, project: q, tenant: ID("t")))
    #expect(!admin.may(.changePolicy, project: q, tenant: nil))
    #expect(!admin.may(.createProject, in: nil))
    #expect(admin.maySee(p) && admin.maySee(q) && !admin.maySee(ID("r")))
    #expect(!admin.seesEveryProject)
    #expect(admin.onlyTenants(of: p) == nil)
    #expect(admin.onlyTenants(of: q) == [ID("t")])
    #expect(admin.onlyTenants(of: ID("r")) == [])
  }

  @Test func `an administrator without a grant has no permissions`() {
    let admin = administrator()
    for permission in Permission.allCases {
      #expect(!admin.may(permission, in: nil))
      #expect(!admin.may(permission, project: ID("p"), tenant: nil))
    }
    #expect(!admin.maySee(ID("p")))
  }
}
