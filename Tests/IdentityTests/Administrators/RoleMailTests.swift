import Crypto
import Database
import Testing

@testable import Identity

/// Emails about first and last roles, which their holders don't have before or after.
struct RoleMailTests {
  private static let auditor = Grant(role: .auditor)

  /// The recipients of the emails that the server would send now.
  private static func sent(_ instance: Instance, _ purpose: String) async throws -> [String] {
    var recipients: [String] = []
    while let mail = try await instance.claim() {
      if mail.purpose == purpose { recipients.append(mail.recipient) }
    }
    return recipients.sorted()
  }

  @Test func `the holder of a first role is told`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let (boss, nora) = try await instance.bossAndNora()
      let (administrators, author) = (instance.identity.administrators, instance.author(boss))
      try await administrators.revoke(Self.auditor, from: nora.id, by: author)
      _ = try await Self.sent(instance, "")
      let grant = Grant(role: .support, project: instance.acme.project)
      try await administrators.grant(grant, to: nora.id, by: author)
      #expect(try await Self.sent(instance, "grant-given") == [nora.email])
    }
  }

  @Test func `someone whom the provider makes an administrator is told`() async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.setUpProvider()
      _ = try await Self.sent(instance, "")
      _ = try await instance.providerSession()
      #expect(
        try await Self.sent(instance, "grant-given")
          == ["nora@example.com", "olga@desk.example.com"])
    }
  }

  @Test func `the holder of a last role that ended is told`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let (boss, nora) = try await instance.bossAndNora()
      try await instance.identity.administrators.grant(
        Self.auditor, until: instance.now.advanced(bySeconds: 60), to: nora.id,
        by: instance.author(boss))
      instance.clock.advance(60)
      try await instance.identity.purgeExpired()
      #expect(try await Self.sent(instance, "grant-ended") == [boss.email, nora.email])
    }
  }

  @Test func `someone who is removed is told, and gets nothing else`() async throws {
    try await withInstance(carriesMail: true) { instance in
      let (boss, nora) = try await instance.bossAndNora()
      let (administrators, author) = (instance.identity.administrators, instance.author(boss))
      _ = try await Self.sent(instance, "")
      try await administrators.grant(Grant(role: .support), to: nora.id, by: author)
      try await administrators.remove(nora.id, by: author)
      var purposes: [String] = []
      while let mail = try await instance.claim() {
        if mail.recipient == nora.email { purposes.append(mail.purpose) }
      }
      #expect(purposes == ["grant-revoked", "grant-revoked"])
    }
  }

  @Test func `a message about another's lost role is for those who still manage administrators`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let (boss, nora) = try await instance.bossAndNora()
      let second = try await instance.administrator("second", .owner)
      let (administrators, author) = (instance.identity.administrators, instance.author(boss))
      _ = try await Self.sent(instance, "")
      try await administrators.revoke(Self.auditor, from: nora.id, by: author)
      try await administrators.grant(Self.auditor, to: second.id, by: author)
      try await administrators.revoke(Grant(role: .owner), from: second.id, by: author)
      #expect(try await Self.sent(instance, "grant-revoked") == [nora.email, second.email])
    }
  }

  @Test func `owners are told of an administrator whom a command creates`() async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.identity.messages.recordCarriesMail()
      let boss = try await instance.administrator("boss", .owner)
      _ = try await Self.sent(instance, "")
      let command = try instance.identity()
      _ = try await command.administrators.create(
        email: "new@example.com", displayName: "New", password: Instance.consolePassword,
        grant: Self.auditor, by: Author(actor: .commandLine))
      #expect(
        try await Self.sent(instance, "grant-given") == [boss.email, "new@example.com"])
    }
  }

  @Test func `roles and invitations in a deleted project are recorded, and their holders told`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let (identity, project) = (instance.identity, instance.acme.project)
      let boss = try await instance.administrator("boss", .owner)
      let nora = try await instance.administrator("nora", .auditor, project: project)
      let grant = Grant(role: .support, project: project, tenant: instance.east.tenant)
      try await identity.administrators.grant(grant, to: nora.id, by: instance.author(boss))
      let invited = try await instance.invite("new@example.com", grant, by: boss)
      let losses = try await identity.pools.losses(project: project)
      #expect((losses.roles, losses.invitations) == (2, 1))
      let ofTenant = try await identity.pools.losses(project: project, tenant: grant.tenant)
      #expect((ofTenant.roles, ofTenant.invitations) == (1, 1))
      _ = try await Self.sent(instance, "")
      try await identity.pools.delete(project: project, by: instance.author(boss))
      while try await identity.purge() {}
      let history = try await identity.administrators.history(of: nora.id).prefix(2)
      #expect(history.map(\.action) == [.administratorRevoke, .administratorRevoke])
      #expect(
        try await identity.administrators.history(of: invited.invitation.id).first?.action
          == .administratorRevokeInvitation)
      // Her only project is gone, so its pool still has her messages.
      #expect(try await Self.sent(instance, "grant-revoked") == [nora.email, nora.email])
    }
  }
}
