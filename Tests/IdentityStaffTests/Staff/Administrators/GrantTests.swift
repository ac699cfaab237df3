import Crypto
import Identity
import Testing

@testable import TestIdentity

struct GrantTests {
  @Test func `C8: granted and revoked roles apply to open sessions immediately`() async throws {
    try await withInstance { instance in
      let administrators = instance.identity.administrators
      let (boss, nora) = try await instance.bossAndNora()
      let token = try await instance.giveConsolePassword(nora).session.token.revealedText
      func roles() async throws -> Set<Grant> {
        Set(
          try #require(try await instance.identity.consoleSessions.find(token: token))
            .administrator.grants)
      }
      let east = Grant(
        role: .support, project: instance.acme.project, tenant: instance.east.tenant)
      #expect(
        try await administrators.grant(east, to: nora.id, by: .program(instance.author(boss))).value
      )
      #expect(try await roles() == [Grant(role: .auditor), east])
      let again = try await administrators.grant(
        east, to: nora.id, by: .program(instance.author(boss))
      ).value
      #expect(!again)
      try await administrators.revoke(
        Grant(role: .auditor), from: nora.id, by: .program(instance.author(boss)))
      #expect(try await roles() == [east])
      try await administrators.revoke(east, from: nora.id, by: .program(instance.author(boss)))
      #expect(try await roles() == [])
      await expect("notFound") {
        try await administrators.revoke(east, from: nora.id, by: .program(instance.author(boss)))
      }
      let rows = try await administrators.history(of: nora.id)
      #expect(
        rows.prefix(3).map(\.action) == [
          .administratorRevoke, .administratorRevoke, .administratorGrant,
        ])
      #expect(
        rows[0].old(.grants) == .list(["support acme-app/\(instance.east.tenant?.text ?? "")"]))
    }
  }

  @Test func `removing an administrator ends the sessions and revokes all access`() async throws {
    try await withInstance { instance in
      let (boss, nora) = try await instance.bossAndNora()
      _ = try await instance.enroll(nora)
      let device = try await instance.enroll(boss)
      let token = try await instance.signIn(device).token.revealedText
      let other = try await instance.administrator("olga", .owner)
      try await instance.identity.administrators.remove(
        boss.id, by: .program(instance.author(other)))
      #expect(try await instance.identity.consoleSessions.find(token: token) == nil)
      await expect("refused") { try await instance.giveConsolePassword(boss) }
      await expect("notFound") { try await instance.identity.administrators.record(boss.id) }
      let row = try #require(
        try await instance.wholeLog().first { $0.action == .administratorRemove })
      #expect(row.old(.email) == .text("boss@example.com") && row.old(.grants) == .list(["owner"]))
    }
  }

  @Test func `only instance owners manage administrators, but not themselves`() async throws {
    try await withInstance { instance in
      let identity = instance.identity
      let nora = try await instance.administrator("nora", .auditor)
      let boss = try await instance.administrator("boss", .owner)
      let others = [
        try await instance.administrator("pia", .policy),
        try await instance.administrator("sam", .support),
        try await instance.administrator("olga", .owner, project: instance.acme.project),
        nora,
      ]
      for administrator in others {
        let author = instance.author(administrator)
        await expect("notAllowed") {
          try await identity.administrators.grant(
            Grant(role: .owner), to: nora.id, by: .program(author))
        }
        await expect("notAllowed") {
          try await identity.administrators.revoke(
            Grant(role: .auditor), from: nora.id, by: .program(author))
        }
        await expect("notAllowed") {
          try await identity.administrators.remove(nora.id, by: .program(author))
        }
        await expect("notAllowed") {
          try await identity.administratorFactors.reset(nora.id, by: .program(author))
        }
        await expect("notAllowed") { try await instance.invite("x@example.com", by: administrator) }
      }
      let author = instance.author(boss)
      await expect("oneself") {
        try await identity.administrators.grant(
          Grant(role: .auditor), to: boss.id, by: .program(author))
      }
      await expect("oneself") {
        try await identity.administrators.revoke(
          Grant(role: .owner), from: boss.id, by: .program(author))
      }
      await expect("oneself") {
        try await identity.administrators.remove(boss.id, by: .program(author))
      }
      await expect("oneself") {
        try await identity.administratorFactors.reset(boss.id, by: .program(author))
      }
      await expect("notAllowed") {
        try await identity.administrators.remove(nora.id, by: .program(Instance.visitor))
      }
    }
  }

  @Test func `the last owner can't be removed, even when two owners remove each other`()
    async throws
  {
    try await withInstance { instance in
      let administrators = instance.identity.administrators
      let one = try await instance.administrator("one", .owner)
      let two = try await instance.administrator("two", .owner)
      _ = try await instance.administrator("three", .owner, project: instance.acme.project)
      let outcomes = try await concurrently(8) { number in
        await outcome {
          let (by, other) = number % 2 == 0 ? (one, two) : (two, one)
          if number < 4 {
            try await administrators.revoke(
              Grant(role: .owner), from: other.id, by: .program(instance.author(by)))
          } else {
            try await administrators.remove(other.id, by: .program(instance.author(by)))
          }
        }
      }
      #expect(outcomes.tally["done", default: 0] >= 1)
      let owners = try await administrators.records().map(\.administrator).filter {
        $0.grants.contains(Grant(role: .owner))
      }
      #expect(owners.count == 1)
      let last = try #require(owners.first)
      let support = Author(actor: .commandLine)
      await expect("lastOwner") { try await administrators.remove(last.id, by: .program(support)) }
      await expect("lastOwner") {
        try await administrators.revoke(Grant(role: .owner), from: last.id, by: .program(support))
      }
      #expect(
        try await administrators.record(last.id).administrator.grants == [Grant(role: .owner)])
    }
  }

  @Test func `a role requires an existing project and tenant`() async throws {
    try await withInstance { instance in
      let (boss, nora) = try await instance.bossAndNora()
      let acme = instance.acme.project
      for grant in [
        Grant(role: .owner, project: ID("nowhere")), Grant(role: .owner, project: ID("")),
        Grant(role: .owner, project: acme, tenant: ID("nowhere")),
        Grant(role: .owner, project: instance.globex.project, tenant: instance.east.tenant),
      ] {
        await expect("poolNotFound") {
          try await instance.identity.administrators.grant(
            grant, to: nora.id, by: .program(instance.author(boss)))
        }
        await expect("poolNotFound") {
          try await instance.invite("n@example.com", grant, by: boss)
        }
      }
    }
  }
}
