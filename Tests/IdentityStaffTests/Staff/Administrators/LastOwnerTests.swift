import Crypto
import TestAuthenticator
import Testing

@testable import Identity
@testable import TestIdentity

/// Changes to how an owner signs in, after which no owner could.
struct LastOwnerTests {
  private static let owner = Grant(role: .owner)

  @Test func `the last owner keeps the passkey without which they couldn't sign in`() async throws {
    try await withInstance { instance in
      let (olga, authenticator) = try await instance.passkeyOwner("olga")
      let first = try await instance.signIn(authenticator)
      let (passkeys, author) = (instance.identity.passkeys, instance.author(olga))
      let passkey = try #require(try await passkeys.list(of: olga.id).first)
      let session = try await instance.addApp(in: first).session
      try await instance.removePassword(of: olga)
      let error = try await thrown(PasskeyError.self) {
        try await passkeys.remove(passkey.id, in: session, by: author)
      }
      guard case .mandatory(.lastOwner) = error else {
        throw Unexpected("\(String(describing: error))")
      }
      #expect(try await passkeys.list(of: olga.id).map(\.id) == [passkey.id])
      _ = try await instance.administrator("boss", .owner)
      try await passkeys.remove(passkey.id, in: session, by: author)
    }
  }

  @Test func `an owner whose role ends doesn't reset the passkey of the last one without an end`()
    async throws
  {
    try await withInstance { instance in
      let (olga, _) = try await instance.passkeyOwner("olga")
      try await instance.removePassword(of: olga)
      let nora = try await instance.administrator("nora", .auditor)
      try await instance.identity.administrators.grant(
        Self.owner, until: instance.now.advanced(bySeconds: 60), to: nora.id,
        by: .program(instance.author(olga)))
      let factors = instance.identity.administratorFactors
      for author in [instance.author(nora), Author(actor: .commandLine)] {
        await expect("lastOwner") { try await factors.reset(olga.id, by: .program(author)) }
      }
      #expect(try await instance.identity.passkeys.list(of: olga.id).count == 1)
      try await instance.identity.ownAccount.resetPassword(
        of: olga, new: Instance.consolePassword, by: Author(actor: .commandLine))
      try await factors.reset(olga.id, by: .program(instance.author(nora)))
      #expect(try await instance.identity.passkeys.list(of: olga.id).isEmpty)
    }
  }

  @Test func `other roles can be revoked while no owner can sign in`() async throws {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let nora = try await instance.administrator("nora", .support)
      let device = try await instance.enroll(try await instance.administrator("dora", .support))
      try await instance.removePassword(of: olga)
      let (administrators, line) = (instance.identity.administrators, Author(actor: .commandLine))
      try await administrators.revoke(Grant(role: .support), from: nora.id, by: .program(line))
      #expect(try await administrators.record(nora.id).administrator.grants.isEmpty)
      try await instance.identity.administratorFactors.reset(
        device.administrator.id, by: .program(line))
      try await administrators.remove(device.administrator.id, by: .program(line))
      await expect("lastOwner") {
        try await administrators.revoke(Self.owner, from: olga.id, by: .program(line))
      }
    }
  }

  @Test func `a role that ends can be extended, and its end removed, while no owner can sign in`()
    async throws
  {
    try await withInstance { instance in
      let olga = try await instance.administrator("olga", .owner)
      let nora = try await instance.administrator("nora", .auditor)
      let (administrators, line) = (instance.identity.administrators, Author(actor: .commandLine))
      let end = instance.now.advanced(bySeconds: 60)
      try await administrators.grant(Self.owner, until: end, to: nora.id, by: .program(line))
      try await instance.removePassword(of: olga)
      let later = end.advanced(bySeconds: 60)
      try await administrators.grant(Self.owner, until: later, to: nora.id, by: .program(line))
      #expect(try await administrators.record(nora.id).grantEnds[Self.owner] == later)
      try await administrators.grant(Self.owner, to: nora.id, by: .program(line))
      #expect(try await administrators.record(nora.id).grantEnds.isEmpty)
    }
  }
}
