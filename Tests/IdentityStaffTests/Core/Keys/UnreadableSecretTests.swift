import Crypto
import Database
@testable import Identity
import OTP
import Testing

@testable import TestIdentity

/// What no key decrypts.
private let damaged = [UInt8](repeating: 0, count: 61)

/// Stored secrets that can't be opened anymore.
struct UnreadableSecretTests {
  private func alerts(
    _ instance: Instance, _ administrator: Administrator, in pool: Pool? = nil
  ) async throws -> [UnreadableSecrets.Group] {
    try await instance.identity.unreadableSecrets.groups(visibleTo: administrator, in: pool)
  }

  private func rows(_ instance: Instance) async throws -> [AuditRow] {
    try await instance.wholeLog().filter { $0.action == .secretUnreadable }
  }

  private func owner(_ project: ID<Project>?) -> Administrator {
    Administrator(
      id: ID("x"), email: "x@example.com", displayName: "x",
      grants: [Grant(role: .owner, project: project)])
  }

  @Test func `a changed secret of a user is reported once, to owners`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let factor = device.factor.text
      try await instance.database.write { connection in
        _ = try connection.run(
          """
          UPDATE /* test */ factor SET sealed_secret = \(damaged) WHERE enrollment_id = \(factor)
          """)
      }
      for _ in 0..<3 {
        let pending = try await instance.pending(.alice)
        await expect("unavailable") { try await instance.finalize(device, pending, code: "123456") }
      }
      let row = try #require(try await rows(instance).first)
      #expect(try await rows(instance).count == 1)
      #expect((row.objectKind, row.objectID) == ("account", device.account.id.text))
      #expect(row.project == instance.acme.project && row.actorKind == "server")
      #expect(row.new(.secretKind) == .code("user-totp") && row.new(.secretPart) == .text(factor))
      #expect(row.new(.failure) == .code("changed"))
      let group = UnreadableSecrets.Group(
        kind: .userTOTP, project: instance.acme.project, tenant: nil, count: 1)
      for project in [nil, instance.acme.project] {
        #expect(try await alerts(instance, owner(project)) == [group])
        #expect(try await alerts(instance, owner(project), in: instance.acme) == [group])
        #expect(try await alerts(instance, owner(project), in: instance.east).isEmpty)
      }
      #expect(try await alerts(instance, owner(instance.globex.project)).isEmpty)
      let agent = Administrator(
        id: ID("y"), email: "y@example.com", displayName: "y", grants: [Grant(role: .support)])
      #expect(try await alerts(instance, agent).isEmpty)
      // The alert ends after a week without another failure; the next failure is reported again.
      instance.clock.advance(7 * 86_400 + 1)
      try await instance.identity.purgeExpired()
      #expect(try await alerts(instance, owner(nil)).isEmpty)
      let pending = try await instance.pending(.alice)
      await expect("unavailable") { try await instance.finalize(device, pending, code: "123456") }
      #expect(try await rows(instance).count == 2)
    }
  }

  @Test func `a changed secret of an administrator is reported to instance owners`() async throws {
    try await withInstance { instance in
      let olga = try await instance.enroll(try await instance.administrator("olga", .owner))
      let id = olga.administrator.id.text
      try await instance.database.write { connection in
        _ = try connection.run(
          """
          UPDATE /* test */ administrator SET totp_secret = \(damaged)
          WHERE administrator_id = \(id)
          """)
      }
      await expect("unavailable") { try await instance.signIn(olga, code: "123456") }
      await expect("unavailable") { try await instance.signIn(olga, code: "123456") }
      #expect(try await rows(instance).map(\.objectID) == [id])
      #expect(try await alerts(instance, owner(nil)).map(\.kind) == [.administratorTOTP])
      #expect(try await alerts(instance, owner(instance.acme.project)).isEmpty)
    }
  }

  @Test func `a missing master key is reported if it stays missing`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let other = try instance.identity(keys: KeyRing(random: .system))
      let pool = instance.acme
      func enterCode() async throws {
        guard
          case .secondFactorDue(_, let pending, _) = try await other.signIns.password(
            pool, email: Person.alice.email, password: Person.alice.password, address: "a")
        else { throw Unexpected("no second factor") }
        await expect("unavailable") {
          try await other.signIns.finalize(
            project: pool.project, tenant: nil, pendingCredential: pending,
            enrollment: device.factor.text, code: "123456")
        }
      }
      try await enterCode()
      instance.clock.advance(119)
      try await enterCode()
      #expect(try await rows(instance).isEmpty)
      #expect(try await alerts(instance, owner(nil)).isEmpty)
      instance.clock.advance(1)
      try await enterCode()
      try await enterCode()
      let row = try #require(try await rows(instance).first)
      #expect(try await rows(instance).count == 1)
      #expect(row.new(.failure) == .code("unknown-key") && row.new(.masterKey) != nil)
      #expect(try await alerts(instance, owner(nil)).count == 1)
    }
  }

  @Test func `a changed signing key is reported`() async throws {
    try await withInstance { instance in
      try await instance.database.write { connection in
        _ = try connection.run("UPDATE /* test */ signing_key SET sealed_key = \(damaged)")
      }
      let fresh = try instance.identity()
      await expect("unavailable") { try await fresh.signingKeys.prepare() }
      #expect(try await rows(instance).map(\.objectKind) == ["signing key"])
      #expect(try await alerts(instance, owner(nil)).map(\.kind) == [.signingKey])
    }
  }

  @Test func `a changed client secret is reported in the provider's pool`() async throws {
    try await withInstance { instance in
      try await instance.configureProvider()
      try await Self.Sealed.clientSecret.change(instance)
      await expect("unavailable") {
        try await instance.identity.identityProviders.find(instance.acme, "oidc.acme")
      }
      let row = try #require(try await rows(instance).first)
      #expect((row.objectKind, row.objectID) == ("provider", "oidc.acme"))
      #expect(
        row.project == instance.acme.project && row.new(.secretKind) == .code("client-secret"))
      let groups = try await alerts(instance, owner(nil), in: instance.acme)
      #expect(groups.map(\.kind) == [.clientSecret])
      #expect(try await alerts(instance, owner(instance.globex.project)).isEmpty)
    }
  }

  @Test func `a changed secret of a user's backup codes is reported`() async throws {
    try await withInstance { instance in
      try await instance.allowBackupCodes()
      let device = try await instance.enrolled(.alice)
      let code = try await instance.temporaryCode(device.account)
      try await Self.Sealed.userCodes.change(instance)
      await expect("unavailable") { try await instance.signIn(.alice, device, code: code) }
      let row = try #require(try await rows(instance).first)
      #expect((row.objectKind, row.objectID) == ("account", device.account.id.text))
      #expect(
        row.new(.secretKind) == .code("user-codes") && row.new(.secretPart) == .text("temporary"))
      #expect(try await alerts(instance, owner(nil)).map(\.kind) == [.userCodes])
    }
  }

  @Test func `a changed email is reported when it's due, and the others are sent`() async throws {
    try await withInstance { instance in
      try await instance.write(.mail)
      try await Self.Sealed.message.change(instance)
      try await instance.write(.mail)
      #expect(try await instance.claim()?.subject == "Subject – ✓")
      let row = try #require(try await rows(instance).first)
      #expect(try await rows(instance).count == 1)
      #expect(row.objectKind == "message" && row.project == instance.acme.project)
      #expect(row.new(.failure) == .code("changed"))
      #expect(try await alerts(instance, owner(nil)).map(\.kind) == [.message])
    }
  }

  @Test func `an email under a missing master key is reported if the key stays missing`()
    async throws
  {
    try await withInstance { instance in
      try await instance.write(.mail)
      let other = try instance.identity(keys: KeyRing(random: .system))
      #expect(try await other.deliveries.claim() == nil)
      #expect(try await rows(instance).isEmpty)
      instance.clock.advance(Deliveries.lease)
      #expect(try await other.deliveries.claim() == nil)
      #expect(try await rows(instance).count == 1)
      // It can still be sent with the key.
      instance.clock.advance(Deliveries.lease)
      #expect(try await instance.claim() != nil)
    }
  }

  /// Secrets that a rotation of the master key reseals.
  enum Sealed: CaseIterable, Sendable {
    case clientSecret, userCodes, message

    func change(_ instance: Instance) async throws {
      let kind = self
      try await instance.database.write { connection in
        switch kind {
        case .clientSecret:
          try connection.run(
            "UPDATE /* test */ identity_provider SET sealed_secret = \(damaged)")
        case .userCodes:
          try connection.run("UPDATE /* test */ backup_code_set SET sealed_key = \(damaged)")
        case .message:
          try connection.run("UPDATE /* test */ outbox SET sealed_text = \(damaged)")
        }
      }
    }

    var groupKind: UnreadableSecrets.Group.Kind {
      switch self {
      case .clientSecret: .clientSecret
      case .userCodes: .userCodes
      case .message: .message
      }
    }
  }

  @Test(arguments: Sealed.allCases)
  func `a secret that a master key rotation can't open is reported`(_ sealed: Sealed) async throws {
    try await withInstance { instance in
      switch sealed {
      case .clientSecret: try await instance.configureProvider()
      case .userCodes:
        try await instance.allowBackupCodes()
        let device = try await instance.enrolled(.alice)
        _ = try await instance.temporaryCode(device.account)
      case .message: try await instance.write(.mail)
      }
      try await sealed.change(instance)
      let ring = try KeyRing(text: instance.keys.text.revealedText)
      let identity = try instance.identity(keys: ring)
      try await identity.prepare()
      ring.adopt(ring.rotated(random: .system))
      try await identity.masterKeys.begin(by: Instance.boss)
      await expect("unavailable") {
        while case .part = try await identity.masterKeys.step() {}
      }
      let row = try #require(try await rows(instance).first)
      #expect(row.project == instance.acme.project)
      #expect(try await alerts(instance, owner(nil)).map(\.kind) == [sealed.groupKind])
    }
  }
}
