import Crypto
import Identity
import OTP
import Testing

@testable import TestIdentity

struct PendingCredentialTests {
  @Test func `a pending credential is valid for 300 seconds`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      for (microseconds, expected) in [(300_000_000, "done"), (300_000_001, "pendingExpired")] {
        instance.clock.advance(1_200)
        let pending = try await instance.pending(.alice)
        instance.clock.advance(microseconds: Int64(microseconds))
        let code = try device.code(at: instance.now)
        await expect(expected) { try await instance.finalize(device, pending, code: code) }
      }
    }
  }

  @Test
  func `success uses up a pending credential, before and after purging; a wrong code doesn't`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      let wrong = try device.wrongCode(at: instance.now)
      await expect("invalidCode") { try await instance.finalize(device, pending, code: wrong) }
      let code = try device.code(at: instance.now)
      _ = try await instance.finalize(device, pending, code: code)
      instance.clock.advance(60)
      let next = try device.code(at: instance.now)
      await expect("invalidPendingCredential") {
        try await instance.finalize(device, pending, code: next)
      }
      try await instance.identity.purgeExpired()
      await expect("invalidPendingCredential") {
        try await instance.finalize(device, pending, code: next)
      }
      instance.clock.advance(241)
      try await instance.identity.purgeExpired()
      let later = try device.code(at: instance.now)
      await expect("pendingExpired") { try await instance.finalize(device, pending, code: later) }
    }
  }

  @Test(arguments: ["", "x", "AAAA", String(repeating: "A", count: 5_000)])
  func `a pending credential that wasn't issued here is rejected`(pending: String) async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      await expect("invalidPendingCredential") {
        try await instance.finalize(device, pending, code: "123456")
      }
    }
  }

  @Test func `a pending credential of another instance is rejected`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let other = try instance.identity(keys: KeyRing(random: .system))
      let pending = try other.signIns.pendingCredential(instance.acme, device.account)
      let code = try device.code(at: instance.now)
      await expect("invalidPendingCredential") {
        try await instance.finalize(device, pending, code: code)
      }
    }
  }

  @Test func `a pending credential is bound to its project and tenant`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice, in: instance.east)
      let pending = try await instance.pending(.alice, in: instance.east)
      let code = try device.code(at: instance.now)
      func finalize(_ project: ID<Project>, _ tenant: ID<Tenant>?) async -> String {
        await outcome {
          try await instance.identity.signIns.finalize(
            project: project, tenant: tenant, pendingCredential: pending,
            enrollment: device.factor.text, code: TypedCode(code))
        }
      }
      let acme = instance.acme.project
      #expect(await finalize(instance.globex.project, nil) == "projectMismatch")
      #expect(await finalize(acme, instance.west.tenant) == "tenantMismatch")
      #expect(await finalize(acme, ID("")) == "tenantMismatch")
      // A request without a tenant uses the tenant of the credential.
      #expect(await finalize(acme, nil) == "done")
    }
  }

  @Test func `another user's factor or code is rejected`() async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let mallory = try await instance.enrolled(.mallory)
      let pending = try await instance.pending(.alice)
      let code = try mallory.code(at: instance.now)
      await expect("invalidEnrollment") {
        try await instance.finalize(mallory, pending, code: code)
      }
      await expect("invalidCode") { try await instance.finalize(alice, pending, code: code) }
      let own = try await instance.pending(.mallory)
      let stolen = try alice.code(at: instance.now)
      await expect("invalidEnrollment") {
        try await instance.finalize(alice, own, code: stolen)
      }
    }
  }

  @Test func `revoking sessions invalidates pending credentials, even within one second`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let account = device.account.id
      let first = try await instance.pending(.alice)
      try await instance.identity.sessions.endAll(instance.acme, account, by: Instance.support)
      let second = try await instance.pending(.alice)
      try await instance.identity.sessions.endAll(instance.acme, account, by: Instance.support)
      let third = try await instance.pending(.alice)
      let code = try device.code(at: instance.now)
      for pending in [first, second] {
        await expect("invalidPendingCredential") {
          try await instance.finalize(device, pending, code: code)
        }
      }
      let grant = try await instance.finalize(device, third, code: code)
      _ = try await instance.identity.sessions.check(grant.session)
    }
  }

  @Test func `a user disabled in the meantime isn't signed in`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      var change = AccountChange()
      change.disabled = true
      _ = try await instance.identity.accounts.update(
        instance.acme, device.account.id, change, by: Instance.boss)
      let code = try device.code(at: instance.now)
      await expect("userDisabled") { try await instance.finalize(device, pending, code: code) }
    }
  }

  @Test func `no user of a pool disabled in the meantime is signed in`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      _ = try await instance.identity.pools.update(
        project: instance.acme.project, by: .program(Instance.boss)
      ) {
        $0.disableAuth = true
      }
      let code = try device.code(at: instance.now)
      await expect("poolDisabled") { try await instance.finalize(device, pending, code: code) }
      // Open sessions end as well.
      let closed = try await instance.identity.pools.find(
        project: instance.acme.project, tenant: nil)
      let session = UserSession(
        id: device.session.id, pool: closed, account: device.account.id,
        authTime: device.session.authTime, provider: .password)
      await expect("tokenExpired") { _ = try await instance.identity.sessions.check(session) }
    }
  }

  @Test func `a pending credential reveals nothing of its contents`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let pending = try await instance.pending(.alice)
      let bytes = try #require(Base64URL.decode(pending))
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(!text.contains("password"))
      #expect(!text.contains(device.account.id.text))
      #expect(try await instance.pending(.alice) != pending)
    }
  }
}
