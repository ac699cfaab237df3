import Crypto
import Identity
import Testing

@testable import TestIdentity

struct AdministratorTests {
  private func create(
    _ instance: Instance, email: String = "dora@example.com", name: String = "Dora",
    password: String = "a long pass phrase", grant: Grant = Grant(role: .support)
  ) async throws -> Administrator {
    try await instance.identity.administrators.create(
      email: email, displayName: name, password: Secret(password), grant: grant,
      by: Author(actor: .commandLine))
  }

  @Test func `an administrator is created with a grant, which is audited`() async throws {
    try await withInstance { instance in
      let acme = instance.acme.project
      let grant = Grant(role: .support, project: acme, tenant: instance.east.tenant)
      let dora = try await create(instance, grant: grant)
      #expect(dora.grants == [grant])
      let list = try await instance.identity.administrators.records().map(\.administrator)
      #expect(list.map(\.id) == [dora.id])
      #expect(list.map(\.grants) == [[grant]])
      let row = try #require(try await instance.wholeLog().first)
      #expect((row.action, row.objectID) == (.administratorCreate, dora.id.text))
      #expect(row.fields == [.email, .grants] && row.new(.email) == .text("dora@example.com"))
      #expect((row.actorKind, row.actorName) == ("command line", "command line"))
    }
  }

  @Test(
    arguments: [
      ("x", "Dora", "a long pass phrase", "invalidEmail"),
      ("d@e", " ", "a long pass phrase", "invalidName"),
      ("d@e", "Dora", "elevenchars", "weakPassword"),
      ("dora@example.com", "Dora", "DORA@example.com", "weakPassword"),
      ("d@e", "Dora", String(repeating: "x", count: 4_097), "weakPassword"),
    ])
  func `invalid fields are rejected`(
    email: String, name: String, password: String, expected: String
  ) async throws {
    try await withInstance { instance in
      await expect(expected) {
        try await create(instance, email: email, name: name, password: password)
      }
      let administrators = try await instance.identity.administrators.records().map(\.administrator)
      #expect(administrators.isEmpty)
    }
  }

  @Test func `an email belongs to one administrator, also with concurrent requests`() async throws {
    try await withInstance { instance in
      let outcomes = try await concurrently(8) { number in
        await outcome {
          try await create(
            instance, email: number % 2 == 0 ? "Dora@example.com" : "dora@EXAMPLE.com")
        }
      }
      #expect(outcomes.tally == ["done": 1, "emailTaken": 7])
      #expect(try await instance.identity.administrators.records().count == 1)
    }
  }

  @Test func `a grant requires an existing project and tenant`() async throws {
    try await withInstance { instance in
      let acme = instance.acme.project
      for grant in [
        Grant(role: .owner, project: ID("nowhere")), Grant(role: .owner, project: ID("")),
        Grant(role: .owner, project: acme, tenant: ID("nowhere")),
        Grant(role: .owner, project: acme, tenant: ID("")),
        Grant(role: .owner, project: instance.globex.project, tenant: instance.east.tenant),
      ] {
        await expect(grant.tenant == nil ? "projectNotFound" : "tenantNotFound") {
          try await create(instance, grant: grant)
        }
      }
      let administrators = try await instance.identity.administrators.records().map(\.administrator)
      #expect(administrators.isEmpty)
    }
  }

  @Test func `a record has the last use of the console, also after the last sign-in`() async throws
  {
    try await withInstance { instance in
      let nora = try await instance.administrator("nora", .auditor)
      let administrators = instance.identity.administrators
      #expect(try await administrators.record(nora.id).lastUsedAt == nil)
      let new = try await instance.giveConsolePassword(nora).session
      let signedInAt = instance.now
      #expect(try await administrators.record(nora.id).lastUsedAt == signedInAt)
      instance.clock.advance(300)
      _ = try await instance.identity.consoleSessions.find(token: new.token.revealedText)
      let record = try #require(try await administrators.records().first)
      #expect(record.lastUsedAt == instance.now && record.lastSignInAt == signedInAt)
    }
  }
}
