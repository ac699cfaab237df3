import Crypto
import Database
import OTP
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

/// Rotation of the master key, which seals all stored secrets.
struct MasterKeyTests {
  /// Returns a separate ring with the keys of the instance, as read by another process.
  private func ring(_ instance: Instance) throws -> KeyRing {
    try KeyRing(text: instance.keys.text.revealedText)
  }

  /// Returns the IDs of all keys that seal stored secrets.
  private func sealing(_ instance: Instance) async throws -> Set<String> {
    try await instance.database.read { connection in
      let boxes = try connection.all(
        """
        SELECT /* test */ sealed_secret FROM factor WHERE sealed_secret IS NOT NULL
        UNION ALL SELECT sealed_secret FROM removed_factor WHERE sealed_secret IS NOT NULL
        UNION ALL SELECT totp_secret FROM administrator WHERE totp_secret IS NOT NULL
        UNION ALL SELECT sealed_key FROM signing_key
        UNION ALL SELECT sealed_key FROM evidence_key
        UNION ALL SELECT sealed_text FROM outbox WHERE sealed_text IS NOT NULL
        UNION ALL SELECT sealed_key FROM backup_code_set
        UNION ALL SELECT sealed_secret FROM identity_provider WHERE sealed_secret IS NOT NULL
        """
      ) { try $0.next() as [UInt8] }
      return Set(boxes.map { Hex.encode(Array($0[1..<5])) })
    }
  }

  /// Runs steps until there is nothing to do for now; returns the last step.
  private func finish(_ keys: MasterKeys) async throws -> MasterKeys.Step {
    while true {
      let step = try await keys.step()
      guard case .part = step else { return step }
    }
  }

  @Test func `K1: rotation reseals everything and drops the former key once it's unused`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      _ = try await instance.enrolled(.bob, in: instance.east)
      _ = try await instance.enroll(try await instance.administrator("nora", .owner))
      // Email notifications are sealed too.
      let carol = try await instance.enrolled(.mallory)
      _ = try await instance.identity.enrollments.withdraw(
        carol.session, enrollment: carol.factor.text, by: Instance.visitor)
      _ = try await instance.identity.evidenceKeys.current()
      try await instance.configureProvider()
      try await instance.configureProvider(in: instance.east)
      let pending = try await instance.pending(.alice)

      let ring = try ring(instance)
      let old = ring.ids[0]
      #expect(try await sealing(instance) == [old])
      let identity = try instance.identity(keys: ring)
      try await identity.prepare()
      #expect(try await identity.masterKeys.step() == .settled)

      ring.adopt(ring.rotated(random: .system))
      try await identity.masterKeys.begin(by: Instance.boss)
      let until = instance.now.advanced(bySeconds: 3_600)
      let step = try await finish(identity.masterKeys)
      #expect(step == .waiting(until))
      #expect(try await sealing(instance) == [ring.ids[0]])
      await expect("unavailable") { try await identity.masterKeys.drop() }

      // A client's pending credential can still be opened, and its code is accepted.
      let code = try device.code(at: instance.now)
      _ = try await identity.signIns.finalizeTOTP(pending, device, code)

      instance.clock.advance(3_600)
      let last = try await finish(identity.masterKeys)
      #expect(last == .droppable)
      try await identity.masterKeys.drop()
      ring.adopt(ring.newestAlone())
      #expect(try await identity.masterKeys.step() == .settled)

      // Startup succeeds with the new key alone and fails with the old one.
      let again = try instance.identity(keys: ring)
      try await again.prepare()
      _ = try again.signingKeys.currentID()
      let former = try instance.identity()
      let error = try await thrown(StartError.self) { try await former.prepare() }
      guard case .wrongKey = error else {
        Issue.record("startup with the former key alone: \(String(describing: error))")
        return
      }
      let rows = try await instance.wholeLog().prefix(3).map(\.action)
      #expect(rows == [.masterKeyDrop, .masterKeyReseal, .masterKeyRotate])
      instance.keys.adopt(ring)
    }
  }

  @Test func `another process continues a rotation that was interrupted`() async throws {
    try await withInstance { instance in
      for number in 0..<450 {
        let box = try Sealer(
          instance.keys, purpose: "outbox", random: .system
        ).seal(Array("a\nb".utf8), with: Array("\(number) a@example.com".utf8))
        let key = instance.acme.key
        try await instance.database.write { connection in
          _ = try connection.run(
            """
            INSERT /* test */ INTO outbox (message_id, scope_key, channel, purpose, recipient,
              language, sealed_text, created_at, expires_at)
            VALUES (\(SQL.nextNumber("message_id", of: "outbox")), \(key), 'mail', 'x',
              'a@example.com', 'en', \(box), \(number), 9999999)
            """)
        }
      }
      let ring = try ring(instance)
      ring.adopt(ring.rotated(random: .system))
      let interrupted = try instance.identity(keys: ring)
      try await interrupted.prepare()
      let first = try await interrupted.masterKeys.step()
      guard case .part(let progress) = first else {
        Issue.record("the first step was \(first)")
        return
      }
      #expect(progress.rows == 200)
      #expect(try await sealing(instance).count == 2)

      // Another process reads the same key file.
      let next = try instance.identity(keys: try KeyRing(text: ring.text.revealedText))
      try await next.prepare()
      let seen = try await next.masterKeys.progress()
      #expect(seen.progress == progress && !seen.isDone)
      var steps = 0
      while case .part = try await next.masterKeys.step() { steps += 1 }
      #expect(steps == 2)
      #expect(try await sealing(instance) == [ring.ids[0]])
      let log = try await instance.wholeLog()
      let row = try #require(log.first { $0.action == .masterKeyReseal })
      #expect(row.new(.secrets) == .number(451))
      #expect(row.actorKind == "server")
      instance.keys.adopt(ring)
    }
  }

  @Test func `during a rotation, neither key alone is that of the database`() async throws {
    try await withInstance { instance in
      _ = try await instance.enrolled(.alice)
      let ring = try ring(instance)
      let old = ring.newestAlone()
      ring.adopt(ring.rotated(random: .system))
      try await instance.identity(keys: ring).prepare()
      #expect(try await Identity.isSealed(instance.database, with: ring))
      _ = try await Identity.inspect(instance.database, keys: ring)
      for alone in [old, ring.newestAlone()] {
        #expect(try await !Identity.isSealed(instance.database, with: alone))
        let fault = try await thrown(BackupFault.self) {
          _ = try await Identity.inspect(instance.database, keys: alone)
        }
        guard case .wrongKey? = fault else { throw Unexpected("\(String(describing: fault))") }
        let start = try instance.identity(keys: alone)
        let error = try await thrown(StartError.self) { try await start.prepare() }
        guard case .wrongKey? = error else { throw Unexpected("\(String(describing: error))") }
      }
      await expect("unavailable") {
        try await instance.identity(keys: old).masterKeys.begin(by: Instance.boss)
      }
      #expect(try await instance.identity(keys: ring).masterKeys.step() != .unrecorded)
      instance.keys.adopt(ring)
    }
  }

  @Test func `a key that encrypts, but wasn't recorded, is recorded before anything is resealed`()
    async throws
  {
    try await withInstance { instance in
      let ring = try ring(instance)
      ring.adopt(ring.rotated(random: .system))
      let keys = try instance.identity(keys: ring).masterKeys
      #expect(try await keys.step() == .unrecorded)
      try await keys.begin(by: Author(actor: .commandLine))
      guard case .part = try await keys.step() else {
        Issue.record("nothing was resealed")
        return
      }
      instance.keys.adopt(ring)
    }
  }

  @Test func `a server that learned too late that the first pass is over doesn't begin the second`()
    async throws
  {
    try await withInstance { instance in
      let ring = try ring(instance)
      ring.adopt(ring.rotated(random: .system))
      let identity = try instance.identity(keys: ring)
      // Later than the first key was used.
      instance.clock.advance(60)
      try await identity.prepare()
      let until = instance.now.advanced(bySeconds: MasterKeys.carried)
      #expect(try await finish(identity.masterKeys) == .waiting(until))
      // It read before the end of the first pass that there is more to do.
      #expect(try await identity.masterKeys.pass(ring.ids[0]) == .waiting(until))
      // A process that read the key file earlier.
      _ = try await instance.enrolled(.alice)
      instance.clock.advance(MasterKeys.carried)
      #expect(try await finish(identity.masterKeys) == .droppable)
      #expect(try await sealing(instance) == [ring.ids[0]])
      instance.keys.adopt(ring)
    }
  }

  @Test
  func `secrets sealed with the former key after the first pass are resealed before it's dropped`()
    async throws
  {
    try await withInstance { instance in
      let ring = try ring(instance)
      ring.adopt(ring.rotated(random: .system))
      let identity = try instance.identity(keys: ring)
      try await identity.prepare()
      _ = try await finish(identity.masterKeys)
      // A process that read the key file earlier.
      let device = try await instance.enrolled(.alice)
      #expect(try await sealing(instance).count == 2)
      instance.clock.advance(3_600)
      let end = try await finish(identity.masterKeys)
      #expect(end == .droppable)
      #expect(try await sealing(instance) == [ring.ids[0]])
      try await identity.masterKeys.drop()
      instance.keys.adopt(ring.newestAlone())
      let pending = try await instance.pending(.alice)
      let code = try device.code(at: instance.now)
      _ = try await instance.finalize(device, pending, code: code)
    }
  }

  @Test func `a server without the new key knows it, and reports no damage`()
    async throws
  {
    try await withInstance { instance in
      _ = try await instance.enrolled(.alice)
      try await instance.write(.mail)
      let ring = try ring(instance)
      ring.adopt(ring.rotated(random: .system))
      let identity = try instance.identity(keys: ring)
      try await identity.prepare()
      _ = try await finish(identity.masterKeys)
      #expect(try await identity.masterKeys.lacksNewest() == false)
      // The instance itself is the server without it.
      #expect(try await instance.identity.masterKeys.lacksNewest())
      #expect(try await identity.masterKeys.lacksNewest() == false)
      for _ in 0..<4 {
        #expect(try await instance.claim() == nil)
        instance.clock.advance(Deliveries.lease)
      }
      let unreadable = try await instance.database.read { connection in
        try connection.first("SELECT /* test */ count(*) FROM unreadable_secret") {
          try $0.next() as Int
        }
      }
      #expect(unreadable == 0)
      #expect(try await identity.deliveries.claim() != nil)
    }
  }

  @Test(.enabled(if: !TestDatabase.isSQLite))
  // A file has one server.
  func `a new key encrypts only once every live server has it`() async throws {
    try await withInstance { instance in
      let former = instance.keys.ids[0]
      let ring = try ring(instance)
      let other = try instance.identity(keys: ring)
      #expect(try await instance.identity.nodes.report("a"))
      #expect(try await other.nodes.report("b"))
      let new = ring.rotated(random: .system)
      ring.adopt(new)
      // A server that starts beside others decrypts with the new key.
      try await other.prepare()
      #expect(ring.ids == [former, new.ids[0]])
      #expect(try await other.nodes.report("b"))
      let lacking = [Nodes.Node(place: "a", keys: [former])]
      #expect(try await other.nodes.lacking(new.ids[0]) == lacking)
      ring.adopt(new)
      #expect(try await other.masterKeys.begin(by: Instance.boss) == lacking)
      #expect(try await other.masterKeys.newest() == former)
      instance.keys.adopt(try #require(new.encrypting(with: former)))
      #expect(try await instance.identity.nodes.report("a"))
      #expect(try await other.masterKeys.begin(by: Instance.boss) == [])
      #expect(try await other.masterKeys.newest() == new.ids[0])
      // One that comes back from a pause without the key.
      let late = try instance.identity(
        keys: try #require(
          KeyRing(text: ring.text.revealedText)
            .encrypting(with: former)
        ).newestAlone())
      #expect(try await late.nodes.report("c") == false)
      #expect(try await late.masterKeys.lacksNewest())
      instance.keys.adopt(new)
    }
  }

  @Test(.enabled(if: !TestDatabase.isSQLite))
  // A file has one server.
  func `a new key doesn't wait for servers that stopped`() async throws {
    for isKilled in [false, true] {
      try await withInstance { instance in
        let ring = try ring(instance)
        let other = try instance.identity(keys: ring)
        #expect(try await instance.identity.nodes.report("a"))
        #expect(try await Nodes.count(on: instance.database, at: instance.now) == 1)
        if isKilled {
          instance.clock.advance(Nodes.length)
        } else {
          try await instance.identity.nodes.leave()
        }
        #expect(try await Nodes.count(on: instance.database, at: instance.now) == 0)
        ring.adopt(ring.rotated(random: .system))
        try await other.prepare()
        #expect(try await other.masterKeys.newest() == ring.ids[0])
        instance.keys.adopt(ring)
      }
    }
  }

  @Test func `returning to the former key is an ordinary rotation`() async throws {
    try await withInstance { instance in
      _ = try await instance.enrolled(.alice)
      let ring = try ring(instance)
      let old = instance.keys.ids[0]
      ring.adopt(ring.rotated(random: .system))
      let identity = try instance.identity(keys: ring)
      try await identity.prepare()
      _ = try await finish(identity.masterKeys)
      let lines = ring.text.revealedText.split(separator: "\n").filter { !$0.hasPrefix("#") }
      ring.adopt(try KeyRing(text: lines.reversed().joined(separator: "\n")))
      try await identity.masterKeys.begin(by: Instance.boss)
      #expect(ring.ids[0] == old)
      _ = try await finish(identity.masterKeys)
      #expect(try await sealing(instance) == [old])
    }
  }
}

extension SignIns {
  fileprivate func finalizeTOTP(
    _ pending: String, _ device: Device, _ code: String
  ) async throws -> SessionGrant {
    try await finalize(
      project: device.session.pool.project, tenant: nil, pendingCredential: pending,
      enrollment: device.factor.text, code: TypedCode(code))
  }
}
