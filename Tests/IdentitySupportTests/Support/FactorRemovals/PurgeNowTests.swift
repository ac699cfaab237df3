import Database
import Foundation
import Identity
import TestDatabases
import Testing

@testable import TestIdentity

/// Tests deleting removed factors permanently before their undo period ends.
struct PurgeNowTests {
  private func remove(
    _ instance: Instance, _ device: Device, _ agent: Agent
  ) async throws -> ID<RemovalHold> {
    let removal = try await instance.identity.factorRemovals.remove(
      instance.acme, device.account.id, nil, agent.request()
    ).value.removal
    return try #require(removal.hold?.id)
  }

  private func sealed(_ instance: Instance, _ table: SQL) async throws -> [[UInt8]] {
    try await instance.database.read { connection in
      try connection.all(
        "SELECT /* test */ sealed_secret FROM \(table) WHERE sealed_secret IS NOT NULL"
      ) { try $0.next() as [UInt8] }
    }
  }

  @Test func `the agent who removed a factor can purge it, leaving no trace in the file`()
    async throws
  {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.addSecondDevice(to: device)
      let dora = try await instance.agent()
      let secrets = try await sealed(instance, "factor")
      #expect(secrets.count == 1)
      let id = try await remove(instance, device, dora)
      let mails = try await instance.mails().count
      let session = try await instance.session(.alice)
      let count = try await instance.log().count
      let factorRemovals = instance.identity.factorRemovals
      let outcome = try await factorRemovals.purge(
        instance.acme, device.account.id, id, dora.request(.stolen, ticket: "T-2"))
      #expect(outcome.value.hold.factors.count == 2)
      #expect(try await sealed(instance, "removed_factor").isEmpty)
      // PostgreSQL keeps deleted rows in its files until it vacuums them.
      if let path = instance.test.path {
        try await instance.database.checkpoint()
        let file = try Data(contentsOf: URL(filePath: path))
        for secret in secrets { #expect(file.firstRange(of: secret) == nil) }
      }

      // One audit row is written, no email is sent, and no session ends.
      let log = try await instance.log()
      #expect(log.count == count + 1)
      let row = try #require(log.first)
      #expect(row.action == .factorPurgeNow && row.reason == "stolen" && row.ticket == "T-2")
      #expect(row.hadFactor(device.factor.text))
      #expect(row.new(.remover) == .text("Dora Support") && row.new(.undoUntil) != nil)
      #expect(try await instance.mails().count == mails)
      _ = try await instance.identity.sessions.check(session.session)

      let erik = try await instance.agent("erik")
      await expect("factorNotFound") {
        try await factorRemovals.undo(
          instance.acme, device.account.id, id, erik.request(.mistake))
      }
      await expect("factorNotFound") {
        try await factorRemovals.purge(instance.acme, device.account.id, id, dora.request(.stolen))
      }
      instance.clock.advance(72 * 3_600)
      try await instance.identity.purgeExpired()
      #expect(try await instance.log().map(\.action).tally[.factorPurge] == nil)
    }
  }

  @Test func `purging one removal leaves the user's other removal in place`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      try await instance.addSecondDevice(to: device)
      let dora = try await instance.agent()
      let factorRemovals = instance.identity.factorRemovals
      let first = try await factorRemovals.remove(
        instance.acme, device.account.id, device.factor, dora.request()
      ).value.removal
      let second = try await remove(instance, device, dora)
      _ = try await factorRemovals.purge(
        instance.acme, device.account.id, try #require(first.hold?.id), dora.request(.stolen))
      #expect(try await sealed(instance, "removed_factor").isEmpty)
      let erik = try await instance.agent("erik")
      let restored = try await factorRemovals.undo(
        instance.acme, device.account.id, second, erik.request(.found)
      ).value
      #expect(restored.hold.factors.map(\.id) != [device.factor])
    }
  }

  @Test func `purging requires authorization, in the account's own pool`() async throws {
    try await withInstance { instance in
      let device = try await instance.enrolled(.alice)
      let dev = try await instance.agentWithDevice()
      let id = try await remove(instance, device, dev)
      let factorRemovals = instance.identity.factorRemovals
      let account = device.account.id
      instance.clock.advance(900)
      await expect("reasonRequired+codeRequired") {
        try await factorRemovals.purge(instance.acme, account, id, dev.request(nil))
      }
      let auditor = try await instance.agent("audrey", role: .auditor)
      await expect("notAllowed") {
        try await factorRemovals.purge(instance.acme, account, id, auditor.request(.stolen))
      }
      await expect("accountNotFound") {
        try await factorRemovals.purge(instance.east, account, id, dev.request(.stolen))
      }
      // Until an owner has reviewed the change that the user reported, it may have to be undone.
      try await instance.reportChange(of: account)
      await expect("changesLocked") {
        try await factorRemovals.purge(instance.acme, account, id, dev.request(nil))
      }
      #expect(try await sealed(instance, "removed_factor").count == 1)
    }
  }
}
