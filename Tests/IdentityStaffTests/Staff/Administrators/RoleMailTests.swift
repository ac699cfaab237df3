import Crypto
import Database
import Testing

@testable import Identity
@testable import TestIdentity

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
      try await administrators.revoke(Self.auditor, from: nora.id, by: .program(author))
      _ = try await Self.sent(instance, "")
      let grant = Grant(role: .support, project: instance.acme.project)
      try await administrators.grant(grant, to: nora.id, by: .program(author))
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
        by: .program(instance.author(boss)))
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
      try await administrators.grant(Grant(role: .support), to: nora.id, by: .program(author))
      try await administrators.remove(nora.id, by: .program(author))
      var purposes: [String] = []
      while let mail = try await instance.claim() {
        if mail.recipient == nora.email { purposes.append(mail.purpose) }
      }
      #expect(purposes == ["grant-revoked", "grant-revoked"])
    }
  }

  @Test(arguments: [true, false])
  func `a message about another's lost role is for those who still manage administrators`(
    ownsProject: Bool
  ) async throws {
    try await withInstance(carriesMail: true) { instance in
      let (boss, nora) = try await instance.bossAndNora()
      let second = try await instance.administrator("second", .owner)
      let (administrators, author) = (instance.identity.administrators, instance.author(boss))
      _ = try await Self.sent(instance, "")
      // An owner of the pool that lists the message doesn't manage administrators either.
      let pool = try await instance.database.read { try Outbox.pool(of: second, $0) }
      let rest =
        ownsProject ? Grant(role: .owner, project: try #require(pool).project) : Self.auditor
      try await administrators.revoke(Self.auditor, from: nora.id, by: .program(author))
      try await administrators.grant(rest, to: second.id, by: .program(author))
      try await administrators.revoke(Grant(role: .owner), from: second.id, by: .program(author))
      #expect(try await Self.sent(instance, "grant-revoked") == [nora.email, second.email])
    }
  }

  @Test func `owners are told of an administrator whom a command creates`() async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.identity.messages.recordServer(at: Instance.publicURL)
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

  /// Creates an administrator with a command, and returns its emails about roles by recipient.
  private static func mailsOfCommand(
    _ instance: Instance, _ command: Identity
  ) async throws -> [String: String] {
    let before = try await instance.mails("grant-given").count
    _ = try await command.administrators.create(
      email: "new@example.com", displayName: "New", password: Instance.consolePassword,
      grant: auditor, by: Author(actor: .commandLine))
    let mails = try await instance.mails("grant-given").dropFirst(before)
    return Dictionary(mails.map { ($0.recipient, $0.body) }) { $1 }
  }

  @Test func `links in emails of a command lead to the server that last started`() async throws {
    try await withInstance(carriesMail: true) { instance in
      try await instance.identity.messages.recordServer(at: "https://old.example.com")
      try await instance.identity.messages.recordServer(at: Instance.publicURL)
      let boss = try await instance.administrator("boss", .owner)
      let command = try instance.identity()
      try await command.prepare()
      let mails = try await Self.mailsOfCommand(instance, command)
      let new = try #require(
        try await command.administrators.records().map(\.administrator).first {
          $0.email == "new@example.com"
        })
      let view = "\n\nView it in the console:\n\(Instance.publicURL)"
      #expect(
        mails[boss.email]?.hasSuffix("\(view)/administrators/\(new.id.text)\n") == true)
      #expect(mails[new.email]?.hasSuffix("\(view)/account\n") == true)
    }
  }

  @Test func `emails of a command have no links while no server has recorded its URL`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      try await instance.identity.messages.recordServer(at: Instance.publicURL)
      try await instance.database.write { connection in
        // As after the start of a version that didn't record it.
        try connection.run("DELETE /* test */ FROM instance WHERE name = 'public_url'")
      }
      let boss = try await instance.administrator("boss", .owner)
      let device = try await instance.enrolled(.alice)
      let command = try instance.identity()
      try await command.prepare()
      let mails = try await Self.mailsOfCommand(instance, command)
      for address in [boss.email, "new@example.com"] {
        let body = try #require(mails[address])
        #expect(body.contains("\nTime: ") && !body.contains("View it"))
        #expect(!body.contains("/account") && !body.contains("/administrators"))
      }
      var change = AccountChange()
      change.factors = .clear
      _ = try await command.accounts.update(
        instance.acme, device.account.id, change, by: Author(actor: .commandLine))
      let notice = try #require(try await instance.mails("notice-factors-removed").last)
      #expect(notice.body.contains("support team") && !notice.body.contains("/__/"))
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
      try await identity.administrators.grant(
        grant, to: nora.id, by: .program(instance.author(boss)))
      let invited = try await instance.invite("new@example.com", grant, by: boss)
      let losses = try await identity.pools.deletionImpact(project: project)
      #expect((losses.roles, losses.invitations) == (2, 1))
      let ofTenant = try await identity.pools.deletionImpact(project: project, tenant: grant.tenant)
      #expect((ofTenant.roles, ofTenant.invitations) == (1, 1))
      _ = try await Self.sent(instance, "")
      try await identity.pools.delete(project: project, by: .program(instance.author(boss)))
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
