import Crypto
import Database
import TestProvider
import Testing

@testable import Identity
@testable import TestIdentity

/// Roles from groups, as other administrators change and see them.
struct ProviderGrantTests {
  private static let owner = Grant(role: .owner)

  @Test func `a role that a group gives has no end date, and is marked as the provider's`()
    async throws
  {
    try await withInstance { instance in
      let olga = try await instance.setUpProvider()
      let nora = try await instance.providerSession().administrator
      let administrators = instance.identity.administrators
      let end = instance.now.advanced(bySeconds: 86_400)
      await expect("roleFromGroup") {
        _ = try await administrators.setEnd(
          of: Self.owner, of: nora.id, to: end, olga.request(nil))
      }
      #expect(try await administrators.record(nora.id).groupGrants == [Self.owner])
      // Neither can it be granted again, which the next sign-in would undo as well.
      let author = Author(actor: .commandLine)
      try await administrators.revoke(Self.owner, from: nora.id, by: .program(author))
      await expect("roleFromGroup") {
        try await administrators.grant(Self.owner, until: end, to: nora.id, by: .program(author))
      }
      try await administrators.grant(Self.owner, to: nora.id, by: .program(author))
      let record = try await administrators.record(nora.id)
      #expect(record.groupGrants.isEmpty && record.grantEnds.isEmpty)
    }
  }

  @Test func `the provider stays while no owner could sign in without it`() async throws {
    try await withInstance { instance in
      let olga = try await instance.setUpProvider().administrator
      let nora = try await instance.providerSession()
      let providers = instance.identity.consoleProviders
      try await instance.identity.administrators.remove(
        olga.id, by: .program(Author(actor: .commandLine)))
      let own = instance.request(nora.administrator, nora, note: "No longer used")
      await expect("noOwnSignIn") { _ = try await providers.remove(own) }
      #expect(try await providers.find() != nil)
      #expect(try await instance.grants(of: nora.administrator.id) == [Self.owner])
      _ = try await instance.visit()
    }
  }

  @Test func `the provider stays while the only owner has the role from a group`() async throws {
    try await withInstance { instance in
      let olga = try await instance.setUpProvider().administrator
      let nora = try await instance.administrator("nora", .auditor)
      let session = try await instance.link(nora)
      try await instance.reauthenticate(session)
      let line = Author(actor: .commandLine)
      let administrators = instance.identity.administrators
      try await administrators.remove(olga.id, by: .program(line))
      let id = nora.id
      let providers = instance.identity.consoleProviders
      let own = instance.request(nora, session, note: "No longer used")
      await expect("noOwnSignIn") { _ = try await providers.remove(own) }
      try await administrators.grant(Self.owner, to: id, by: .program(line))
      _ = try await providers.remove(own)
      #expect(try await instance.grants(of: id) == [Self.owner, Grant(role: .auditor)])
    }
  }

  @Test func `a group's owner stays while no other owner can sign in`() async throws {
    try await withInstance { instance in
      let olga = try await instance.setUpProvider().administrator
      let nora = try await instance.providerSession()
      try await instance.removePassword(of: olga)
      instance.provider.change { $0.groups = [] }
      _ = try await instance.visit()
      #expect(try await instance.grants(of: nora.administrator.id) == [Self.owner])
    }
  }

  @Test func `one rule says in two languages which role manages administrators`() async throws {
    try await withInstance { instance in
      let (now, line) = (instance.now, Author(actor: .commandLine))
      let administrators = instance.identity.administrators
      _ = try await instance.administrator("olga", .owner)
      let (project, tenant) = (instance.acme.project, try #require(instance.east.tenant))
      for role in Role.allCases {
        for grant in [
          Grant(role: role), Grant(role: role, project: project),
          Grant(role: role, project: project, tenant: tenant),
        ] {
          for end in [nil, now.advanced(bySeconds: 60)] {
            let nora = try await administrators.create(
              email: "nora@example.com", displayName: "Nora", password: Instance.consolePassword,
              grant: grant, by: line)
            try await administrators.grant(grant, until: end, to: nora.id, by: .program(line))
            let isLasting = try await instance.database.read { connection in
              try Administrators.lastingOwners(connection).contains { $0.id == nora.id }
            }
            #expect(isLasting == (grant.managesAdministrators && end == nil), "\(grant)")
            try await administrators.remove(nora.id, by: .program(line))
          }
        }
      }
    }
  }

  @Test func `an account that lost its only way to sign in has to be removed first`()
    async throws
  {
    try await withInstance { instance in
      let olga = try await instance.setUpProvider()
      let nora = try await instance.providerSession().administrator
      let administrators = instance.identity.administrators
      #expect(try await administrators.record(nora.id).canSignIn)
      _ = try await instance.identity.consoleProviders.remove(
        olga.request(nil, note: "No longer used"))
      #expect(try await !administrators.record(nora.id).canSignIn)
      try await instance.setUpProvider()
      await expect("emailTaken") { _ = try await instance.visit() }
      #expect(try await !administrators.record(nora.id).canSignIn)
      #expect(try await administrators.record(olga.administrator.id).canSignIn)
      try await administrators.remove(nora.id, by: .program(Author(actor: .commandLine)))
      let new = try await instance.providerSession().administrator
      #expect(new.id != nora.id && new.email == nora.email)
    }
  }

  @Test func `saving other roles of groups doesn't take the role of the last owner`() async throws {
    try await withInstance { instance in
      let olga = try await instance.setUpProvider().administrator
      let nora = try await instance.providerSession()
      try await instance.identity.administrators.revoke(
        Self.owner, from: olga.id, by: .program(Author(actor: .commandLine)))
      let auditor = Grant(role: .auditor)
      let new = Instance.consoleProvider([GroupRole(group: "admins", grant: auditor)])
      let own = instance.request(nora.administrator, nora, note: "Fewer owners")
      _ = try await instance.identity.consoleProviders.save(new, secret: nil, own)
      #expect(try await instance.grants(of: nora.administrator.id) == [Self.owner, auditor])
    }
  }

  @Test func `the groups' roles in a project or tenant are deleted with it`() async throws {
    try await withInstance { instance in
      let identity = instance.identity
      let (project, tenant) = (instance.acme.project, try #require(instance.east.tenant))
      let roles = [
        Instance.owners, GroupRole(group: "a", grant: Grant(role: .policy, project: project)),
        GroupRole(group: "b", grant: Grant(role: .support, project: project, tenant: tenant)),
      ]
      try await instance.setUpProvider(roles)
      #expect(try await identity.pools.deletionImpact(project: project).groupRoles == 2)
      #expect(
        try await identity.pools.deletionImpact(project: project, tenant: tenant).groupRoles == 1)
      try await identity.pools.delete(project: project, tenant: tenant, by: .program(Instance.boss))
      #expect(try await identity.consoleProviders.find()?.roles.count == 2)
      try await identity.pools.delete(project: project, by: .program(Instance.boss))
      #expect(try await identity.consoleProviders.find()?.roles == [Instance.owners])
      let rows = try await instance.wholeLog().filter {
        $0.action == .instanceChangeSignInProvider
      }
      #expect(rows.count == 3 && rows.first?.fields == [.groupRoles])
    }
  }

  @Test func `an invitation ends when the provider creates the administrator`() async throws {
    try await withInstance { instance in
      let olga = try await instance.setUpProvider().administrator
      let new = try await instance.invite("Nora@example.com", by: olga)
      _ = try await instance.providerSession()
      #expect(try await instance.identity.invitations.list().isEmpty)
      await expect("ended") { _ = try await instance.accept(new.token) }
      let history = try await instance.identity.administrators.history(of: new.invitation.id)
      #expect(
        history.map(\.action) == [.administratorRevokeInvitation, .administratorInvite])
    }
  }
}
