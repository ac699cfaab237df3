import Crypto
import Database
import Foundation
import IdentityToolkitClient
import JSON
import TestDatabases
import Testing

@testable import Identity
@testable import TestIdentity

@Suite struct ConnectionTests {
  @Test func `an owner connects a project, which has no API key and whose token is sealed`()
    async throws
  {
    try await withInstance { instance in
      let (connections, new) = (instance.identity.connections, try await instance.newConnection())
      let owner = try await instance.agent("olga", role: .owner)
      let other = try await instance.agent("pia", role: .policy)
      await expect("notAllowed") {
        try await connections.add(new, by: .console(other.request(nil, note: "Try")))
      }
      await expect("writtenReasonRequired") {
        try await connections.add(new, by: .console(owner.request(nil)))
      }
      let added = try await connections.add(
        new, by: .console(owner.request(nil, note: "They sign in there."))
      ).value
      #expect(added.project == ID("remote-app") && added.state == .working)
      #expect(added.credentialKey == String(HexDigest.of("cst_first").prefix(8)))
      let pool = try await instance.identity.pools.existing(project: added.project)
      #expect(pool.kind == .countersign)
      #expect(try await instance.identity.apiKeys.list(added.project).isEmpty)
      let row = try #require(try await instance.log(pool).first)
      #expect(row.action == .connectionCreate && row.note == "They sign in there.")
      #expect(row.new(.remoteServer) == .text("https://remote.example.com"))
      #expect(row.new(.accessLevel) == .text("read"))
      for text in try await instance.contents()["connection", default: []] {
        #expect(!"\(text)".contains("cst_first"))
      }
      await expect("connected") { try await connections.add(new, by: Instance.program) }
      #expect(try await connections.due().map(\.project) == [added.project])
      #expect(connections.known == [added.project])
    }
  }

  @Test func `a failed check, a taken ID, and the emulator connect nothing`() async throws {
    try await withInstance { instance in
      let connections = instance.identity.connections
      instance.remote.behavior.faults["config"] = .error(403, "nope")
      let failed = try await instance.newConnection()
      #expect(failed.check?.hasPassed == false)
      await expect("unchecked") { try await connections.add(failed, by: Instance.program) }
      instance.remote.behavior.faults = [:]
      var new = try await instance.newConnection()
      new.localID = "acme-app"
      let taken = new
      await expect("projectIDTaken") { try await connections.add(taken, by: Instance.program) }
      new.localID = "No"
      let invalid = new
      await expect("invalidProjectID") { try await connections.add(invalid, by: Instance.program) }
      new.localID = "remote-copy"
      let added = try await connections.add(new, by: Instance.program).value
      #expect(added.project == ID("remote-copy") && added.remote.id == "remote-app")
    }
    try await withEmulator { identity in
      let project = try #require(
        RemoteProject(kind: .countersign, id: "remote-app", url: "https://remote.example.com"))
      let new = try NewConnection(project, Array("cst_x".utf8), .read)
      await expect("emulator") { try await identity.connections.add(new, by: Instance.program) }
    }
  }

  @Test func `a credential is replaced by one for the same project`() async throws {
    try await withInstance { instance in
      let connections = instance.identity.connections
      let pool = try await instance.connect()
      try await instance.sync(pool)
      let new = try await instance.newConnection(access: .read, token: "cst_second")
      let replaced = try await connections.replace(in: pool, by: new, by: Instance.program).value
      #expect(replaced.credentialKey == String(HexDigest.of("cst_second").prefix(8)))
      let row = try #require(try await instance.log(pool).first)
      #expect(row.action == .connectionChange && row.fields == [.keyID])
      #expect(try await instance.sync(pool) == nil)
      instance.remote.behavior.number = 1
      let other = try await instance.newConnection()
      await expect("otherProject") {
        try await connections.replace(in: pool, by: other, by: Instance.program)
      }
    }
  }

  @Test func `a fault makes the connection failing, with its sentence and since when`()
    async throws
  {
    try await withInstance { instance in
      instance.remote.set(TestRemote.user("a"))
      let pool = try await instance.connect()
      try await instance.sync(pool)
      instance.remote.behavior.faults["config"] = .error(503, "backendError")
      _ = try await instance.sync(pool)
      let since = try await instance.connection(pool).causeAt
      _ = try await instance.sync(pool)
      let failing = try await instance.connection(pool)
      #expect(failing.state == .failing && failing.causeAt == since)
      #expect(failing.cause == .remote(.unreachable) && failing.detail != nil)
      #expect(try await instance.mirrored(pool).count == 1)
      instance.remote.behavior.faults = [:]
      #expect(try await instance.sync(pool) == nil)
      #expect(try await instance.connection(pool).state == .working)
    }
  }

  @Test(
    arguments: [
      .administrator, .walk, .remote(.unreachable), .remote(.clock(seconds: -3)),
      .remote(.permissionMissing("firebaseauth.users.get")), .remote(.beyondAccess(.policy)),
    ] as [ConnectionCause])
  func `a cause is stored with its values`(cause: ConnectionCause) throws {
    let stored = try #require(cause.stored)
    #expect(try JSONDecoder().decode(ConnectionCause.self, from: Data(stored.utf8)) == cause)
  }

  @Test func `a project that was disconnected is continued with the roles in it`() async throws {
    try await withInstance { instance in
      let connections = instance.identity.connections
      for name in ["a", "b"] { instance.remote.set(TestRemote.user(name, totp: true)) }
      instance.remote.behavior.tenants = ["east": TestRemote.tenant("east")]
      instance.remote.set(TestRemote.user("c"), in: "east")
      let pool = try await instance.connect()
      try await instance.sync(pool)
      for name in ["kim", "leo"] {
        _ = try await instance.administrator(name, .support, project: pool.project)
      }
      _ = try await connections.end(pool, by: Instance.program)
      #expect(try await instance.log(pool).first?.old(.users) == .number(3))
      await expect("projectDeleted") {
        _ = try await instance.identity.pools.existing(project: pool.project)
      }
      #expect(try await connections.due().isEmpty && connections.known == [])
      let sealed = try await instance.test.query(
        "SELECT count(*) FROM connection WHERE sealed_credential IS NOT NULL")
      #expect(sealed == ["0"])
      var new = try await instance.newConnection()
      while try await instance.identity.purge() {}
      let former = try await connections.formerRoles(of: new.remote)
      #expect(Set(former.map { $0.holder }) == ["kim", "leo"])
      new.localID = "remote-copy"
      let copy = new
      await expect("formerID") { try await connections.add(copy, by: Instance.program) }
      (new.localID, new.keepsRoles) = (pool.project.text, true)
      let again = new
      let added = try await connections.add(again, by: Instance.program).value
      #expect(added.project == pool.project)
      try await instance.sync(pool)
      #expect(try await instance.mirrored(pool).count == 2)
      let east = try await instance.identity.pools.existing(
        project: pool.project, tenant: ID("east"))
      #expect(try await instance.mirrored(east).count == 1)
      #expect(try await connections.formerRoles(of: new.remote).count == 2)
      // Another time, without them.
      _ = try await connections.end(pool, by: Instance.program)
      while try await instance.identity.purge() {}
      // Another project has the ID there.
      instance.remote.behavior.number = 1
      var other = try await instance.newConnection()
      other.keepsRoles = true
      let kept = other
      await expect("otherRoles") { try await connections.add(kept, by: Instance.program) }
      let without = try await instance.newConnection()
      _ = try await connections.add(without, by: Instance.program)
      #expect(try await connections.formerRoles(of: new.remote).isEmpty)
      let rows = try await instance.wholeLog()
      #expect(rows.count { $0.action == .administratorRevoke } == 2)
    }
  }

  @Test func `a review of a project that was disconnected isn't due, and hides no other`()
    async throws
  {
    try await withInstance(carriesMail: true) { instance in
      let reviews = instance.identity.reviews
      let pool = try await instance.connect()
      try await instance.sync(pool)
      let signers = [("iris", instance.acme.project), ("ivan", pool.project)]
      for (name, project) in signers {
        _ = try await reviews.signOff(
          project, seen: try await reviews.summary(of: project).seen.digest,
          dueOn: Day(instance.now).next,
          try await instance.agent(name, role: .auditor).request(nil))
      }
      _ = try await instance.identity.connections.end(pool, by: Instance.program)
      instance.clock.advance(2 * 86_400)
      let olga = try await instance.agent("olga", role: .owner)
      let overdue = try await reviews.overdue(visibleTo: olga.administrator, limit: 5)
      #expect(overdue.map(\.signOff.project) == [instance.acme.project])
      try await instance.identity.purgeExpired()
      #expect(try await instance.messages() == ["mail review-due iris@desk.example.com"])
    }
  }

  @Test func `a restore and a move pause connections`() async throws {
    try await withInstance { instance in
      let pool = try await instance.connect()
      try await instance.sync(pool)
      _ = try await instance.identity.endTheRestoredPast(
        file: nil, keepsSessions: false, former: nil, by: Author(actor: .commandLine))
      let paused = try await instance.connection(pool)
      #expect(paused.state == .paused && paused.cause == .restored)
      #expect(try await instance.identity.connections.due().isEmpty)
      let connections = instance.identity.connections
      await expect("paused") { try await connections.sync(pool, by: Instance.program) }
      _ = try await connections.resume(pool, by: Instance.program)
      let now = instance.now
      try await instance.database.write { try InstanceMove.record(at: now, $0) }
      #expect(try await instance.connection(pool).cause == .moved)
    }
  }

  @Test func `the credential is encrypted again with a new master key`() async throws {
    try await withInstance { instance in
      let pool = try await instance.connect()
      let before = try await instance.contents()["connection"]
      let other = try await instance.rotateMasterKey().identity
      #expect(try await instance.contents()["connection"] != before)
      let known = try await instance.connection(pool)
      let cause = try await other.connections.sync(known) { true }
      #expect(cause == nil)
    }
  }

  @Test func `connections are due by their policies and their users`() async throws {
    try await withInstance { instance in
      let connections = instance.identity.connections
      let pool = try await instance.connect()
      #expect(try await connections.due().map(\.project) == [pool.project])
      try await instance.sync(pool)
      #expect(try await connections.due().isEmpty)
      _ = try await connections.sync(pool, by: Instance.program)
      #expect(try await connections.due().count == 1)
      try await instance.sync(pool)
      instance.clock.advance(299)
      #expect(try await connections.due().isEmpty)
      instance.clock.advance(1)
      #expect(try await connections.due().count == 1)
    }
  }
}

/// The SHA-256 digest of a text, in hexadecimal digits.
private enum HexDigest {
  static func of(_ text: String) -> String {
    Hex.encode(HashFunction.sha256.digest(Array(text.utf8)))
  }
}
