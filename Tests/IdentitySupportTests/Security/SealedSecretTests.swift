import Crypto
import Database
import Identity
import OTP
import Testing

@testable import TestIdentity

struct SealedSecretTests {
  /// Replaces the sealed secret of Alice's authenticator app with Mallory's.
  private func swap(_ instance: Instance, _ mallory: Device, _ alice: Device) async throws {
    try await instance.database.write { connection in
      let moved = try connection.run(
        """
        UPDATE /* test */ factor SET last_step = NULL, sealed_secret =
          (SELECT sealed_secret FROM factor WHERE enrollment_id = \(mallory.factor))
        WHERE enrollment_id = \(alice.factor)
        """)
      guard moved == 1 else { throw Unexpected("nothing was moved") }
    }
  }

  @Test func `K1: a sealed secret moved to another account can't be opened`() async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let mallory = try await instance.enrolled(.mallory)
      try await swap(instance, mallory, alice)
      let pending = try await instance.pending(.alice)
      for device in [mallory, alice] {
        let code = try device.code(at: instance.now)
        await expect("unavailable") {
          try await instance.finalize(alice, pending, code: code)
        }
      }
      let account = try await instance.reload(alice.account)
      #expect(try await instance.identity.sessions.count(account) == 2)
    }
  }

  @Test func `K1: a sealed secret under another enrollment ID can't be opened`() async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let other = ID<Factor>("00000000-0000-4000-8000-000000000000")
      try await instance.database.write { connection in
        _ = try connection.run(
          """
          UPDATE /* test */ factor SET enrollment_id = \(other)
          WHERE enrollment_id = \(alice.factor)
          """)
      }
      let pending = try await instance.pending(.alice)
      let code = try alice.code(at: instance.now)
      await expect("unavailable") {
        try await instance.identity.signIns.finalize(
          project: instance.acme.project, tenant: nil, pendingCredential: pending,
          enrollment: other.text, code: TypedCode(code))
      }
    }
  }

  @Test func `a factor row moved to another account can't be opened`() async throws {
    try await withInstance { instance in
      let alice = try await instance.account(.alice)
      let mallory = try await instance.enrolled(.mallory)
      let key = alice.id.text
      try await instance.database.write { connection in
        try connection.run(
          """
          UPDATE /* test */ factor
          SET account_key = (SELECT account_key FROM account WHERE uid = \(key))
          """)
        try connection.run(
          "UPDATE /* test */ account SET has_totp = CASE WHEN uid = \(key) THEN 1 ELSE 0 END")
      }
      let pending = try await instance.pending(.alice)
      let code = try mallory.code(at: instance.now)
      await expect("unavailable") { try await instance.finalize(mallory, pending, code: code) }
    }
  }

  @Test(arguments: ["tenant", "project"])
  func `K1: a sealed secret moved to another pool can't be opened, even with equal IDs`(
    what: String
  )
    async throws
  {
    try await withInstance { instance in
      let other = what == "tenant" ? instance.east : instance.globex
      var new = NewAccount()
      (new.localID, new.email) = ("same", Person.alice.email)
      (new.password, new.emailVerified) = (Person.alice.password, true)
      for pool in [instance.acme, other] {
        _ = try await instance.identity.accounts.create(pool, new, by: .program(Instance.boss))
      }
      let device = try await instance.enroll(try await instance.session(.alice).session)
      instance.clock.advance(30)
      let key = other.key
      try await instance.database.write { connection in
        try connection.run(
          """
          INSERT INTO factor (account_key, position, enrollment_id, kind, enrolled_at, sealed_secret)
          SELECT /* test */ a.account_key, 1, f.enrollment_id, f.kind, 0, f.sealed_secret
          FROM factor f, account a WHERE a.scope_key = \(key)
          """)
        try connection.run(
          "UPDATE /* test */ account SET has_totp = 1 WHERE scope_key = \(key)")
        _ = try connection.run(
          "UPDATE /* test */ scope SET enrolled_users = 1, totp_users = 1 WHERE scope_key = \(key)")
      }
      let pending = try await instance.pending(.alice, in: other)
      let code = try device.code(at: instance.now)
      await expect("unavailable") {
        try await instance.finalize(device, pending, code: code, in: other)
      }
    }
  }

  @Test func `K1: a sealed secret with any changed byte can't be opened`() async throws {
    try await withInstance { instance in
      let alice = try await instance.enrolled(.alice)
      let sealed = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ sealed_secret FROM factor") {
          try $0.next() as [UInt8]
        }
      }
      let box = try #require(sealed)
      #expect(box.count == 53)
      let pending = try await instance.pending(.alice)
      let code = try alice.code(at: instance.now)
      for index in box.indices {
        var forged = box
        forged[index] ^= 0x80
        let bytes = forged
        try await instance.database.write { connection in
          _ = try connection.run("UPDATE /* test */ factor SET sealed_secret = \(bytes)")
        }
        await expect("unavailable") { try await instance.finalize(alice, pending, code: code) }
      }
      try await instance.database.write { connection in
        _ = try connection.run("UPDATE /* test */ factor SET sealed_secret = \(box)")
      }
      _ = try await instance.finalize(alice, pending, code: code)
    }
  }
}
