import Crypto
import Database
import Testing

@testable import Identity
@testable import TestIdentity

/// Digests of the secrets of users, by which equal ones are found.
struct SecretDigestTests {
  private func shared(_ instance: Instance, _ identity: Identity? = nil) async throws -> [String] {
    let reports = (identity ?? instance.identity).reports
    return try await reports.factors(in: instance.acme, .sharedSecret).items.map(\.account.text)
  }

  private func digests(_ instance: Instance) async throws -> [[UInt8]?] {
    try await instance.database.read { connection in
      try connection.all("SELECT /* test */ secret_digest FROM factor ORDER BY account_key") {
        try $0.next() as [UInt8]?
      }
    }
  }

  /// Does what nodes of the previous version do, which insert factors without a digest.
  private func forget(_ instance: Instance) async throws {
    try await instance.database.write { connection in
      _ = try connection.run("UPDATE /* test */ factor SET secret_digest = NULL")
    }
  }

  @Test func `secrets without a digest get the same one as when they're stored`() async throws {
    try await withInstance { instance in
      let secret = ImportedFactor.secret
      try await instance.importApps([(.alice, secret), (.bob, secret)])
      try await instance.importApps([(.alice, secret)], in: instance.east)
      let before = try await digests(instance)
      try await forget(instance)
      #expect(try await shared(instance) == [])
      try await instance.identity.purgeExpired()
      #expect(try await digests(instance) == before)
      #expect(try await shared(instance) == ["uid-alice", "uid-bob"])
      #expect(Set(before).count == 2 && !before.contains(nil), "pools have separate digests")
    }
  }

  @Test func `secrets that can't be opened aren't tried again, and are equal to no others`()
    async throws
  {
    try await withInstance { instance in
      let secret = ImportedFactor.secret
      try await instance.importApps([(.alice, secret), (.bob, secret)])
      try await forget(instance)
      let damaged = [UInt8](repeating: 0, count: 61)
      try await instance.database.write { connection in
        _ = try connection.run("UPDATE /* test */ factor SET sealed_secret = \(damaged)")
      }
      try await instance.identity.purgeExpired()
      let digests = try await digests(instance)
      #expect(Set(digests).count == 2 && !digests.contains(nil))
      #expect(try await shared(instance) == [])
    }
  }

  @Test func `equal secrets are found after the master key was rotated, also new ones`()
    async throws
  {
    try await withInstance { instance in
      let secret = ImportedFactor.secret
      try await instance.importApps([(.alice, secret), (.bob, secret)])
      let former = try await digests(instance)
      let (identity, ring) = try await instance.rotateMasterKey()
      try await instance.importApps([(.mallory, secret)], by: identity)
      #expect(try await shared(instance, identity) == ["uid-alice", "uid-bob", "uid-mallory"])
      let digests = try await digests(instance)
      #expect(Set(digests).isDisjoint(with: former))
      instance.keys.adopt(ring)
    }
  }
}
