import Crypto
import Database
import Identity
import Testing

@testable import TestIdentity

@Suite struct TOTPImportTests {
  private func row(id: String? = "app-1") -> ImportRow {
    ImportRow.user(.alice) {
      $0.password = .plain(Person.alice.password)
      var factor = ImportedFactor(.totp(ImportedFactor.secret), id: id)
      factor.displayName = "Authenticator"
      factor.enrolledAt = Instant(milliseconds: 1_650_000_000_123)
      $0.factors = [factor]
    }
  }

  private func allow(_ instance: Instance, _ on: Bool = true) async throws {
    _ = try await instance.identity.pools.update(
      project: instance.acme.project, by: .program(Instance.boss)
    ) {
      $0.project?.importsTOTP = on
    }
  }

  @Test func `TOTP secrets are imported only if the project allows it, which is audited`()
    async throws
  {
    try await withInstance { instance in
      func run(_ pool: Pool) async throws -> [String] {
        try await instance.identity.imports.run(
          pool, [row()], .factorless, by: Instance.boss
        ).refusals.map { "\($0.fault)" }
      }
      #expect(try await run(instance.acme) == ["totpImportOff"])
      try await allow(instance)
      let log = try #require(try await instance.wholeLog().first)
      #expect(log.new(.importsTOTP) == .flag(true) && log.action == .projectChange)
      #expect(try await run(instance.acme) == [])
      #expect(
        try await run(instance.east) == [], "the project's setting also applies to its tenants")
      #expect(try await run(instance.globex) == ["totpImportOff"])
      try await allow(instance, false)
      #expect(try await run(instance.west) == ["totpImportOff"])
    }
  }

  @Test func `an imported authenticator app signs in and keeps its enrollment time`() async throws {
    try await withInstance { instance in
      try await allow(instance)
      try await instance.setWindow(1)
      _ = try await instance.identity.imports.run(
        instance.acme, [row()], .factorless, by: Instance.boss)
      let account = try #require(
        try await instance.identity.accounts.find(instance.acme, ID("uid-alice")))
      let factor = try #require(account.factors.first)
      #expect(factor.id.text == "app-1" && factor.displayName == "Authenticator")
      #expect(factor.enrolledAt == Instant(milliseconds: 1_650_000_000_123))
      #expect(factor.lastUsedAt == nil)
      let device = Device(
        account: account, factor: factor.id, secret: ImportedFactor.secret,
        session: UserSession(
          pool: instance.acme, account: account.id, authTime: instance.now.seconds,
          provider: .password))
      // The first code, at the far end of the window: no time step is used yet.
      let code = try device.code(at: instance.now, steps: -1)
      _ = try await instance.finalize(device, try await instance.pending(.alice), code: code)
      let again = try await instance.pending(.alice)
      await expect("invalidCode") { try await instance.finalize(device, again, code: code) }
    }
  }

  @Test(arguments: [nil, "app-2"] as [String?])
  func `a secret that's imported again has the same used codes`(_ id: String?) async throws {
    try await withInstance { instance in
      try await allow(instance)
      try await instance.setWindow(1)
      let replace = ImportOptions(existing: .replace)
      _ = try await instance.identity.imports.run(
        instance.acme, [row(id: nil)], replace, by: Instance.boss)
      func device() async throws -> Device {
        let account = try #require(
          try await instance.identity.accounts.find(instance.acme, ID("uid-alice")))
        return Device(
          account: account, factor: try #require(account.factors.first).id,
          secret: ImportedFactor.secret,
          session: UserSession(
            pool: instance.acme, account: account.id, authTime: instance.now.seconds,
            provider: .password))
      }
      let first = try await device()
      let code = try first.code(at: instance.now)
      _ = try await instance.finalize(first, try await instance.pending(.alice), code: code)
      let mails = try await instance.messages().filter { $0.contains("factors") }
      _ = try await instance.identity.imports.run(
        instance.acme, [row(id: id)], replace, by: Instance.boss)
      let second = try await device()
      #expect(second.factor.text == id ?? first.factor.text)
      #expect(second.account.factors.map { $0.lastUsedAt == nil } == [false])
      let again = try await instance.pending(.alice)
      await expect("invalidCode") { try await instance.finalize(second, again, code: code) }
      instance.clock.advance(30)
      let next = try second.code(at: instance.now)
      _ = try await instance.finalize(second, try await instance.pending(.alice), code: next)
      // Nothing changed for the user unless the file named another factor.
      let all = try await instance.messages().filter { $0.contains("factors") }
      #expect((all == mails) == (id == nil))
    }
  }

  @Test func `an imported secret is stored sealed`() async throws {
    try await withInstance { instance in
      try await allow(instance)
      _ = try await instance.identity.imports.run(
        instance.acme, [row()], .factorless, by: Instance.boss)
      let sealed = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ sealed_secret FROM factor") {
          try $0.next() as [UInt8]
        }
      }
      let bytes = try #require(sealed)
      let text = String(decoding: bytes, as: UTF8.self)
      #expect(bytes.count > 40 && !text.contains("1234567890"))
    }
  }

  @Test func `a replaced authenticator app is a new factor`() async throws {
    try await withInstance { instance in
      try await allow(instance)
      let device = try await instance.enrolled(.alice)
      let outcome = try await instance.identity.imports.run(
        instance.acme,
        [
          row(id: nil).map {
            var user = $0
            user.localID = device.account.id.text
            return user
          }
        ], ImportOptions(existing: .replace), by: Instance.boss)
      #expect(outcome.replaced == 1)
      let account = try #require(
        try await instance.identity.accounts.find(instance.acme, device.account.id))
      #expect(account.factors.count == 1 && account.factors[0].id != device.factor)
    }
  }
}
